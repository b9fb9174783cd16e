"""The profiling unit: what it records, in hardware and when read."""
