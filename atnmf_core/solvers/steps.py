"""How a least-squares step is taken: coordinate descent on one factor, the other being held.

With A (m x K) held, the best B >= 0 for ||sqrt(D) * (T - A B)||^2 solves n small problems, one per column of B, with Gram
matrix A' diag(d) A and right side A' (d * t). Where the weights D are all one the Gram matrix is shared; otherwise all of them
come out of one matrix product, (a_i * a_j)' D over the pairs i <= j. Sweeps of coordinate descent on all columns at once then
cost little beside it. No step raises the weighted squared distance.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["improve"]

Array = npt.NDArray[np.floating]

GRAM_BYTES = 1 << 25
"""Room for the Gram matrices of one block of columns."""


def improve(A: Array, B: Array, T: Array, D: Array | None, rounds: int) -> None:
    """Lower ||sqrt(D) * (T - A B)||^2 over B >= 0, in place, by the given number of rounds of coordinate descent.

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
    diagonal = np.maximum(gram.diagonal(), np.finfo(B.dtype).tiny)
    for _ in range(rounds):
        for k in np.flatnonzero(gram.diagonal()):
            step = right[k] - gram[k] @ B
            step /= diagonal[k]
            step += B[k]
            np.maximum(step, 0, out=B[k])


def _descend_masked(grams: Array, right: Array, B: Array, rounds: int) -> None:
    """`grams` is K x K x n. Where a_k has no weight in a column, its coefficient there is left as it is."""
    K = B.shape[0]
    safe = [np.where(grams[k, k] > 0, grams[k, k], np.inf) for k in range(K)]
    for _ in range(rounds):
        for k in range(K):
            step = np.einsum("kn,kn->n", grams[k], B)
            np.subtract(right[k], step, out=step)
            step /= safe[k]
            step += B[k]
            np.maximum(step, 0, out=B[k])
