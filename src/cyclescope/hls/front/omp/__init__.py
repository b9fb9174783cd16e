"""OpenMP's directives and what they make of statements and loops."""
