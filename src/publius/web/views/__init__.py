"""One file for each view of the explorer; they call the library and nothing else."""
