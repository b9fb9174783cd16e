"""From schedules to hardware: pipelines, memories, locks."""
