"""A least-squares step: coordinate descent on one factor while the other is fixed.

With A (m x K) fixed, the best B >= 0 for ||sqrt(D) * (T - A B)||^2 solves n small problems, one per column of
B, with Gram matrix A' diag(d) A and right side A' (d * t). Where the weights D are all one the Gram matrix is
shared; otherwise all of them come out of one matrix product, (a_i * a_j)' D over the pairs i <= j. Sweeps of
coordinate descent on all columns at once then cost little beside it. No step raises the weighted squared
distance.
"""

from contextlib import suppress
from typing import Any, TypeAlias

import numpy as np

from ..model.problem import Array, Mask

# Exact nonnegative minimisers of quadratics, for many small problems at once.
#
# Which coefficients are zero at the minimum is guessed for all problems together, the others are solved
# for, and the guess is corrected where a coefficient came out negative or a zero would do better above zero
# (block principal pivoting). That settles most problems in a few rounds, and may go in circles in others:
# these are left to SciPy's `nnls`, which takes one at a time.

DAMPING = 1e-11
"""Added to the diagonal: makes a singular matrix regular, and is too small to matter in a regular one."""
ROUNDING = 1e-14
"""No less is added in relation to the diagonal, and no eigenvalue is smaller in relation to the largest."""
SLACK = 1e-13  # A gradient that is negative by less than this share of the right side counts as rounding
MAX_CORRECTIONS = 8
"""How often the guess is corrected. By then the problems that are left take less time one by one (measured
with 6 to 48 parts).
"""
MAX_STEPS_PER_PART = 20  # For SciPy, which needs a few at most


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
    for _ in range(MAX_CORRECTIONS):
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


Matrix: TypeAlias = Any  # An F x N array, or a SciPy sparse array (csc or csr) where most of it is zero

GRAM_BYTES = 1 << 25
"""Memory for the Gram matrices of one block of columns, and for the products from which they are made."""


def improve(A: Array, B: Array, T: Matrix, D: Matrix | None, rounds: int) -> None:
    """Lower ||sqrt(D) * (T - A B)||^2 over B >= 0, in place, by rounds of coordinate descent.

    A is m x K, B is K x n, T (already multiplied by D) and D are m x n; both of them may be sparse.
    """
    if D is None:
        descend(A.T @ A, A.T @ T, B, rounds)
        return
    room = _room(A)
    for start in range(0, B.shape[1], room):
        columns = slice(start, start + room)
        grams = gram_matrices(A, D[:, columns])
        descend_each(grams, A.T @ T[:, columns], B[:, columns], rounds)


def gram_matrices(A: Array, D: Matrix) -> Array:
    """The matrices A' diag(d) A for all columns d of D, as K x K x n."""
    K = A.shape[1]
    room = _room(A)
    i, j = np.triu_indices(K)
    pair = np.empty((K, K), dtype=np.intp)
    pair[i, j] = pair[j, i] = np.arange(i.size)
    products: Array = np.zeros((i.size, D.shape[1]), A.dtype)
    for start in range(0, len(A), room):
        rows = slice(start, start + room)
        products += (A[rows][:, i] * A[rows][:, j]).T @ D[rows]
    return products[pair]


def _room(A: Array) -> int:
    """How many matrices, or rows of products of the columns of A, are in memory at a time."""
    return int(max(1, GRAM_BYTES // (A.shape[1] ** 2 * A.itemsize)))


def descend(gram: Array, right: Array, B: Array, rounds: int) -> None:
    """Lower tr(B' gram B) - 2 tr(B' right) over B >= 0, in place: one Gram matrix, K x K, for all columns."""
    alive = np.flatnonzero(gram.diagonal() > 0)
    weight = gram.diagonal()[alive, None].copy()
    coupling = gram[alive] / weight
    coupling[np.arange(alive.size), alive] = 0
    best = right[alive] / weight
    row = np.empty_like(best[0]) if alive.size else best
    for _ in range(rounds):
        for k, couple, free in zip(alive, coupling, best, strict=True):
            np.matmul(couple, B, out=row)
            np.subtract(free, row, out=row)
            np.maximum(row, 0, out=B[k])


def descend_each(grams: Array, right: Array, B: Array, rounds: int) -> None:
    """One Gram matrix per column, K x K x n. Where a_k has next to no weight, b_k goes to zero."""
    diagonal = np.einsum("kkn->kn", grams)
    inverse = np.zeros_like(B)
    np.divide(1, diagonal, out=inverse, where=diagonal > 1 / np.finfo(B.dtype).max)
    diagonal[...] = 0
    row = np.empty_like(B[0])
    for _ in range(rounds):
        for k, gram in enumerate(grams):
            np.einsum("kn,kn->n", gram, B, out=row)
            np.subtract(right[k], row, out=row)
            row *= inverse[k]
            np.maximum(row, 0, out=B[k])
