"""Algorithm 1 of the paper, as its authors released it: multiplicative steps against U = V + R*.

Five warm-up steps on V; then, per outer iteration, R* in closed form and multiplicative steps on W and H,
in this order, until ||(V_hat_next - V_hat) / V_hat||_F < tol_inner or max_inner steps; the whole ends when
the same norm over an outer iteration falls below tol_outer, or after max_outer of them. Standard NMF takes
the same steps on V throughout.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..adversary import adversarial_loss, effective_data
from ..problem import Problem
from .interface import Limits, Outcome, Recorder

__all__ = ["solve"]

Array = npt.NDArray[np.floating]

WARM_UP = 5
EPS = 2.2e-16
"""What the released code adds to its denominators."""
CHECK_EVERY = 10
"""The inner stopping norm costs as much as several steps: after the first few it is taken only so often."""
FLOOR = {np.dtype(np.float32): 1e-30, np.dtype(np.float64): 1e-200}
"""Factors shrink no further: below lie denormal numbers, which make every product many times slower. Nor do
they
grow beyond its inverse, where a strong attack at lam near 1 would send them."""


def solve(problem: Problem, W: Array, H: Array, limits: Limits, recorder: Recorder) -> Outcome:
    """The paper's alternation; `n_iter` counts inner iterations, the warm-up left out."""
    with np.errstate(over="ignore"):
        return _alternate(problem, W, H, limits, recorder)


def _alternate(problem: Problem, W: Array, H: Array, limits: Limits, recorder: Recorder) -> Outcome:
    update = _Multiplicative(problem, W, H)
    for _ in range(WARM_UP):
        update.step(problem.V)
    V_hat = update.prediction()
    recorder.record(*_measure(problem, V_hat), W, H, share=0.0)
    converged, n_iter, outer = False, 0, 0
    U = problem.V.copy() if problem.adversarial else problem.V
    while not (converged or recorder.stopped or outer == limits.max_outer):
        outer += 1
        if problem.adversarial:
            effective_data(problem.V, V_hat, problem.lam, out=U)
        n_iter += _inner_loop(update, U, limits)
        before, V_hat = V_hat, update.prediction()
        converged = _relative_change(before, V_hat) < limits.tol_outer
        recorder.record(*_measure(problem, V_hat), W, H, share=outer / limits.max_outer)
    return Outcome(W, H, converged, n_iter)


class _Multiplicative:
    """Multiplicative updates of W and H, in place."""

    def __init__(self, problem: Problem, W: Array, H: Array) -> None:
        self._W, self._H = W, H
        self._floor = FLOOR[W.dtype]
        self._eps = W.dtype.type(EPS)
        self._mask = None if problem.mask is None else problem.mask.astype(W.dtype)
        self._up_W, self._down_W = np.empty_like(W), np.empty_like(W)
        self._up_H, self._down_H = np.empty_like(H), np.empty_like(H)

    def step(self, U: Array) -> None:
        """W <- W * (U H') / (W H H'), then H <- H * (W' U) / (W' W H); hidden entries of U are zero."""
        W, H = self._W, self._H
        np.matmul(U, H.T, out=self._up_W)
        if self._mask is None:
            np.matmul(W, H @ H.T, out=self._down_W)
        else:
            np.matmul(self._observed_prediction(self._mask), H.T, out=self._down_W)
        self._multiply(W, self._up_W, self._down_W)
        np.matmul(W.T, U, out=self._up_H)
        if self._mask is None:
            np.matmul(W.T @ W, H, out=self._down_H)
        else:
            np.matmul(W.T, self._observed_prediction(self._mask), out=self._down_H)
        self._multiply(H, self._up_H, self._down_H)

    def prediction(self) -> Array:
        return self._W @ self._H

    def _observed_prediction(self, mask: Array) -> Array:
        product = self.prediction()
        product *= mask
        return product

    def _multiply(self, factor: Array, up: Array, down: Array) -> None:
        down += self._eps
        up /= down
        factor *= up
        np.clip(factor, self._floor, 1 / self._floor, out=factor)


def _inner_loop(update: _Multiplicative, U: Array, limits: Limits) -> int:
    """Steps towards U until they move the prediction less than tol_inner; how many were taken."""
    for taken in range(1, limits.max_inner + 1):
        if taken > CHECK_EVERY and taken % CHECK_EVERY:
            update.step(U)
            continue
        before = update.prediction()
        update.step(U)
        if _relative_change(before, update.prediction()) < limits.tol_inner:
            break
    return taken


def _relative_change(before: Array, after: Array) -> float:
    """||(after - before) / before||_F over all entries, hidden ones too."""
    change = np.subtract(after, before)
    change /= np.maximum(before, np.finfo(before.dtype).tiny)
    return float(np.sqrt(np.vdot(change, change)))


def _measure(problem: Problem, V_hat: Array) -> tuple[float, float]:
    """The squared error over the observed entries, and the loss."""
    squared_error = adversarial_loss(problem.V, V_hat, np.inf, problem.observed)
    return squared_error, adversarial_loss(problem.V, V_hat, problem.lam, problem.mask)
