"""What people would use instead of `restore`. Each file has `NAME`, and either

- `robust(V, K, seed)`: a factorization that holds out against wrong entries nobody marked, or
- `fill(V, observed, layout)`: V with what is missing filled in.
"""
