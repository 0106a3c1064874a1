"""Algorithm 1 as its authors released it, written out plainly in the precision of its start, for comparison.

Every norm is evaluated at every step, nothing is done in place, nothing is scaled or kept from underflow.
"""

import numpy as np

EPS = 2.2e-16


def step(U, W, H, mask):
    """One multiplicative step on W, then one on H; `mask` only where hidden entries are left out."""
    if mask is None:
        W = W * (U @ H.T) / (W @ (H @ H.T) + EPS)
        return W, H * (W.T @ U) / ((W.T @ W) @ H + EPS)
    W = W * (U @ H.T) / ((mask * (W @ H)) @ H.T + EPS)
    return W, H * (W.T @ U) / (W.T @ (mask * (W @ H)) + EPS)


def change(before, after):
    return np.sqrt((((after - before) / before) ** 2).sum())


def algorithm_1(V, observed, W, H, lam, missing, limits):
    """W, H, steps per outer iteration, and the squared error after the warm-up and each outer iteration."""
    mask = observed if missing == "ignore" else None
    V = np.where(observed, V, 0)
    for _ in range(5):
        W, H = step(V, W, H, mask)
    squared_error = lambda: (((V - W @ H) * observed) ** 2).sum()  # noqa: E731
    errors, inner_counts = [squared_error()], []
    for _ in range(limits["max_outer"]):
        start = W @ H
        U = V
        if lam is not None:
            R = np.maximum((V - start) / (lam - 1), -V) * observed
            U = V + R
        inner = 0
        while inner < limits["max_inner"]:
            inner += 1
            before = W @ H
            W, H = step(U, W, H, mask)
            if change(before, W @ H) < limits["tol_inner"]:
                break
        inner_counts.append(inner)
        errors.append(squared_error())
        if change(start, W @ H) < limits["tol_outer"]:
            break
    return W, H, inner_counts, np.array(errors)
