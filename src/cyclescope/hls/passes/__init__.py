"""From region to region, and what is known of one."""
