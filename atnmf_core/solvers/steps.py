"""How a least-squares step is taken: coordinate descent on one factor, the other being held.

With A (m x K) held, the best B >= 0 for ||sqrt(D) * (T - A B)||^2 solves n small problems, one per column
of B, with Gram matrix A' diag(d) A and right side A' (d * t). Where the weights D are all one the Gram
matrix is shared; otherwise all of them come out of one matrix product, (a_i * a_j)' D over the pairs i <=
j. Sweeps of coordinate descent on all columns at once then cost little beside it. No step raises the
weighted squared distance.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["improve"]

Array = npt.NDArray[np.floating]

GRAM_BYTES = 1 << 25
"""Room for the Gram matrices of one block of columns."""


def improve(A: Array, B: Array, T: Array, D: Array | None, rounds: int) -> None:
    """Lower ||sqrt(D) * (T - A B)||^2 over B >= 0, in place, by the given number of rounds of coordinate
    descent.

    A is m x K, B is K x n, T (already multiplied by D) and D are m x n.
    """
    if D is None:
        _descend_shared(A.T @ A, A.T @ T, B, rounds)
        return
    K = A.shape[1]
    i, j = np.triu_indices(K)
    full = np.empty((K, K), dtype=np.intp)
    full[i, j] = full[j, i] = np.arange(i.size)
    width = max(1, GRAM_BYTES // (K * K * A.itemsize))
    pairs = (A[:, i] * A[:, j]).T
    for start in range(0, B.shape[1], width):
        columns = slice(start, start + width)
        grams = pairs @ D[:, columns]
        _descend_masked(grams[full], A.T @ T[:, columns], B[:, columns], rounds)


def _descend_shared(gram: Array, right: Array, B: Array, rounds: int) -> None:
    """One Gram matrix, K x K, for all columns."""
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
    """One Gram matrix per column, K x K x n. Where a_k has no weight in a column, b_k goes to zero there."""
    diagonal = np.einsum("kkn->kn", grams)
    inverse = np.zeros_like(B)
    np.divide(1, diagonal, out=inverse, where=diagonal > 0)
    diagonal[...] = 0
    row = np.empty_like(B[0])
    for _ in range(rounds):
        for k, gram in enumerate(grams):
            np.einsum("kn,kn->n", gram, B, out=row)
            np.subtract(right[k], row, out=row)
            row *= inverse[k]
            np.maximum(row, 0, out=B[k])
