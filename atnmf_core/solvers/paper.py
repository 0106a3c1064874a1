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
Factors = tuple[Array, Array]

WARM_UP = 5
EPS = 2.2e-16
"""What the released code adds to its denominators."""
CHECK_EVERY = 10
"""The inner stopping norm costs as much as several steps: after the first few it is taken only so often."""
SOME = 16
"""Of so many columns one is looked at before all of them are, to see whether the norm is still too large."""


def solve(problem: Problem, W: Array, H: Array, limits: Limits, recorder: Recorder) -> Outcome:
    """The paper's alternation; `n_iter` counts inner iterations, the warm-up left out."""
    with np.errstate(over="ignore"):
        return _alternate(problem, W, H, limits, recorder)


def _alternate(problem: Problem, W: Array, H: Array, limits: Limits, recorder: Recorder) -> Outcome:
    update = _Multiplicative(problem, W, H)
    target = _Target(problem.V)
    for _ in range(WARM_UP):
        update.step(target)
    V_hat = update.prediction()
    update.write(W, H)
    recorder.record(*_measure(problem, V_hat), W, H, share=0.0)
    converged, n_iter, outer = False, 0, 0
    U = problem.V.copy() if problem.adversarial else problem.V
    while not (converged or recorder.stopped or outer == limits.max_outer):
        outer += 1
        if problem.adversarial:
            target = _Target(effective_data(problem.V, V_hat, problem.lam, out=U))
        n_iter += _inner_loop(update, target, limits)
        before, V_hat = V_hat, update.prediction()
        update.write(W, H)
        converged = _relative_change(before, V_hat) < limits.tol_outer
        recorder.record(*_measure(problem, V_hat), W, H, share=outer / limits.max_outer)
    return Outcome(W, H, converged, n_iter)


class _Target:
    """The data U that the steps go towards, held both ways: each product then runs along its rows."""

    def __init__(self, U: Array) -> None:
        self.U, self.U_transposed = U, np.ascontiguousarray(U.T)


class _Factor:
    """A factor with its K parts as rows, the room that a step takes, and where its predictions count."""

    def __init__(self, parts: Array, mask: npt.NDArray[np.bool_] | None) -> None:
        self.parts = parts
        self.mask = None if mask is None else np.ascontiguousarray(mask, dtype=parts.dtype)
        self.up, self.down, self.spare = (np.empty_like(parts) for _ in range(3))


class _Multiplicative:
    """Multiplicative updates of W and H, held as W' and H: the same half step then serves both.

    A factor's entry that shrinks for long falls below the normal numbers of its precision, is rounded ever
    more coarsely there, and is stuck at the bottom or at zero. In the authors' single precision this decides
    where the alternation goes at small lam, so it is kept. But processors are many times slower with such
    denormal numbers: the factors are held `unit` times as large, where they are normal, and rounded alike.
    """

    def __init__(self, problem: Problem, W: Array, H: Array) -> None:
        precision = np.finfo(W.dtype)
        self._unit = 2.0 ** (2 * precision.nmant)
        self._per_unit = 1 / self._unit  # exact, and quicker to multiply by than to divide
        self._normal = float(precision.tiny) * self._unit
        self._largest = float(precision.max)
        self._most = self._largest**0.5 * self._unit
        mask, unit = problem.mask, W.dtype.type(self._unit)
        self._W = _Factor(np.ascontiguousarray(W.T) * unit, None if mask is None else mask.T)
        self._H = _Factor(H * unit, mask)

    @property
    def factors(self) -> Factors:
        """W' and H, as they are held."""
        return self._W.parts, self._H.parts

    def step(self, target: _Target) -> None:
        """W <- W * (U H') / (W H H'), then H <- H * (W' U) / (W' W H); hidden entries of U are zero."""
        self._half_step(self._W, self._H.parts, target.U_transposed)
        self._half_step(self._H, self._W.parts, target.U)

    def prediction(self, columns: slice = slice(None), factors: Factors | None = None) -> Array:
        """W H, or some of its columns, of the factors as they are now or were then."""
        Wt, H = factors or self.factors
        return self._product(Wt, H[:, columns])

    def write(self, W: Array, H: Array) -> None:
        """Put the factors into W and H."""
        np.multiply(self._W.parts.T, self._per_unit, out=W)
        np.multiply(self._H.parts, self._per_unit, out=H)

    def _half_step(self, factor: _Factor, other: Array, U: Array) -> None:
        np.matmul(other, U, out=factor.up)
        if factor.mask is None:
            np.matmul(self._products(other), factor.parts, out=factor.down)
        else:
            product = self._product(other, factor.parts)
            product *= factor.mask
            np.matmul(other, product, out=factor.down)
        self._multiply(factor)

    def _product(self, left: Array, right: Array) -> Array:
        product: Array = left.T @ right
        product *= self._per_unit**2
        return np.minimum(product, self._largest, out=product)

    def _products(self, rows: Array) -> Array:
        """All inner products of a factor's rows; finite, also where one has grown while another shrank."""
        products: Array = (rows @ rows.T) * self._per_unit**2
        if np.isfinite(products).all():
            return products
        in_double = (rows.astype(np.float64) @ rows.T) * self._per_unit**2
        return in_double.clip(max=self._largest).astype(rows.dtype)

    def _multiply(self, factor: _Factor) -> None:
        """parts <- parts * up / (down + eps), in this order, which matters for the smallest numbers."""
        parts, up, down = factor.parts, factor.up, factor.down
        up *= self._per_unit
        parts *= up
        self._underflow(parts, up, factor.spare)
        down *= self._per_unit
        down += EPS
        parts /= down
        # A strong attack, at lam near 1, would send factors to where their products overflow.
        np.minimum(parts, self._most, out=parts)
        self._underflow(parts, up, factor.spare)

    def _underflow(self, parts: Array, small: Array, error: Array) -> None:
        """Round what would be denormal to multiples of the least number: between the smallest normal number
        and its double the numbers are just so far apart.

        The rounding error is exact, and zero for the normal numbers; taking it off needs no choice per entry.
        """
        np.minimum(parts, self._normal, out=small)
        np.add(small, self._normal, out=error)
        error -= self._normal
        error -= small
        parts += error


def _inner_loop(update: _Multiplicative, target: _Target, limits: Limits) -> int:
    """Steps towards U until they move the prediction less than tol_inner; how many were taken."""
    for taken in range(1, limits.max_inner + 1):
        if taken > CHECK_EVERY and taken % CHECK_EVERY:
            update.step(target)
            continue
        Wt, H = update.factors
        before = Wt.copy(), H.copy()
        update.step(target)
        if _moved_less(update, before, limits.tol_inner):
            break
    return taken


def _moved_less(update: _Multiplicative, before: Factors, than: float) -> bool:
    """Whether the prediction's relative change since `before` is below a limit.

    Some columns alone tell in most cases that it is not: their share of the norm is a lower bound of it.
    """
    some = slice(None, None, SOME)
    return all(
        _relative_change(update.prediction(columns, before), update.prediction(columns)) < than
        for columns in (some, slice(None))
    )


def _relative_change(before: Array, after: Array) -> float:
    """||(after - before) / before||_F over all entries, hidden ones too."""
    change = np.subtract(after, before)
    change /= np.maximum(before, np.finfo(before.dtype).tiny)
    return float(np.sqrt(np.vdot(change, change)))


def _measure(problem: Problem, V_hat: Array) -> tuple[float, float]:
    """The squared error over the observed entries, and the loss."""
    squared_error = adversarial_loss(problem.V, V_hat, np.inf, problem.observed)
    return squared_error, adversarial_loss(problem.V, V_hat, problem.lam, problem.mask)
