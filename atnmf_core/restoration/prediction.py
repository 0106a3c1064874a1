"""What a fit tells of entries that it was not shown.

A column of V with large gaps may leave open how much of each part is in it. The h that fits its few entries
best can then be out of all proportion elsewhere. But columns resemble each other: h is taken to be normally
distributed, with a mean m and a covariance C. The most probable h given a column is

    h = argmin over h >= 0 of   sum over shown entries of (t_f - [Wh]_f)^2 / s_f^2  +  (h - m)' C^-1 (h - m),

where s_f is the noise of row f, and t the data or, with an adversary, what the solver fits in its place
(`descent_target`). Where the shown entries determine h, the second term has no influence; where they do not,
the column is predicted like those that resemble it.

The H of a fit says little about m and C where much is missing: what a column leaves open is whatever the
solver left there. So m and C are refined as in expectation maximisation, from the mean of h given each
column, with what is below zero cut off, and what the column leaves open about it.

A part that follows one row alone describes the noise of that row, which nothing else predicts. Such rows are
described by what the other rows say about H.
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
from ..solvers.steps import gram_matrices, improve

Doubles = npt.NDArray[np.float64]

WELL_OBSERVED = 0.5
"""Mean and covariance begin as those of this share of the columns: the ones with the most entries."""
LEAST_NOISE = 0.03
"""No row has less noise than this share of the average row: a part of its own may fit a row exactly."""
ROUNDING = 1e-6
"""Nor has any less than this share of the size of the data, and no part varies less than this share of the
average part or its size.
"""
TINY = 1e-150
"""A variance for data that is all zero."""
MOST_FOLLOWED = 0.25
"""The noise of an overfitted model is not taken for more than 1 / sqrt of this times its residuals."""
USUAL = 4
"""Entries with usual noise that every column is given, besides one for each part."""
ROUNDS, SAMPLE, SAMPLE_ENTRIES = 3, 600, 100_000
"""How often m and C are refined, and on how many columns: so many, or as many as have so many entries if that
is more.
"""
OF_ITS_OWN, PER_PART, NEARLY_WHOLE = 0.9, 2, 0.98
"""A row of W with this leverage is described by the others if there are at least so many of them, and so many
shown entries in the row, for each part, and less than this share of the row is shown.
"""
REFITS, FAR_OFF, DESCENTS = 3, 2.0, 10
"""So often at most W is fitted to the probable H, if that predicts other entries so many times the usual
residual away from what the fit does; and with so many rounds of coordinate descent.
"""
FEWEST, FEWEST_SHARE = 4, 0.05
"""To be predicted a column needs so many entries and this share of its rows, or one entry for each part."""
RIDGE = 1e-10
"""Added to the diagonal of matrices, which is 1, before they are inverted."""
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
    def of(cls, fit: Fit, V: Array, shown: Mask, *, keep_W: bool = False) -> Population:
        """The population that a fit to the shown entries of V describes. Rows with a part of their own are
        described by the others, unless W is to be kept.
        """
        W, H = fit.W.astype(np.float64), fit.H.astype(np.float64)
        T, V_hat = fitted_to(V, fit.V_hat, fit.lam, fit.leash), fit.V_hat
        counts = shown.sum(axis=0)
        well_observed = H[:, counts >= np.quantile(counts, 1 - WELL_OBSERVED)]
        mean, precision = _distribution(well_observed, np.linalg.norm(W, axis=0))
        population = cls(W, mean, precision, _row_noise(np.where(shown, T - V_hat, 0), shown, fit))
        some = _sampled_columns(V.shape)
        sample = T[:, some], V_hat[:, some], shown[:, some]
        alone = _rows_alone(W, sample[2])
        if keep_W or not alone.any():
            return population._refined(*sample)
        return population._without_parts_for(alone, *sample)

    def _refined(self, T: Array, V_hat: Array, shown: Mask) -> Population:
        """With mean and precision refined by these columns."""
        norms, population = np.linalg.norm(self.W, axis=0), self
        for _ in range(ROUNDS):
            H, uncertainty = population.columns(T, V_hat, shown).posterior()
            mean, precision = _distribution(H, norms, uncertainty)
            population = replace(population, mean=mean, precision=precision)
        return population

    def _without_parts_for(self, alone: Mask, T: Array, V_hat: Array, shown: Mask) -> Population:
        """With these rows of W and their noise as the H of the other rows describes them."""
        others = shown & ~alone[:, None]
        population = self._refined(T, V_hat, others)
        H = population.columns(T, V_hat, others).amounts()
        W, noise = self.W.copy(), self.noise.copy()
        counted = shown[alone].T.astype(np.float64)
        data = T[alone].T * counted
        W[alone] = nonnegative_minimum(
            np.moveaxis(gram_matrices(H.T, counted), -1, 0), data.T @ H.T, W[alone]
        )
        misfit = np.square(data - (H.T @ W[alone].T) * counted).sum(axis=0)
        noise[alone] = np.maximum(np.sqrt(misfit / (counted.sum(axis=0) - len(H))), noise[alone])
        return replace(population, W=W, noise=noise)

    def columns(self, T: Array, V_hat: Array, shown: Mask) -> Columns:
        """Columns of which some entries are shown: T, what their fit V_hat was made to, all F x n."""
        ratio = np.where(shown, T - V_hat, 0) / self.noise[:, None]
        # A column with few entries tells little about its noise: it is taken for a usual one.
        given = self.W.shape[1] + USUAL
        by_column = np.sqrt((given + np.square(ratio).sum(axis=0)) / (given + shown.sum(axis=0)))
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

    def amounts(self, near: Array | None = None) -> Doubles:
        """The most probable H, K x n; found sooner from one that is near it."""
        H = np.empty((self.population.W.shape[1], self.T.shape[1]))
        for block, right, information in self._normal_equations():
            start = np.broadcast_to(self.population.mean, right.shape) if near is None else near[:, block].T
            H[:, block] = nonnegative_minimum(information, right, start).T
        return H

    def posterior(self) -> tuple[Doubles, Doubles]:
        """The mean of h given its column, K x n, with what is below zero cut off, and its covariance on
        average.
        """
        K, n = len(self.population.mean), self.T.shape[1]
        H, covariance = np.empty((K, n)), np.zeros((K, K))
        for block, right, information in self._normal_equations():
            each = _inverse(information)
            H[:, block] = np.einsum("nkl,nl->kn", each, right)
            covariance += each.sum(axis=0) / n
        return np.maximum(H, 0), covariance

    def _normal_equations(self) -> Iterator[tuple[slice, Doubles, Doubles]]:
        """Some columns at a time, with right sides and matrices, n x K and n x K x K."""
        W, mean, precision = self.population.W, self.population.mean, self.population.precision
        for block, weights, information in self._blocks():
            yield block, (W.T @ (weights * self.T[:, block])).T + precision @ mean, information

    def deviation(self) -> Doubles:
        """The standard deviation of the prediction W H from what would have been measured, F x n."""
        W = self.population.W
        i, j = np.triu_indices(W.shape[1])
        products = W[:, i] * W[:, j] * np.where(i == j, 1, 2)
        variance = np.square(self.noise)
        for block, _, information in self._blocks():
            covariance = _inverse(information)
            variance[:, block] += np.maximum(products @ covariance[:, i, j].T, 0)
        return np.sqrt(variance)

    def _blocks(self) -> Iterator[tuple[slice, Doubles, Doubles]]:
        """Some columns at a time, the weights of their entries, and for each column the inverse of the
        covariance of h, given its entries: n x K x K.
        """
        for block in column_blocks(self.population.W, self.T.shape[1]):
            weights = self.shown[:, block] / np.square(self.noise[:, block])
            grams = gram_matrices(self.population.W, weights)
            yield block, weights, np.moveaxis(grams, -1, 0) + self.population.precision


def column_blocks(W: Array, columns: int) -> Iterator[slice]:
    """Columns, some at a time, so that a K x K matrix for each of them has room."""
    F, K = W.shape
    width = max(1, BLOCK_BYTES // (8 * max(F, K * K)))
    return (slice(first, first + width) for first in range(0, columns, width))


def columns_of(fit: Fit, V: Array, shown: Mask, *, keep_W: bool = False) -> Columns:
    """The columns of V, of which the fit saw the shown entries; see `Population.of`."""
    T = fitted_to(V, fit.V_hat, fit.lam, fit.leash)
    return Population.of(fit, V, shown, keep_W=keep_W).columns(T, fit.V_hat, shown)


def with_likely_amounts(fit: Fit, V: Array, shown: Mask) -> Fit:
    """The fit to the shown entries of V with the W and H that predict the others, if any, better.

    If the most probable H is far from that of the fit, W was fitted to amounts that are not there: then W is
    fitted to the probable ones, and so on a few times.
    """
    judged = ~shown & ~tell_too_little(shown, fit.W.shape[1]) & shown.any(axis=1, keepdims=True)
    likely = _likely(fit, V, shown)
    for _ in range(REFITS if judged.any() else 0):
        T = fitted_to(V, fit.V_hat, fit.lam, fit.leash)
        usual = _rms((T - fit.V_hat)[shown])
        if _rms((likely.V_hat - fit.V_hat)[judged]) < FAR_OFF * usual:
            break
        W_T = likely.W.T.copy()
        improve(likely.H.T, W_T, np.where(shown, T, 0).T, shown.T.astype(W_T.dtype), DESCENTS)
        fit = replace(likely, W=W_T.T)
        likely = _likely(fit, V, shown)
    return likely


def _likely(fit: Fit, V: Array, shown: Mask) -> Fit:
    if shown.all():
        return fit
    columns = columns_of(fit, V, shown)
    H = columns.amounts(fit.H)
    return replace(fit, W=columns.population.W.astype(fit.W.dtype), H=H.astype(fit.H.dtype))


def _rms(errors: Array) -> float:
    return float(np.sqrt(np.square(errors, dtype=np.float64).mean()))


def tell_too_little(shown: Mask, K: int) -> Mask:
    """Which columns have too few entries to be predicted from these and from similar columns."""
    few: Mask = shown.sum(axis=0) < min(K, max(FEWEST, FEWEST_SHARE * len(shown)))
    return few


def fitted_to(V: Array, V_hat: Array, lam: float | None, leash: float | None) -> Array:
    """What a fit is made to: V or, with an adversary, what stands for V at a wall."""
    return V if lam is None else descent_target(V, V_hat, lam, leash=leash)


def _row_noise(residual: Array, shown: Mask, fit: Fit) -> Doubles:
    """The standard deviation of each row around its prediction."""
    variance = np.square(residual, dtype=np.float64).sum(axis=1) / np.maximum(shown.sum(axis=1), 1)
    # Each number of W and H follows the noise of one entry; the fit's residuals lack that much.
    variance /= max(1 - (fit.W.size + fit.H.size) / max(int(shown.sum()), 1), MOST_FOLLOWED)
    size = float(np.square(fit.V_hat, dtype=np.float64).mean())
    floor = LEAST_NOISE**2 * variance.mean() + ROUNDING**2 * size + TINY
    return np.asarray(np.sqrt(np.maximum(variance, floor)))


def _distribution(H: Doubles, norms: Doubles, uncertainty: Doubles | None = None) -> tuple[Doubles, Doubles]:
    """Mean of the columns of H, and the inverse of their covariance. With few columns, correlations count
    less. The norms of the parts tell what is little; `uncertainty` is the covariance of h around each column.
    """
    K, n = H.shape
    mean = H.mean(axis=1)
    covariance = np.diag(np.square(mean)) if n == 1 else np.cov(H).reshape(K, K)
    if uncertainty is not None:
        covariance = covariance + uncertainty
    share = n / (n + K) if uncertainty is None else 1.0
    covariance = share * covariance + (1 - share) * np.diag(np.diag(covariance))
    sizes = np.where(norms > 0, norms, 1)
    covariance *= np.outer(sizes, sizes)
    floor = ROUNDING * np.trace(covariance) / K + np.square(ROUNDING * mean * sizes).mean() + TINY
    precision: Doubles = np.linalg.inv(covariance + floor * np.eye(K))
    return mean, precision * np.outer(sizes, sizes)


def _inverse(matrices: Doubles) -> Doubles:
    """Of positive definite matrices, n x K x K, that may be singular but for rounding."""
    sizes = np.sqrt(np.einsum("nkk->nk", matrices))
    outer = sizes[:, :, None] * sizes[:, None, :]
    return np.asarray(np.linalg.inv(matrices / outer + RIDGE * np.eye(sizes.shape[1])) / outer)


def _sampled_columns(shape: tuple[int, ...]) -> npt.NDArray[np.intp]:
    """Columns to learn from."""
    F, N = shape
    most = max(SAMPLE, SAMPLE_ENTRIES // F)
    return np.arange(N) if most >= N else np.sort(np.random.default_rng(0).choice(N, most, replace=False))


def _rows_alone(W: Doubles, shown: Mask) -> Mask:
    """Rows with a part of their own that others, which are many enough, could describe."""
    least = PER_PART * W.shape[1]
    holed = (shown.sum(axis=1) >= least) & (shown.mean(axis=1) < NEARLY_WHOLE)
    alone: Mask = holed & (leverage(W) >= OF_ITS_OWN)
    return alone if (~alone).sum() >= least else np.zeros_like(alone)


def leverage(W: Array) -> npt.NDArray[np.float64]:
    """By how much the prediction of an entry follows the entry itself, for each row of W: 1 where a part
    describes that row alone, and K / F on average. A row with far larger values than others comes close to 1
    too, as squared errors listen to it alone; with a single part, none has that part to itself.

    Examples
    --------
    >>> leverage(np.array([[1.0, 0], [1, 0], [0, 3]])).round(2).tolist()
    [0.5, 0.5, 1.0]
    """
    if W.shape[1] == 1:
        return np.zeros(len(W))
    norms = np.linalg.norm(W, axis=0)
    # The scale of a part means nothing, and must not decide which directions are there.
    basis, sizes, _ = np.linalg.svd(W / np.where(norms > 0, norms, 1), full_matrices=False)
    used = sizes > sizes[0] * np.finfo(W.dtype).eps * max(W.shape)
    along_rows: npt.NDArray[np.float64] = np.square(basis[:, used]).sum(axis=1)
    return along_rows
