"""What the fast solver fits next: the target and its weights.

Both methods and both treatments of hidden entries are, at a point (W0, H0), majorised by one weighted
least-squares problem

    ||sqrt(D) * (T - W H)||^2,    T the `descent_target` at W0 H0,   D = 1 where the loss looks, 0 elsewhere

(T = V without an adversary; hidden entries fitted as zeros are observed zeros, so there D is 1 everywhere).
Where D is not needed as such, hidden entries can instead be filled with W0 H0, which majorises once more
and leaves equal weights. Where almost everything is hidden, `ObservedSurrogate` holds the observed entries
alone. `steps` takes the step on such a problem.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..adversary import curvature, descent_target, lower_bend
from ..problem import Array, Problem
from .steps import Matrix

BLOCK_BYTES, MIN_ROWS = 1 << 18, 8
"""F x N arrays are processed in blocks of rows of about this size, so that a few of them fit in a core's
cache.
"""


class Surrogate(Protocol):
    """The least-squares problem that majorises the loss at the point of the last `refresh`.

    Attributes
    ----------
    T : F x N target, multiplied by the weights D.
    D : F x N weights, or None where all are one.
    """

    T: Matrix
    D: Matrix | None

    def refresh(self, W: Array, H: Array) -> tuple[float, float]:
        """Move the target to (W, H), and return the squared error over observed entries and the loss
        there.
        """
        ...


class DenseSurrogate:
    """The surrogate with T, and where needed D, as whole arrays."""

    def __init__(self, problem: Problem, *, filled: bool) -> None:
        self._problem = problem
        self._V = problem.V
        self._observed = None if problem.observed is None else problem.observed.astype(problem.V.dtype)
        masked = problem.mask is not None
        self.D: Matrix | None = self._observed if masked and not filled else None
        self._fills = masked and filled
        self._moves = problem.adversarial or self._fills
        self._target: Array = problem.V.copy() if self._moves else problem.V
        self.T: Matrix = self._target
        F, N = problem.V.shape
        tall = min(F, max(MIN_ROWS, BLOCK_BYTES // (N * problem.V.itemsize)))
        self._blocks = [slice(f, min(f + tall, F)) for f in range(0, F, tall)]
        self._product, self._scratch = (np.empty((tall, N), problem.V.dtype) for _ in range(2))

    def refresh(self, W: Array, H: Array) -> tuple[float, float]:
        squared_error = loss = 0.0
        for rows in self._blocks:
            error, value = self._refresh_block(W[rows], H, rows)
            squared_error += error
            loss += value
        return squared_error, loss

    def _refresh_block(self, W: Array, H: Array, rows: slice) -> tuple[float, float]:
        P, E = self._product[: len(W)], self._scratch[: len(W)]
        np.matmul(W, H, out=P)
        np.subtract(P, self._V[rows], out=E)
        hidden_error = 0.0
        if self._observed is not None:
            everywhere = _inner(E, E) if self._problem.missing == "zero" else 0.0
            E *= self._observed[rows]
            hidden_error = max(everywhere - _inner(E, E), 0.0) if everywhere else 0.0
        squared_error = _inner(E, E)
        if self._fills:
            np.subtract(P, E, out=self._target[rows])
        if not self._problem.adversarial:
            return squared_error, squared_error + hidden_error
        return squared_error, self._move_target(P, E, rows) + hidden_error

    def _move_target(self, P: Array, E: Array, rows: slice) -> float:
        """Write T for the prediction P, whose error on observed entries is E, and return the observed loss.
        Both are overwritten.
        """
        lam, V, T = self._problem.lam, self._V[rows], self._target[rows]
        excess = descent_target(V, P, lam, out=P, leash=self._problem.leash)
        excess -= V
        if self._problem.mask is not None and self._observed is not None:
            excess *= self._observed[rows]
        if self._fills:
            T += excess
        else:
            np.add(V, excess, out=T)
        if self._problem.missing == "zero" and self._observed is not None:
            excess *= self._observed[rows]
        return _loss(V, E, excess, lam, self._problem.leash)


class ObservedSurrogate:
    """The surrogate of a problem with ignored hidden entries, T and D sparse."""

    def __init__(self, problem: Problem) -> None:
        assert problem.mask is not None
        self._lam, self._leash, self._adversarial = problem.lam, problem.leash, problem.adversarial
        columns, rows = np.nonzero(problem.mask.T)
        self._V = problem.V[rows, columns]
        size = max(1, BLOCK_BYTES // (problem.K * problem.V.itemsize))
        self._rows, self._columns = rows, columns
        self._blocks = [slice(start, start + size) for start in range(0, rows.size, size)]
        starts = np.concatenate(([0], np.cumsum(problem.mask.sum(axis=0))))
        # Not at the top: whatever needs no sparse matrix, such as a page of tables, starts without SciPy.
        from scipy.sparse import csc_array

        self.D: Matrix = csc_array((np.ones_like(self._V), rows, starts), shape=problem.V.shape)
        self.T: Matrix = csc_array((self._V.copy(), rows, starts), shape=problem.V.shape)

    def refresh(self, W: Array, H: Array) -> tuple[float, float]:
        by_row, by_column = np.ascontiguousarray(W), np.ascontiguousarray(H.T)
        squared_error = loss = 0.0
        for block in self._blocks:
            V = self._V[block]
            P = np.einsum("ik,ik->i", by_row[self._rows[block]], by_column[self._columns[block]])
            E = P - V
            error = _inner(E, E)
            squared_error += error
            if self._adversarial:
                target = descent_target(V, P, self._lam, out=P, leash=self._leash)
                self.T.data[block] = target
                error = _loss(V, E, target - V, self._lam, self._leash)
            loss += error
        return squared_error, loss


def _loss(V: Array, E: Array, excess: Array, lam: float, leash: float | None) -> float:
    """The value of `descent_target`'s surrogate where it touches the loss, for t = v + excess and E = p - v,
    which is overwritten; computed without cancellation.
    """
    E -= excess
    near = curvature(lam) * _inner(E, E)
    if leash is None or lower_bend(lam, leash) == 0:
        return near + lam * (_inner(excess, excess) + 2 * _inner(excess, V))
    raised = np.maximum(excess, 0, out=E)
    walls = _inner(raised, V)
    lowered = np.subtract(raised, excess, out=E)
    walls += leash * _inner(lowered, V)
    return near + lam * (_inner(excess, excess) + 2 * walls)


def _inner(A: Array, B: Array) -> float:
    return float(np.vdot(A, B))
