"""Exact nonnegative minimisers of quadratics, for many small problems at once.

Which coefficients are zero at the minimum is guessed for all problems together, the others are solved for,
and the guess is corrected where a coefficient came out negative or a zero would do better above zero (block
principal pivoting). That settles most problems in a few rounds, and may go in circles in others: these are
left to SciPy's `nnls`, which takes one at a time.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from ..problem import Array, Mask

DAMPING = 1e-11
"""Added to the diagonal: makes a singular matrix regular, and is too small to matter in a regular one."""
ROUNDING = 1e-14
"""No less is added in relation to the diagonal, and no eigenvalue is smaller in relation to the largest."""
SLACK = 1e-13
"""A gradient that is negative by less than this share of the right side counts as rounding."""
ROUNDS = 8
"""How often the guess is corrected. By then the problems that are left take less time one by one (measured
with 6 to 48 parts).
"""
MAX_STEPS_PER_PART = 20
"""For SciPy, which needs a few at most."""


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
    np.einsum("nkk->nk", G)[...] = 1 + np.maximum(DAMPING * inverse**2, ROUNDING)
    b = (right + DAMPING * near) * inverse
    x: Array = np.maximum(_pivot(G, b, near > 0), 0) * inverse
    return x


def _pivot(G: Array, b: Array, free: Mask) -> Array:
    """The minimisers, which may be below zero by rounding; `free` is the first guess."""
    free |= ~free.any(axis=1, keepdims=True)
    slack = SLACK * np.abs(b).max(axis=1, keepdims=True)
    x = np.zeros_like(b)
    left = np.arange(len(b))
    for _ in range(ROUNDS):
        x[left], gradient = _solve(G[left], b[left], free[left])
        wrong = np.where(free[left], x[left] < 0, gradient < -slack[left])
        free[left] ^= wrong
        left = left[wrong.any(axis=1)]
        if left.size == 0:
            return x
    from scipy.optimize import nnls  # it takes long to import

    # G = A'A and b = A'y with A and y from the eigenvalues, which rounding may make negative.
    values, vectors = np.linalg.eigh(G[left])
    sizes = np.sqrt(np.maximum(values, ROUNDING * values[:, -1:]))
    A = sizes[:, :, None] * np.swapaxes(vectors, 1, 2)
    y = np.einsum("nik,ni->nk", vectors, b[left]) / sizes
    for place, *problem in zip(left, A, y, strict=True):
        # If that goes in circles too, the last guess is near the minimum.
        with suppress(RuntimeError):
            x[place] = nnls(*problem, maxiter=MAX_STEPS_PER_PART * b.shape[1])[0]
    return x


def _solve(G: Array, b: Array, free: Mask) -> tuple[Array, Array]:
    """x with zeros where it is not free, and the gradient there."""
    among = np.where(free[:, :, None] & free[:, None, :], G, 0)
    np.einsum("nkk->nk", among)[~free] = 1
    x = np.linalg.solve(among, np.where(free, b, 0)[..., None])[..., 0]
    return x, np.einsum("nij,nj->ni", G, x) - b
