"""Small examples of what the solvers do, slow enough to be followed by eye and by hand."""
