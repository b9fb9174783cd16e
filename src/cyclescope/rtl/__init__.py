"""Hardware by small means: a netlist layer that prints Verilog, and arithmetic units."""
