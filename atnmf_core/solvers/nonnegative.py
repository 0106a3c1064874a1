"""Exact nonnegative minimisers of quadratics, for many small problems at once.

Which coefficients are zero at the minimum is guessed for all problems together, the others are solved for,
and the guess is corrected where a coefficient came out negative or a zero would do better above zero: block
principal pivoting, with the rule of Kim and Park ("Fast nonnegative matrix factorization: an active-set-like
method and comparisons", SIAM J. Sci. Comput. 33, 2011) that prevents cycling. SciPy's `nnls` takes one
problem at a time.
"""

from __future__ import annotations

import numpy as np

from ..problem import Array, Mask

DAMPING = 1e-11
"""Added to the diagonal: makes a singular matrix regular, and is too small to matter in a regular one."""
SLACK = 1e-13
"""A gradient that is negative by less than this share of the right side counts as rounding."""
PATIENCE = 3
"""How many corrections of all coefficients at once may fail to reduce the number of wrong ones."""
ROUNDS_PER_PART = 20
"""Corrections, times K, after which a problem is given up; usually a handful suffice."""


def nonnegative_minimum(grams: Array, right: Array, near: Array, allowed: Mask | None = None) -> Array:
    """The minimisers of x'Gx/2 - b'x over x >= 0 for n problems: G is n x K x K, b and the result n x K.

    Coefficients that are not allowed (bool n x K), or whose diagonal entry of G is zero, are zero. Where G is
    singular, a minimiser close to `near` is found. The positive entries of `near` are also the first guess at
    those of x.
    """
    scale = np.sqrt(np.einsum("nkk->nk", grams))
    may = scale > 0 if allowed is None else allowed & (scale > 0)
    inverse = np.divide(1, scale, out=np.zeros_like(scale), where=may)
    G = grams * inverse[:, :, None] * inverse[:, None, :]
    np.einsum("nkk->nk", G)[...] = 1 + DAMPING * inverse**2
    b = (right + DAMPING * near) * inverse
    x: Array = np.maximum(_pivot(G, b, near > 0), 0) * inverse
    return x


def _pivot(G: Array, b: Array, free: Mask) -> Array:
    """The minimisers, which may be below zero by rounding; `free` is the first guess."""
    n, K = b.shape
    free |= ~free.any(axis=1, keepdims=True)
    slack = SLACK * np.abs(b).max(axis=1, keepdims=True)
    x = np.zeros_like(b)
    left, fewest, patience = np.arange(n), np.full(n, K + 1), np.full(n, PATIENCE)
    for _ in range(ROUNDS_PER_PART * K):
        x[left], gradient = _solve(G[left], b[left], free[left])
        wrong = np.where(free[left], x[left] < 0, gradient < -slack[left])
        count = wrong.sum(axis=1)
        fewer = count < fewest[left]
        fewest[left] = np.minimum(fewest[left], count)
        patience[left] = np.where(fewer, PATIENCE, patience[left] - 1)
        one_by_one = patience[left] < 0
        wrong[one_by_one] = _last_only(wrong[one_by_one])
        free[left] ^= wrong
        left = left[count > 0]
        if left.size == 0:
            break
    return x


def _solve(G: Array, b: Array, free: Mask) -> tuple[Array, Array]:
    """x with zeros where it is not free, and the gradient there."""
    among = np.where(free[:, :, None] & free[:, None, :], G, 0)
    np.einsum("nkk->nk", among)[~free] = 1
    x = np.linalg.solve(among, np.where(free, b, 0)[..., None])[..., 0]
    return x, np.einsum("nij,nj->ni", G, x) - b


def _last_only(wrong: Mask) -> Mask:
    columns = np.arange(wrong.shape[1])
    last = np.where(wrong, columns, -1).max(axis=1, keepdims=True)
    only: Mask = columns == last
    return only
