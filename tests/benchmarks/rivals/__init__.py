"""What people would use instead of `restore` and the program does not have itself: each fills in what is
missing, `fill(V, observed, layout)`.
"""
