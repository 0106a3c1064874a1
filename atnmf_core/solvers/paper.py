"""Algorithm 1 of the paper, as its authors released it: multiplicative steps against U = V + R*.

Five warm-up steps on V; then, per outer iteration, R* in closed form and multiplicative steps on W and H,
in this order, until ||(V_hat_next - V_hat) / V_hat||_F < tol_inner or max_inner steps; the whole ends when
the same norm over an outer iteration falls below tol_outer, or after max_outer of them. Standard NMF takes
the same steps on V throughout.
"""

import numpy as np

from ..model.adversary import adversarial_loss, effective_data
from ..model.problem import Array, Factors, Problem
from ..model.result import Recorder, Solution, StoppingRules

WARM_UP = 5
EPS = 2.2e-16  # The constant that the released code adds to its denominators
CHECK_EVERY = 10
"""The inner stopping norm costs as much as several steps: after the first few it is computed this often."""
SOME = 16  # One in this many columns is checked first, to see whether the norm is still too large


def solve(problem: Problem, W: Array, H: Array, limits: StoppingRules, recorder: Recorder) -> Solution:
    """The paper's alternation; `n_iter` counts inner iterations, the warm-up left out."""
    with np.errstate(over="ignore"):
        return _alternate(problem, W, H, limits, recorder)


def _alternate(problem: Problem, W: Array, H: Array, limits: StoppingRules, recorder: Recorder) -> Solution:
    update = _Multiplicative(problem, W, H)
    # Weights count in both products of a step; hidden entries of U are zero and need none.
    weights = problem.weights
    target = _Target(problem.V if weights is None else problem.V * weights)
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
            effective_data(problem.V, V_hat, problem.lam, out=U)
            target = _Target(U if weights is None else U * weights)
        n_iter += _inner_loop(update, target, limits)
        before, V_hat = V_hat, update.prediction()
        update.write(W, H)
        converged = _relative_change(before, V_hat) < limits.tol_outer
        recorder.record(*_measure(problem, V_hat), W, H, share=outer / limits.max_outer)
    return Solution(W, H, converged, n_iter)


class _Target:
    """The data U that the steps approach, stored in both orders so that each product runs along its rows."""

    def __init__(self, U: Array) -> None:
        self.U, self.U_transposed = U, np.ascontiguousarray(U.T)


class _Factor:
    """A factor with its K parts as rows, buffers for a step, and where its predictions count."""

    def __init__(self, parts: Array, weights: Array | None) -> None:
        self.parts = parts
        self.weights = None if weights is None else np.ascontiguousarray(weights)
        self.up, self.down, self.scratch = (np.empty_like(parts) for _ in range(3))


class _Multiplicative:
    """Multiplicative updates of W and H, stored as W' and H so that the same half step serves both.

    An entry of a factor that keeps shrinking becomes a denormal number, is rounded ever more coarsely, and
    gets stuck at the smallest number or at zero. In the authors' single precision this decides where the
    alternation goes at small lam, so we reproduce it. But processors are many times slower with denormal
    numbers, so the factors are stored `unit` times as large, where they are normal, and rounded in the same
    way.
    """

    def __init__(self, problem: Problem, W: Array, H: Array) -> None:
        precision = np.finfo(W.dtype)
        self._unit = 2.0 ** (2 * precision.nmant)
        self._per_unit = 1 / self._unit  # exact, and quicker to multiply by than to divide
        self._normal = float(precision.tiny) * self._unit
        self._largest = float(precision.max)
        self._most = self._largest**0.5 * self._unit
        weights, unit = problem.entry_weights(), W.dtype.type(self._unit)
        self._W = _Factor(np.ascontiguousarray(W.T) * unit, None if weights is None else weights.T)
        self._H = _Factor(H * unit, weights)

    @property
    def factors(self) -> Factors:
        return self._W.parts, self._H.parts

    def step(self, target: _Target) -> None:
        """W <- W * (U H') / (W H H'), then H <- H * (W' U) / (W' W H); hidden entries of U are zero."""
        self._half_step(self._W, self._H.parts, target.U_transposed)
        self._half_step(self._H, self._W.parts, target.U)

    def prediction(self, columns: slice = slice(None), factors: Factors | None = None) -> Array:
        """W H, or some of its columns, for the current or for earlier factors."""
        Wt, H = factors or self.factors
        return self._product(Wt, H[:, columns])

    def write(self, W: Array, H: Array) -> None:
        np.multiply(self._W.parts.T, self._per_unit, out=W)
        np.multiply(self._H.parts, self._per_unit, out=H)

    def _half_step(self, factor: _Factor, other: Array, U: Array) -> None:
        np.matmul(other, U, out=factor.up)
        if factor.weights is None:
            np.matmul(self._products(other), factor.parts, out=factor.down)
        else:
            product = self._product(other, factor.parts)
            product *= factor.weights
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
        self._underflow(parts, up, factor.scratch)
        down *= self._per_unit
        down += EPS
        parts /= down
        # A strong attack, at lam near 1, would make the factors' products overflow.
        np.minimum(parts, self._most, out=parts)
        self._underflow(parts, up, factor.scratch)

    def _underflow(self, parts: Array, small: Array, error: Array) -> None:
        """Round what would be denormal to multiples of the smallest denormal, which is the spacing of numbers
        between the smallest normal number and twice that.

        The rounding error is exact, and zero for normal numbers; subtracting it needs no branch per entry.
        """
        np.minimum(parts, self._normal, out=small)
        np.add(small, self._normal, out=error)
        error -= self._normal
        error -= small
        parts += error


def _inner_loop(update: _Multiplicative, target: _Target, limits: StoppingRules) -> int:
    """Take steps towards U until they move the prediction by less than tol_inner; return how many."""
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
    """Whether the prediction has changed by less than a share; a few columns usually show that it has not."""
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
    V, weights = problem.V, problem.weights
    squared_error = adversarial_loss(V, V_hat, np.inf, problem.observed, weights=weights)
    return squared_error, adversarial_loss(V, V_hat, problem.lam, problem.mask, weights=weights)
