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


def solve(problem: Problem, W: Array, H: Array, limits: Limits, recorder: Recorder) -> Outcome:
    """The paper's alternation; `n_iter` counts inner iterations, the warm-up left out."""
    with np.errstate(over="ignore"):
        return _alternate(problem, W, H, limits, recorder)


def _alternate(problem: Problem, W: Array, H: Array, limits: Limits, recorder: Recorder) -> Outcome:
    update = _Multiplicative(problem, W, H)
    for _ in range(WARM_UP):
        update.step(problem.V)
    V_hat = update.prediction()
    update.write(W, H)
    recorder.record(*_measure(problem, V_hat), W, H, share=0.0)
    converged, n_iter, outer = False, 0, 0
    U = problem.V.copy() if problem.adversarial else problem.V
    while not (converged or recorder.stopped or outer == limits.max_outer):
        outer += 1
        if problem.adversarial:
            effective_data(problem.V, V_hat, problem.lam, out=U)
        n_iter += _inner_loop(update, U, limits)
        before, V_hat = V_hat, update.prediction()
        update.write(W, H)
        converged = _relative_change(before, V_hat) < limits.tol_outer
        recorder.record(*_measure(problem, V_hat), W, H, share=outer / limits.max_outer)
    return Outcome(W, H, converged, n_iter)


class _Multiplicative:
    """Multiplicative updates of W and H.

    A factor's entry that shrinks for long falls below the normal numbers of its precision, is rounded ever
    more coarsely there, and is stuck at the bottom or at zero. In the authors' single precision this decides
    where the alternation goes at small lam, so it is kept. But processors are many times slower with such
    denormal numbers: the factors are held `unit` times as large, where they are normal, and rounded alike.
    """

    def __init__(self, problem: Problem, W: Array, H: Array) -> None:
        precision = np.finfo(W.dtype)
        self._unit = 2.0 ** (precision.nmant + 1)
        self._normal = float(precision.tiny) * self._unit
        self._rounder = 3 * float(precision.tiny) * 2.0**precision.nmant
        self._largest = float(precision.max)
        self._most = self._largest**0.5 * self._unit
        self._W, self._H = W * W.dtype.type(self._unit), H * H.dtype.type(self._unit)
        self._mask = None if problem.mask is None else problem.mask.astype(W.dtype)
        self._up_W, self._down_W = np.empty_like(W), np.empty_like(W)
        self._up_H, self._down_H = np.empty_like(H), np.empty_like(H)

    def step(self, U: Array) -> None:
        """W <- W * (U H') / (W H H'), then H <- H * (W' U) / (W' W H); hidden entries of U are zero."""
        W, H = self._W, self._H
        np.matmul(U, H.T, out=self._up_W)
        if self._mask is None:
            np.matmul(W, self._products(H), out=self._down_W)
        else:
            np.matmul(self._observed_prediction(self._mask), H.T, out=self._down_W)
        self._multiply(W, self._up_W, self._down_W)
        np.matmul(W.T, U, out=self._up_H)
        if self._mask is None:
            np.matmul(self._products(W.T), H, out=self._down_H)
        else:
            np.matmul(W.T, self._observed_prediction(self._mask), out=self._down_H)
        self._multiply(H, self._up_H, self._down_H)

    def prediction(self) -> Array:
        product: Array = self._W @ self._H
        product /= self._unit**2
        return product

    def write(self, W: Array, H: Array) -> None:
        """Put the factors into W and H."""
        np.divide(self._W, self._unit, out=W)
        np.divide(self._H, self._unit, out=H)

    def _products(self, rows: Array) -> Array:
        """All inner products of a factor's rows; finite, also where one has grown while another shrank."""
        products: Array = (rows @ rows.T) / self._unit**2
        if np.isfinite(products).all():
            return products
        in_double = (rows.astype(np.float64) @ rows.T) / self._unit**2
        return in_double.clip(max=self._largest).astype(rows.dtype)

    def _observed_prediction(self, mask: Array) -> Array:
        product = self.prediction()
        product *= mask
        return product

    def _multiply(self, factor: Array, up: Array, down: Array) -> None:
        """factor <- factor * up / (down + eps), in this order, which matters for the smallest numbers."""
        up /= self._unit
        factor *= up
        self._underflow(factor, scratch=up)
        down /= self._unit
        down += EPS
        factor /= down
        # A strong attack, at lam near 1, would send factors to where their products overflow.
        np.minimum(factor, self._most, out=factor)
        self._underflow(factor, scratch=up)

    def _underflow(self, factor: Array, scratch: Array) -> None:
        """Round what would be denormal: the rounder, added and taken off, leaves multiples of the least."""
        rounded = np.add(factor, self._rounder, out=scratch)
        rounded -= self._rounder
        np.copyto(factor, rounded, where=factor < self._normal)


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
