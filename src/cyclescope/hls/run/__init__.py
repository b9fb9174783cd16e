"""A program and its hardware, run: host, testbench, judges, profile."""
