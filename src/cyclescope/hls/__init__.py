"""Source: C with OpenMP, compiled to multithreaded hardware (in the manner of Nymble-MT)."""
