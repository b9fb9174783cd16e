"""Which operation happens in which stage."""
