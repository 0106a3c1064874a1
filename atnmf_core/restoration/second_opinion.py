"""Columns that were explained the wrong way round.

Wrong entries of a column may explain each other: with enough parts an h is found that fits them, and the sound
entries, which it does not fit, are called suspect. The column's own residuals do not tell, as they are scaled
by themselves. So each column is looked at once more, from where the average column is and with the noise that
the rows have in all columns. The h sought minimises

    sum over observed entries of min(r_f^2, c^2)  +  (nu + K) log(1 + (h - m)' C^-1 (h - m) / nu),

with r_f = (v_f - [Wh]_f) / s_f and m, C and s_f as in `prediction`: an entry is explained or costs c^2, and an
unusual h costs something, but not more and more (Student's t). It is found with weights that fade from the
usual least squares to that. c^2 follows from the share of entries that are suspect on each side: what is
frequent costs less. Where the sum is much lower than for the h at hand, the other h is taken.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..problem import Array, Mask
from ..result import Fit
from ..solvers.nonnegative import nonnegative_minimum
from ..solvers.steps import gram_matrices
from .prediction import Doubles, Population

MUCH_LOWER = 0.85
"""Another h is taken if its cost is below this share of the present one's."""
SCATTER = 10.0
"""What a suspect costs because it may lie anywhere, besides what its frequency says."""
NU = 4.0
"""Degrees of freedom of the distribution of h: with few, unusual columns are expected."""
FADING = (64, 32, 16, 8, 4, 2, 1, 1, 1)
"""The distance at which an entry loses its weight, as multiples of c."""


def second_opinion(V: Array, fit: Fit, observed: Mask, suspects: Mask) -> tuple[Array, Mask]:
    """H and the suspects, with columns that another h explains much better explained by that.

    Parameters
    ----------
    V : F x N.
    fit : to the observed entries of V that are not suspect.
    observed, suspects : bool F x N.
    """
    population = Population.of(fit, V, observed & ~suspects)
    limits = _limits(V, fit.V_hat, observed, suspects)
    H = _from_the_average(V, observed, population, limits)
    present = _cost(V, observed, population, limits, fit.H.astype(np.float64))
    other = _cost(V, observed, population, limits, H)
    taken = other < MUCH_LOWER * present
    residual, limit = _residuals(V, observed, population, limits, H)
    return (
        np.where(taken, H, fit.H).astype(fit.H.dtype),
        np.where(taken, np.abs(residual) > limit, suspects),
    )


def _limits(V: Array, V_hat: Array, observed: Mask, suspects: Mask) -> tuple[float, float]:
    """c for entries below and above their prediction."""
    count = max(int(observed.sum()), 1)
    below, above = ((int((suspects & side).sum()) + 1) / count for side in (V < V_hat, V > V_hat))
    sound = max(1 - below - above, 0.1)
    return tuple(np.sqrt(max(SCATTER + 2 * np.log(sound / share), 1)) for share in (below, above))


def _from_the_average(
    V: Array, observed: Mask, population: Population, limits: tuple[float, float]
) -> Doubles:
    W, mean, precision = population.W, population.mean, population.precision
    H = np.repeat(mean[:, None], V.shape[1], axis=1)
    for width in FADING:
        residual, limit = _residuals(V, observed, population, limits, H)
        weights = observed / np.square(population.noise[:, None] * (1 + np.square(residual / (width * limit))))
        usual = (NU + len(H)) / (NU + _unusual(H, population))
        information = np.moveaxis(gram_matrices(W, weights), -1, 0) + usual[:, None, None] * precision
        right = (W.T @ (weights * V)).T + usual[:, None] * (precision @ mean)
        H = nonnegative_minimum(information, right, H.T).T
    return H


def _residuals(
    V: Array, observed: Mask, population: Population, limits: tuple[float, float], H: Doubles
) -> tuple[Doubles, npt.NDArray[np.float64]]:
    """r and c, F x N."""
    residual = np.where(observed, V - population.W @ H, 0) / population.noise[:, None]
    return residual, np.where(residual < 0, *limits)


def _unusual(H: Doubles, population: Population) -> Doubles:
    apart = H - population.mean[:, None]
    distance: Doubles = np.einsum("kn,kn->n", apart, population.precision @ apart)
    return distance


def _cost(
    V: Array, observed: Mask, population: Population, limits: tuple[float, float], H: Doubles
) -> Doubles:
    residual, limit = _residuals(V, observed, population, limits, H)
    cost: Doubles = np.square(np.minimum(np.abs(residual), limit)).sum(axis=0)
    return cost + (NU + len(H)) * np.log1p(_unusual(H, population) / NU)
