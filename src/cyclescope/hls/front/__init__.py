"""C and OpenMP: from the text to a region."""
