"""A least-squares step: coordinate descent on one factor while the other is fixed.

With A (m x K) fixed, the best B >= 0 for ||sqrt(D) * (T - A B)||^2 solves n small problems, one per column of
B, with Gram matrix A' diag(d) A and right side A' (d * t). Where the weights D are all one the Gram matrix is
shared; otherwise all of them come out of one matrix product, (a_i * a_j)' D over the pairs i <= j. Sweeps of
coordinate descent on all columns at once then cost little beside it. No step raises the weighted squared
distance.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from ..problem import Array

Matrix: TypeAlias = Any
"""An F x N array, or a SciPy sparse array (csc or csr) where most of it is zero."""

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
        _descend_masked(grams, A.T @ T[:, columns], B[:, columns], rounds)


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


def _descend_masked(grams: Array, right: Array, B: Array, rounds: int) -> None:
    """One Gram matrix per column, K x K x n. Where a_k has no weight in a column, or too little to divide by,
    b_k goes to zero there.
    """
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
