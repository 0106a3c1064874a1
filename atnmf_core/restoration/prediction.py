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

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from ..adversary import descent_target
from ..problem import Array, Mask
from ..result import Fit
from ..solvers.nonnegative import nonnegative_minimum
from ..solvers.steps import gram_matrices

__all__ = ["Predictor", "with_likely_amounts"]

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
class Predictor:
    """Predicts columns from some of their entries.

    Attributes
    ----------
    W : F x K, the parts.
    mean, precision : K and K x K, the distribution of h: its mean and the inverse of its covariance.
    T : F x N, the columns, and what stands for entries at a wall.
    weights : F x N, of the shown entries of T, the inverse of their variance around the prediction; else 0.
    noise : F x N, the standard deviation of all entries around the prediction.
    """

    W: Doubles = field(repr=False)
    mean: Doubles = field(repr=False)
    precision: Doubles = field(repr=False)
    T: Array = field(repr=False)
    weights: Doubles = field(repr=False)
    noise: Doubles = field(repr=False)

    @classmethod
    def of(cls, fit: Fit, V: Array, shown: Mask) -> Predictor:
        """The predictor that follows from a fit to the shown entries of V."""
        W, H = fit.W.astype(np.float64), fit.H.astype(np.float64)
        T = V if fit.lam is None else descent_target(V, fit.V_hat, fit.lam, leash=fit.leash)
        T = np.where(shown, T, 0)
        noise = _noise(np.where(shown, T - fit.V_hat, 0), shown, fit)
        counts = shown.sum(axis=0)
        well_observed = H[:, counts >= np.quantile(counts, 1 - WELL_OBSERVED)]
        mean, precision = _distribution(well_observed, np.linalg.norm(W, axis=0))
        return cls(W, mean, precision, T, shown / noise**2, noise)

    def amounts(self) -> Doubles:
        """The most probable H, K x N."""
        H = np.empty((self.W.shape[1], self.T.shape[1]))
        for block in self._blocks():
            right = (self.W.T @ (self.weights[:, block] * self.T[:, block])).T + self.precision @ self.mean
            near = np.broadcast_to(self.mean, right.shape)
            H[:, block] = nonnegative_minimum(self._information(block), right, near).T
        return H

    def deviation(self) -> Doubles:
        """The standard deviation of the prediction W H from what would have been measured, F x N."""
        i, j = np.triu_indices(self.W.shape[1])
        products = self.W[:, i] * self.W[:, j] * np.where(i == j, 1, 2)
        variance = np.square(self.noise)
        for block in self._blocks():
            covariance = np.linalg.inv(self._information(block))
            variance[:, block] += np.maximum(products @ covariance[:, i, j].T, 0)
        return np.sqrt(variance)

    def _information(self, block: slice) -> Doubles:
        """The inverse of the covariance of h given the column, for each column: n x K x K."""
        grams: Doubles = np.moveaxis(gram_matrices(self.W, self.weights[:, block]), -1, 0) + self.precision
        return grams

    def _blocks(self) -> list[slice]:
        F, K = self.W.shape
        width = max(1, BLOCK_BYTES // (8 * max(F, K * K)))
        return [slice(first, first + width) for first in range(0, self.T.shape[1], width)]


def with_likely_amounts(fit: Fit, V: Array, shown: Mask) -> Fit:
    """The fit to the shown entries of V with its most probable H, which predicts the others better."""
    return replace(fit, H=Predictor.of(fit, V, shown).amounts().astype(fit.H.dtype))


def _noise(residual: Array, shown: Mask, fit: Fit) -> Doubles:
    """The standard deviation of each entry around its prediction: that of its row, times how much larger
    those of its column are than usual.
    """
    squares = np.square(residual, dtype=np.float64)
    by_row = squares.sum(axis=1) / np.maximum(shown.sum(axis=1), 1)
    # Each number of W and H follows the noise of one entry; the fit's residuals lack that much.
    by_row /= max(1 - (fit.W.size + fit.H.size) / max(int(shown.sum()), 1), MOST_FOLLOWED)
    size = float(np.square(fit.V_hat, dtype=np.float64).mean())
    floor = LEAST_NOISE**2 * by_row.mean() + ROUNDING**2 * size + np.finfo(np.float64).tiny
    by_row = np.maximum(by_row, floor)[:, None]
    # A column with few entries tells little about its noise: it is taken for a usual one.
    usual = fit.W.shape[1] + USUAL
    by_column = (usual + (squares / by_row).sum(axis=0)) / (usual + shown.sum(axis=0))
    return np.asarray(np.sqrt(by_row * by_column))


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
