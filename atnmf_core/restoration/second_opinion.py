"""Columns that were explained the wrong way round.

Wrong entries of a column may explain each other: with enough parts there is an h that fits them, and the
sound entries, which it does not fit, are called suspect. The column's own residuals do not tell, as they are
measured by themselves. So each column is looked at once more, starting from the average column and with the
noise that its rows have in other columns. Sought is the h >= 0 that minimises

    sum over observed entries of min(r_f, c)^2  +  (nu + K) log(1 + (h - m)' C^-1 (h - m) / nu),

with r_f = |v_f - [Wh]_f| / s_f and m, C and s as in `prediction`: an entry is explained or costs c^2, and an
unusual h has its price, but a limited one (Student's t). Reweighted least squares come close to it, with
weights 1 / (1 + (r_f / d)^2)^2 that fall off beyond a distance d; d begins large and narrows to c. What c^2
is follows from the share of suspects on each side: frequent ones cost less. Where the sum is much lower than
with the present h, the other h is taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..problem import Array, Mask
from ..result import Fit
from ..solvers.nonnegative import nonnegative_minimum
from ..solvers.steps import gram_matrices
from .defects import quantile_of_used
from .prediction import Population, column_blocks

MUCH_LOWER = 0.85
"""The other h is taken if its cost is below this share of the present one's."""
TURNED = 0.1
"""For every ten entries that are suspect no longer, more than one must become suspect: if suspects are only
taken back, the model explains what was left out of it on purpose.
"""
ANYWHERE = 10.0
"""What a suspect costs as it may lie anywhere, besides what its frequency says."""
NU = 4.0
"""Degrees of freedom of the distribution of h: with few, unusual columns are expected."""
STEPS = 10
"""Of least squares, from the first distance to c."""


def second_opinion(V: Array, fit: Fit, observed: Mask, suspects: Mask) -> tuple[Array, Mask]:
    """H and the suspects after columns that another h explains much better are explained by that.

    Parameters
    ----------
    V : F x N.
    fit : to the observed entries of V that are not suspect.
    observed, suspects : bool F x N.
    """
    population = Population.of(fit, V, observed & ~suspects, keep_W=True)
    limits = _limits(V, fit.V_hat, observed, suspects)
    H, suspects = fit.H.copy(), suspects.copy()
    for block in column_blocks(population.W, V.shape[1]):
        columns = _Doubtful(population, limits, V[:, block], observed[:, block])
        other = columns.from_the_average()
        taken = columns.cost(other) < MUCH_LOWER * columns.cost(H[:, block].astype(np.float64))
        before, now = suspects[:, block], np.greater(*columns.distances(other))
        taken &= (now & ~before).sum(axis=0) > TURNED * (before & ~now).sum(axis=0)
        H[:, block] = np.where(taken, other, H[:, block])
        suspects[:, block] = np.where(taken, now, before)
    return H, suspects


def _limits(V: Array, V_hat: Array, observed: Mask, suspects: Mask) -> tuple[float, float]:
    """c for entries below and above their prediction."""
    count = int(observed.sum())
    dark = V_hat > V
    below, above = ((int((suspects & side).sum()) + 1) / count for side in (dark, ~dark))
    sound = max(1 - below - above, below, above)
    cost_below, cost_above = (ANYWHERE + 2 * np.log(sound / share) for share in (below, above))
    return float(np.sqrt(cost_below)), float(np.sqrt(cost_above))


@dataclass(frozen=True, eq=False)
class _Doubtful:
    population: Population
    limits: tuple[float, float]
    V: Array
    observed: Mask

    def from_the_average(self) -> Array:
        """The better of two: with all entries at first, and with the half that is nearest to the average."""
        wide, narrow = (self._narrowing(share) for share in (1.0, 0.5))
        return np.where(self.cost(wide) < self.cost(narrow), wide, narrow)

    def _narrowing(self, share: float) -> Array:
        W, mean, precision = self.population.W, self.population.mean, self.population.precision
        H = np.repeat(mean[:, None], self.V.shape[1], axis=1)
        distance, limit = self.distances(H)
        width = np.maximum(np.nan_to_num(quantile_of_used(distance / limit, self.observed, 0, share)), 1)
        for step in range(STEPS):
            distance, limit = self.distances(H)
            limit = limit * width ** (1 - step / (STEPS - 1))
            deviation = self.population.noise[:, None] * (1 + np.square(distance / limit))
            weights = self.observed / np.square(deviation)
            prior = (NU + len(H)) / (NU + self._unusual(H))
            information = np.moveaxis(gram_matrices(W, weights), -1, 0) + prior[:, None, None] * precision
            right = (W.T @ (weights * self.V)).T + prior[:, None] * (precision @ mean)
            H = nonnegative_minimum(information, right, H.T).T
        return H

    def cost(self, H: Array) -> Array:
        explained = np.square(np.minimum(*self.distances(H))).sum(axis=0)
        cost: Array = explained + (NU + len(H)) * np.log1p(self._unusual(H) / NU)
        return cost

    def distances(self, H: Array) -> tuple[Array, Array]:
        """r and c of each entry."""
        residual = np.where(self.observed, self.V - self.population.W @ H, 0) / self.population.noise[:, None]
        return np.abs(residual), np.where(residual < 0, *self.limits)

    def _unusual(self, H: Array) -> Array:
        apart = H - self.population.mean[:, None]
        distance: Array = np.einsum("kn,kn->n", apart, self.population.precision @ apart)
        return distance
