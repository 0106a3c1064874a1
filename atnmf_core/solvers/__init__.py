"""The algorithms, one file each, all with the signature of `SolverFunction`."""
