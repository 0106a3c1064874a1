"""What the fast solver fits at the moment: the target and its weights.

Both methods and both treatments of hidden entries are, at a point (W0, H0), majorised by one weighted
least-squares problem

    ||sqrt(D) * (T - W H)||^2,        T = max(V, W0 H0 / lam),     D = 1 where the loss looks, 0 elsewhere,

(T = V without an adversary; hidden entries fitted as zeros are observed zeros, so there D is 1 everywhere).
Where D is not needed as such, hidden entries can instead be filled with W0 H0, which majorises once more
and leaves equal weights. How a step on such a problem is taken is the business of `steps`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..adversary import curvature, descent_target
from ..problem import Problem

__all__ = ["Surrogate"]

Array = npt.NDArray[np.floating]

BLOCK_BYTES = 1 << 19
"""Size of the pieces in which F x N arrays are passed over: a few of them fit a core's cache together."""


class Surrogate:
    """The least-squares problem that majorises the loss at the point of the last `refresh`.

    Attributes
    ----------
    T : F x N target, multiplied by the weights D.
    D : F x N weights, or None where all are one.
    """

    def __init__(self, problem: Problem, *, filled: bool) -> None:
        self._problem = problem
        self._V = problem.V
        self._observed = None if problem.observed is None else problem.observed.astype(problem.V.dtype)
        masked = problem.mask is not None
        self.D = self._observed if masked and not filled else None
        self._fills = masked and filled
        self._moves = problem.adversarial or self._fills
        self.T: Array = problem.V.copy() if self._moves else problem.V
        F, N = problem.V.shape
        width = min(N, max(1, BLOCK_BYTES // (F * problem.V.itemsize)))
        self._blocks = [slice(n, min(n + width, N)) for n in range(0, N, width)]
        self._product, self._scratch = (np.empty((F, width), problem.V.dtype) for _ in range(2))

    def refresh(self, W: Array, H: Array) -> tuple[float, float]:
        """Move the target to (W, H); the squared error over observed entries and the loss there."""
        squared_error = loss = 0.0
        for columns in self._blocks:
            error, value = self._refresh_block(W, H, columns)
            squared_error += error
            loss += value
        return squared_error, loss

    def _refresh_block(self, W: Array, H: Array, columns: slice) -> tuple[float, float]:
        V, wide = self._V[:, columns], H[:, columns].shape[1]
        P, E = self._product[:, :wide], self._scratch[:, :wide]
        np.matmul(W, H[:, columns], out=P)
        np.subtract(P, V, out=E)
        hidden_error = 0.0
        if self._observed is not None:
            total = _square(E) if self._problem.missing == "zero" else None
            E *= self._observed[:, columns]
            hidden_error = 0.0 if total is None else max(total - _square(E), 0.0)
        squared_error = _square(E)
        if self._fills:
            np.subtract(P, E, out=self.T[:, columns])
        if not self._problem.adversarial:
            return squared_error, squared_error + hidden_error
        return squared_error, self._move_target(P, E, columns) + hidden_error

    def _move_target(self, P: Array, E: Array, columns: slice) -> float:
        """Write T for the prediction P with observed error E = P - V, both overwritten; the loss over
        observed entries.
        """
        lam, V, T = self._problem.lam, self._V[:, columns], self.T[:, columns]
        excess = descent_target(V, P, lam, out=P)
        excess -= V
        if self._problem.mask is not None and self._observed is not None:
            excess *= self._observed[:, columns]
        if self._fills:
            T += excess
        else:
            np.add(V, excess, out=T)
        if self._problem.missing == "zero" and self._observed is not None:
            excess *= self._observed[:, columns]
        # c (p - t)^2 + lam (t^2 - v^2) with t = v + excess, so arranged that nothing cancels.
        E -= excess
        return curvature(lam) * _square(E) + lam * (_square(excess) + 2 * _inner(excess, V))


def _inner(A: Array, B: Array) -> float:
    return float(np.einsum("ij,ij->", A, B))


def _square(A: Array) -> float:
    return _inner(A, A)
