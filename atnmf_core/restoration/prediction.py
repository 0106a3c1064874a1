"""What a fit tells of entries that it was not shown.

A column of V with large gaps may leave open how much of each part is in it. The h that fits its few entries
best can then be out of all proportion elsewhere. But columns resemble each other: h is taken to be normally
distributed, with the mean m and covariance C of well-observed columns. The most probable h given a column is

    h = argmin over h >= 0 of   sum over shown entries of (t_f - [Wh]_f)^2 / s_f^2  +  (h - m)' C^-1 (h - m),

where s_f is the noise of row f, and t the data or, with an adversary, what the solver fits in its place
(`descent_target`). Where the shown entries determine h, the second term has no influence; where they do not,
the column is predicted like those that resemble it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from ..adversary import descent_target
from ..problem import Array, Mask
from ..result import Fit
from ..solvers.nonnegative import nonnegative_minimum
from ..solvers.steps import gram_matrices

Doubles = npt.NDArray[np.float64]

WELL_OBSERVED = 0.5
"""Mean and covariance are those of this share of the columns: the ones with the most entries."""
LEAST_NOISE = 0.03
"""No row has less noise than this share of the average row: a part of its own may fit a row exactly."""
MOST_FOLLOWED = 0.25
"""The noise of an overfitted model is not taken for more than 1 / sqrt of this times its residuals."""
USUAL = 4
"""Entries with usual noise that every column is given, besides one for each part."""
ROUNDING = 1e-6
"""Nor less than this share of the size of the data, nor does any part vary less than this share of the
average part.
"""
BLOCK_BYTES = 1 << 25
"""Columns are predicted in blocks whose matrices take about this much memory."""


@dataclass(frozen=True, eq=False)
class Population:
    """What columns have in common: their parts, how much of each, and the noise around that.

    Attributes
    ----------
    W : F x K, the parts.
    mean, precision : K and K x K, the distribution of h: its mean and the inverse of its covariance.
    noise : F, the standard deviation of each row around the prediction.
    """

    W: Doubles = field(repr=False)
    mean: Array = field(repr=False)
    precision: Array = field(repr=False)
    noise: Array = field(repr=False)

    @classmethod
    def of(cls, fit: Fit, V: Array, shown: Mask) -> Population:
        """The population that a fit to the shown entries of V describes."""
        W, H = fit.W.astype(np.float64), fit.H.astype(np.float64)
        residual = np.where(shown, fitted_to(V, fit.V_hat, fit.lam, fit.leash) - fit.V_hat, 0)
        counts = shown.sum(axis=0)
        well_observed = H[:, counts >= np.quantile(counts, 1 - WELL_OBSERVED)]
        mean, precision = _distribution(well_observed, np.linalg.norm(W, axis=0))
        return cls(W, mean, precision, _row_noise(residual, shown, fit))

    def columns(self, T: Array, V_hat: Array, shown: Mask) -> Columns:
        """Columns of which some entries are shown: T, what their fit V_hat was made to, all F x n."""
        ratio = np.where(shown, T - V_hat, 0) / self.noise[:, None]
        # A column with few entries tells little about its noise: it is taken for a usual one.
        usual = self.W.shape[1] + USUAL
        by_column = np.sqrt((usual + np.square(ratio).sum(axis=0)) / (usual + shown.sum(axis=0)))
        return Columns(self, np.where(shown, T, 0), shown, self.noise[:, None] * by_column)


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of which some entries are shown.

    Attributes
    ----------
    population : that they are from.
    T : F x n, their entries, and what stands for those at a wall; 0 where not shown.
    shown : bool F x n.
    noise : F x n, the standard deviation of each entry around its prediction.
    """

    population: Population
    T: Array = field(repr=False)
    shown: Mask = field(repr=False)
    noise: Doubles = field(repr=False)

    def amounts(self) -> Doubles:
        """The most probable H, K x n."""
        W, mean, precision = self.population.W, self.population.mean, self.population.precision
        H = np.empty((W.shape[1], self.T.shape[1]))
        for block, weights, information in self._blocks():
            right = (W.T @ (weights * self.T[:, block])).T + precision @ mean
            near = np.broadcast_to(mean, right.shape)
            H[:, block] = nonnegative_minimum(information, right, near).T
        return H

    def deviation(self) -> Doubles:
        """The standard deviation of the prediction W H from what would have been measured, F x n."""
        W = self.population.W
        i, j = np.triu_indices(W.shape[1])
        products = W[:, i] * W[:, j] * np.where(i == j, 1, 2)
        variance = np.square(self.noise)
        for block, _, information in self._blocks():
            covariance = np.linalg.inv(information)
            variance[:, block] += np.maximum(products @ covariance[:, i, j].T, 0)
        return np.sqrt(variance)

    def _blocks(self) -> Iterator[tuple[slice, Doubles, Doubles]]:
        """Some columns at a time, the weights of their entries, and for each column the inverse of the
        covariance of h, given its entries: n x K x K.
        """
        F, K = self.population.W.shape
        width = max(1, BLOCK_BYTES // (8 * max(F, K * K)))
        for first in range(0, self.T.shape[1], width):
            block = slice(first, first + width)
            weights = self.shown[:, block] / np.square(self.noise[:, block])
            grams = gram_matrices(self.population.W, weights)
            yield block, weights, np.moveaxis(grams, -1, 0) + self.population.precision


def columns_of(fit: Fit, V: Array, shown: Mask) -> Columns:
    """The columns of V, of which the fit saw the shown entries."""
    T = fitted_to(V, fit.V_hat, fit.lam, fit.leash)
    return Population.of(fit, V, shown).columns(T, fit.V_hat, shown)


def with_likely_amounts(fit: Fit, V: Array, shown: Mask) -> Fit:
    """The fit to the shown entries of V with its most probable H, which predicts the others better."""
    return replace(fit, H=columns_of(fit, V, shown).amounts().astype(fit.H.dtype))


def fitted_to(V: Array, V_hat: Array, lam: float | None, leash: float | None) -> Array:
    """What a fit is made to: V or, with an adversary, what stands for V at a wall."""
    return V if lam is None else descent_target(V, V_hat, lam, leash=leash)


def _row_noise(residual: Array, shown: Mask, fit: Fit) -> Doubles:
    """The standard deviation of each row around its prediction."""
    variance = np.square(residual, dtype=np.float64).sum(axis=1) / np.maximum(shown.sum(axis=1), 1)
    # Each number of W and H follows the noise of one entry; the fit's residuals lack that much.
    variance /= max(1 - (fit.W.size + fit.H.size) / max(int(shown.sum()), 1), MOST_FOLLOWED)
    size = float(np.square(fit.V_hat, dtype=np.float64).mean())
    floor = LEAST_NOISE**2 * variance.mean() + ROUNDING**2 * size + np.finfo(np.float64).tiny
    return np.asarray(np.sqrt(np.maximum(variance, floor)))


def _distribution(H: Doubles, norms: Doubles) -> tuple[Doubles, Doubles]:
    """Mean of the columns of H, and the inverse of their covariance. With few columns, correlations count
    less. The norms of the parts tell what is little.
    """
    K, n = H.shape
    mean = H.mean(axis=1)
    covariance = np.diag(np.square(mean)) if n == 1 else np.cov(H).reshape(K, K)
    share = n / (n + K)
    covariance = share * covariance + (1 - share) * np.diag(np.diag(covariance))
    sizes = np.where(norms > 0, norms, 1)
    covariance *= np.outer(sizes, sizes)
    average = float(np.trace(covariance)) / K + np.finfo(np.float64).tiny
    precision: Doubles = np.linalg.inv(covariance + ROUNDING * average * np.eye(K))
    return mean, precision * np.outer(sizes, sizes)
