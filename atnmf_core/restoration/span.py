"""Columns as points of a low-dimensional span, in units of noise.

A column of V is m + s (U z + e): the mean column m, an orthonormal basis U (F x K) of what columns have in
common, in units of the rows' noise s, and noise e of standard deviation c, the column's loudness. The z of
columns are normally distributed, without correlation and with variances tau. So each z has a posterior given
the entries of its column, whichever of them are there, and every entry a prediction from the others: if an
entry has the leverage l, its prediction from the *other* entries of its column misses it by r / (1 - l),
where r is its residual. These are the errors by which entries are judged (`odds`), and by which K is chosen.

A span is learned by climbing a ladder of K from a robust start. With one part a column can be nothing but
brighter or darker, so single wrong entries stand out, and so do whole blocks of them; on each rung what
looks wrong has no weight, so a further part is never spent on it, and what a larger span explains is taken
back in. Other columns climb the same ladder without learning, each on its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from ..model.problem import Array, Mask
from .odds import FREEDOM, Odds

Floats = npt.NDArray[np.float32]

RUNGS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
STEPS = 3
"""Rounds of expectation maximisation on each rung."""
LOOKS = 2
"""At other columns, which climb without learning."""
LEAST_NOISE, ROUNDING = 0.03, 1e-5
"""No row has less noise than this share of the average row, or of the size of the data."""
QUANTILE, NORMAL_QUANTILE = 0.35, 0.4538
"""The quantile of residuals that scales are taken from, and its value for a normal distribution. A low one
withstands many wrong entries.
"""
LOUDEST = 20.0
"""No column has more noise than so many times the usual one."""
ONE_SIDED, LIGHT = 6, np.float32(0.02)
"""Rounds in which entries on one side have a small weight: that of an attacked entry at a price of 1.02."""
UNUSUAL, POORLY = 0.2, 0.25
"""Columns with so many more suspects than usual, as a share of the others, are explained otherwise; and so is
this share of the columns, those with the lowest density.
"""
NOISIER, NEAR, WORTH_A_ROW = 5.0, 4.0, 0.5
"""Rows with so many times the usual noise, for their level, are explained otherwise, too: what is so many
deviations from the new explanation is left out, and the density of their entries must rise by a factor e^0.5.
"""
REGRESSED = 20
"""Rounds of such a regression of a row."""
OWN_ENTRIES = 8
"""A column's loudness is mixed with so many entries of usual loudness."""
ROWS_PER_PART = 2.5
"""A span has at most one dimension for so many rows, and columns."""
BLOCK_BYTES = 1 << 25
"""Columns are explained in blocks whose matrices take about this much memory."""


@dataclass(frozen=True, eq=False)
class Span:
    """What columns have in common.

    Attributes
    ----------
    mean, noise : F, the mean column, and the standard deviation of each row's noise.
    basis : F x K, orthonormal, in units of the noise.
    spread : K, the variances of the coordinates of columns.
    """

    mean: Floats = field(repr=False)
    noise: Floats = field(repr=False)
    basis: Floats = field(repr=False)
    spread: Floats = field(repr=False)

    @property
    def K(self) -> int:
        return int(self.basis.shape[1])

    def at(self, z: Array) -> Floats:
        """The columns with these coordinates, n x K."""
        made = self.mean[:, None] + self.noise[:, None] * (self.basis @ z.T)
        return np.asarray(made, dtype=np.float32)

    def units(self, V: Array) -> Floats:
        """V - mean in units of noise."""
        return np.asarray((V - self.mean[:, None]) / self.noise[:, None], dtype=np.float32)


@dataclass(eq=False)
class Explained:
    """What a span says of columns.

    Attributes
    ----------
    z, covariance : n x K and n x K(K+1)/2, the posterior of the coordinates, in units of noise.
    predicted : F x n.
    leverage : F x n, the variance that the posterior leaves each entry, in units of its row's noise.
    """

    z: Floats
    covariance: Floats
    predicted: Floats
    leverage: Floats


def explain(span: Span, V: Array, weights: Array) -> Explained:
    """The posterior of columns of V, given the weights of their entries, F x n."""
    (F, N), K = V.shape, span.K
    i, j = np.triu_indices(K)
    products = span.basis[:, i] * span.basis[:, j]
    twice = np.where(i == j, 1, 2).astype(np.float32)
    made = Explained(
        np.empty((N, K), np.float32),
        np.empty((N, i.size), np.float32),
        np.empty((F, N), np.float32),
        np.empty((F, N), np.float32),
    )
    for block in column_blocks(F, K, N):
        w = weights[:, block]
        information = np.empty((w.shape[1], K, K))
        information[:, i, j] = information[:, j, i] = w.T @ products
        information[:, np.arange(K), np.arange(K)] += 1 / span.spread
        covariance = np.linalg.inv(information)
        right = (w * span.units(V[:, block])).T @ span.basis
        z = np.einsum("nkl,nl->nk", covariance, right).astype(np.float32)
        pairs = covariance[:, i, j].astype(np.float32)
        made.z[block], made.covariance[block] = z, pairs
        made.predicted[:, block] = span.at(z)
        made.leverage[:, block] = np.maximum(products @ (pairs * twice).T, 0)
    return made


def column_blocks(F: int, K: int, N: int) -> Iterator[slice]:
    """Columns, some at a time, so that a K x K matrix for each of them has room."""
    width = max(1, BLOCK_BYTES // (8 * max(F, K * K)))
    return (slice(first, min(first + width, N)) for first in range(0, N, width))


def refitted(span: Span, V: Array, weights: Array, z: Array, covariance: Array, noise: Array) -> Span:
    """The span that explains V best, given the posterior of its coordinates; orthonormal in units of `noise`.

    Each row of V is regressed on the coordinates and 1, with the weights of its entries.
    """
    F, K = len(V), z.shape[1]
    i, j = np.triu_indices(K)
    weighted = weights * V
    gram = np.empty((F, K + 1, K + 1))
    gram[:, i, j] = gram[:, j, i] = weights @ (z[:, i] * z[:, j] + covariance)
    gram[:, :K, K] = gram[:, K, :K] = weights @ z
    gram[:, K, K] = weights.sum(axis=1)
    right = np.concatenate([weighted @ z, weighted.sum(axis=1, keepdims=True)], axis=1)
    # Rounding may leave variances of coordinates below zero where columns have too little to tell them.
    sizes = np.sqrt(np.maximum(np.einsum("fkk->fk", gram), 0)) + 1e-20
    gram /= sizes[:, :, None] * sizes[:, None, :]
    solved = np.linalg.solve(gram + 1e-7 * np.eye(K + 1), (right / sizes)[..., None])[..., 0] / sizes
    middle = z.mean(axis=0)
    mean = solved[:, K] + solved[:, :K] @ middle
    spread = np.cov(z.T, bias=True).reshape(K, K)
    spread[i, j] += covariance.mean(axis=0)
    spread[j, i] = spread[i, j]
    return _orthonormal(mean, noise, solved[:, :K] / noise[:, None], spread)


def _orthonormal(mean: Array, noise: Array, basis: Array, spread: Array) -> Span:
    """The span with an orthonormal basis, given the covariance (K x K) of coordinates in another one."""
    basis, turn = np.linalg.qr(basis)
    variances, axes = np.linalg.eigh(turn @ spread @ turn.T)
    return _span(mean, noise, basis @ axes[:, ::-1], np.maximum(variances[::-1], 1e-3))


def _span(*parts: Array) -> Span:
    return Span(*(np.ascontiguousarray(part, dtype=np.float32) for part in parts))


def main_directions(units: Array, K: int) -> tuple[Array, Array]:
    """The K main directions of columns, and the variances along them."""
    variances, directions = np.linalg.eigh((units @ units.T / units.shape[1]).astype(np.float64))
    return directions[:, ::-1][:, :K], np.maximum(variances[::-1][:K], 1e-2)


@dataclass(eq=False)
class Columns:
    """Columns on their way up the ladder: which entries are sound, and how well each is predicted.

    Attributes
    ----------
    V, seen : F x n.
    odds : of sound and wrong entries; None where what is seen is sound.
    sound, heft : F x n, the probability of being sound, and the weight of an entry that is.
    loudness : n.
    alone : whether each is looked at on its own, as if it came without the others.
    usual : by what a usual column misses its entries, in units of noise; told by all columns if not alone.
    """

    V: Floats
    seen: Mask
    odds: Odds | None
    sound: Array
    heft: Array
    loudness: Array
    alone: bool = False
    usual: float = 1.0
    explained: Explained | None = None
    others: Floats | None = None
    deviation: Floats | None = None
    """What the other entries of the column predict, and the standard deviation of entries around that."""

    @classmethod
    def start(
        cls, V: Floats, seen: Mask, odds: Odds | None, prediction: Array, noise: Array, alone: bool = False
    ) -> Columns:
        """With a first prediction, and the noise around it."""
        sound, heft = seen.astype(np.float32), np.ones(V.shape, np.float32)
        if odds is not None:
            spread = np.repeat(noise[:, None], V.shape[1], axis=1).astype(np.float32)
            sound, heft = odds.judge(V, prediction.astype(np.float32), spread, learn=not alone, rounds=3)
        return cls(V, seen, odds, sound, heft, np.ones(V.shape[1], np.float32), alone)

    def part(self, places: npt.NDArray[np.intp]) -> Columns:
        """Some of the columns."""
        V, seen = self.V[:, places], self.seen[:, places]
        odds = None if self.odds is None else self.odds.of(V, seen)
        sound, heft = self.sound[:, places], self.heft[:, places]
        return Columns(V, seen, odds, sound, heft, self.loudness[places], self.alone, self.usual)

    @property
    def suspects(self) -> npt.NDArray[np.float64]:
        """The share of suspects in each column."""
        return np.asarray((self.seen & (self.sound < 0.5)).mean(axis=0))

    @property
    def weights(self) -> Array:
        return self.sound * self.heft / np.square(self.loudness)

    def look(self, span: Span, *, learn: bool = True) -> None:
        """Explain the columns by a span, and judge each entry by what the others predict."""
        made = explain(span, self.V, self.weights)
        kept = 1 - np.minimum(self.weights * made.leverage, np.float32(0.999))
        miss = np.clip((self.V - made.predicted) / (span.noise[:, None] * kept), -1e7, 1e7)
        self.explained = made
        self.others = self.V - span.noise[:, None] * miss
        self.loudness = self._loudness(miss * np.sqrt(kept))
        open_ = made.leverage / kept
        self.deviation = span.noise[:, None] * np.sqrt(np.square(self.loudness) + open_)
        if self.odds is None:
            z = (self.V - self.others) / self.deviation
            self.heft = (1 + 1 / FREEDOM) / (1 + z * z / FREEDOM)
        else:
            self.sound, self.heft = self.odds.judge(self.V, self.others, self.deviation, learn=learn)

    def _loudness(self, miss: Array) -> Array:
        counted = self.seen if self.odds is None else self.seen & ~self.odds.is_atom
        count = counted.sum(axis=0)
        own = quantile_of(np.abs(miss), counted, axis=0)
        if not self.alone and (count > 0).any():
            self.usual = max(float(np.median(own[count > 0])), 1e-12)
        times = np.where(count > 0, own / self.usual, 1)
        mixed = np.sqrt((OWN_ENTRIES + count * np.square(times)) / (OWN_ENTRIES + count))
        return np.asarray(np.clip(mixed, 0.5, LOUDEST), dtype=np.float32)

    def learn(self, span: Span) -> Span:
        """The span again, from these columns as it explained them."""
        assert self.explained is not None
        assert self.others is not None
        assert self.deviation is not None
        weights, counted, target = self.weights, self.sound, self.V
        if self.odds is not None:
            target = self.odds.stands_for(self.V, self.others, self.deviation)
            counted = np.where(self.odds.is_atom, 0, self.sound)
        missed = (self.V - self.explained.predicted) * (self.V - self.others)
        square = np.einsum("fn,fn,fn->f", weights, counted / np.maximum(self.sound, 1e-9), missed)
        noise = floored(np.sqrt(np.maximum(square, 0) / np.maximum(counted.sum(axis=1), 1)))
        return refitted(span, target, weights, self.explained.z, self.explained.covariance, noise)

    def grown(self, span: Span, K: int) -> Span:
        """The span with the directions that its residuals suggest."""
        assert self.explained is not None
        rest = self.sound * self.heft * (self.V - self.explained.predicted) / span.noise[:, None]
        rest -= span.basis @ (span.basis.T @ rest)
        added, variances = main_directions(rest, K - span.K)
        return _span(
            span.mean,
            span.noise,
            np.concatenate([span.basis, added], axis=1),
            np.concatenate([span.spread, np.maximum(variances, 1)]),
        )

    @property
    def log_density(self) -> float:
        """Of entries, given the others of their columns, on average."""
        return float(self._log_densities()[self.seen].mean()) if self.odds is None else self.odds.log_density

    @property
    def by_column(self) -> Array:
        """The same of each column."""
        if self.odds is not None:
            return self.odds.by_column
        total = np.where(self.seen, self._log_densities(), 0).sum(axis=0)
        return np.asarray(total / np.maximum(self.seen.sum(axis=0), 1))

    def _log_densities(self) -> Array:
        assert self.others is not None
        assert self.deviation is not None
        z = (self.V - self.others) / self.deviation
        return np.asarray(-(FREEDOM + 1) / 2 * np.log1p(z * z / FREEDOM) - np.log(self.deviation))

    @property
    def error(self) -> float:
        """The root mean square error with which sound entries are predicted from the others."""
        assert self.others is not None
        missed = float((self.sound * np.square(self.V - self.others)).sum(dtype=np.float64))
        return float(np.sqrt(missed / max(float(self.sound.sum(dtype=np.float64)), 1)))


@dataclass(frozen=True, eq=False)
class Rung:
    """A span on the ladder, how well it predicts, and how far its usual column is off (`Columns.usual`)."""

    span: Span
    log_density: float
    error: float
    wrong: float
    usual: float

    @property
    def K(self) -> int:
        return self.span.K


def climb(
    columns: Columns,
    prediction: Array,
    Ks: tuple[int, ...],
    on_rung: Callable[[Rung], bool | None],
    *,
    most_are_sound: bool = True,
) -> None:
    """Learn spans with rising K; until `on_rung` returns True. Where half of the entries are wrong, a
    regression of a row would follow them: then not `most_are_sound`.
    """
    noise = row_noise(columns.V - prediction, columns.seen)
    filled = np.where(columns.sound > 0.5, columns.V, prediction)
    mean = filled.mean(axis=1)
    basis, spread = main_directions((filled - mean[:, None]) / noise[:, None], Ks[0])
    span = _span(mean, noise, basis, spread)
    for K in Ks:
        if span.K < K:
            span = columns.grown(span, K)
        for _ in range(STEPS):
            columns.look(span)
            span = columns.learn(span)
        columns.look(span)
        span = explain_rows_otherwise(columns, span, most_are_sound=most_are_sound)
        wrong = float((columns.seen & (columns.sound < 0.5)).sum() / max(int(columns.seen.sum()), 1))
        # Each number of the span follows the noise of one entry.
        density = columns.log_density - K / columns.V.shape[1]
        if on_rung(Rung(span, density, columns.error, wrong, columns.usual)):
            break


def climb_again(columns: Columns, rungs: list[Rung]) -> None:
    """Let other columns climb to the last of these rungs, each on its own."""
    for rung in rungs if columns.odds is not None else rungs[-1:]:  # what is sound needs no way up
        columns.usual = rung.usual
        for _ in range(LOOKS):
            columns.look(rung.span, learn=False)


def usual_in(columns: Columns) -> tuple[float, float]:
    """The usual share of suspects in a column, and the density that only well explained ones reach."""
    return float(np.median(columns.suspects)), float(np.quantile(columns.by_column, POORLY))


def explain_otherwise(columns: Columns, span: Span, usual: tuple[float, float] | None = None) -> None:
    """Columns with many suspects, or with a low density, are explained once more from other starts: that all
    of their entries are sound; that some are too dark; that some are too bright.

    On the way up an unusual column may lose its sound entries: what looked wrong with few dimensions is not
    taken back in. An entry on the side that may be wrong has the small weight that an adversary leaves it. Of
    all explanations the one with the highest density is kept.

    `usual` is what `usual_in` says, by default of these columns.
    """
    if columns.odds is None:
        return
    share, density = usual_in(columns) if usual is None else usual
    many, by_column = columns.suspects > share + UNUSUAL * (1 - share), columns.odds.by_column
    worst = np.flatnonzero(many | (by_column <= density))
    best = by_column[worst]
    for side in (0, -1, 1) if worst.size else ():
        again = columns.part(worst)
        assert again.odds is not None
        again.sound = (again.seen & ~again.odds.is_atom).astype(np.float32)
        again.heft, again.loudness = np.ones_like(again.heft), np.ones_like(again.loudness)
        for _ in range(ONE_SIDED if side else 0):
            miss = again.V - explain(span, again.V, again.weights).predicted
            again.heft = np.where(miss * side > 0, LIGHT, np.float32(1))
        for _ in range(STEPS):
            again.look(span, learn=False)
        found = again.odds.by_column
        better = found > best
        taken = worst[better]
        best[better] = found[better]
        columns.sound[:, taken] = again.sound[:, better]
        columns.heft[:, taken] = again.heft[:, better]
        columns.loudness[taken] = again.loudness[better]
    columns.look(span, learn=False)


def explain_rows_otherwise(columns: Columns, span: Span, *, most_are_sound: bool = True) -> Span:
    """Rows with many suspects, and rows with far more noise than others, are explained once more, by a robust
    regression on what the other rows say. The better explanation is kept.

    On the way up a row may lose its sound entries: what few dimensions could not explain in it looked wrong,
    and further dimensions are not learned from what looks wrong. Or its wrong entries may be taken for noise;
    then they are on one side, and have a small weight at first, that of attacked entries.
    """
    if columns.odds is None:
        return span
    share = (columns.seen & (columns.sound < 0.5)).sum(axis=1) / np.maximum(columns.seen.sum(axis=1), 1)
    usual = float(np.median(share))
    many = share > usual + UNUSUAL * (1 - usual)
    relative = span.noise / np.maximum(np.abs(span.mean), floored(span.noise))
    noisy = relative > NOISIER * np.median(relative)
    for rows, side in (((many, 0),) if most_are_sound else ()) + ((noisy, -1),):
        span = _rows_again(columns, span, rows, side)
    return span


def _rows_again(columns: Columns, span: Span, rows: Mask, side: int) -> Span:
    """With `side`, wrong entries of these rows are on that side of what is right."""
    assert columns.odds is not None
    telling = (columns.seen & ~columns.odds.is_atom).sum(axis=1) > 2 * (span.K + 1)
    unusual = np.flatnonzero(telling & rows)
    if not unusual.size:
        return span
    weights = columns.weights.copy()
    weights[unusual] = 0
    z = explain(span, columns.V, weights).z
    known = np.column_stack([z, np.ones(len(z))]).astype(np.float64)
    mean, noise, basis = (part.astype(np.float64) for part in (span.mean, span.noise, span.basis))
    least = float(floored(noise).min())
    again = replace(columns, sound=columns.sound.copy(), odds=copy(columns.odds))
    for row in unusual:
        counted = columns.seen[row] & ~columns.odds.is_atom[row]
        found, spread = _regressed(known[counted], columns.V[row, counted], least, side)
        if side:
            again.sound[row] = counted & (np.abs(columns.V[row] - known @ found) < NEAR * spread)
        mean[row], noise[row], basis[row] = found[-1], spread, found[:-1] / spread
    made = _orthonormal(mean, noise, basis, np.diag(span.spread.astype(np.float64)))
    try:
        for _ in range(STEPS):
            again.look(made)
            made = again.learn(made)
        again.look(made)
    except np.linalg.LinAlgError:  # too few entries were left to tell all coordinates
        return span
    gained = (again.log_density - columns.log_density) * len(columns.V) / unusual.size
    if not gained > (WORTH_A_ROW if side else 0):
        return span
    vars(columns).update(vars(again))
    return made


def _regressed(x: Array, row: Array, least: float, side: int) -> tuple[Array, float]:
    """A robust regression, and the noise around it; `least` is the least possible."""
    v, weight, ridge = row.astype(np.float64), np.ones(len(row)), 1e-9 * np.eye(x.shape[1])
    for number in range(REGRESSED):
        weighted = x * weight[:, None]
        gram = weighted.T @ x
        found = np.linalg.solve(gram + np.trace(gram) * ridge, weighted.T @ v)
        miss = v - x @ found
        if side and number < ONE_SIDED:
            weight = np.where(miss * side > 0, float(LIGHT), 1.0)
            continue
        sizes = np.abs(miss[miss * side <= 0])
        noise = max(float(np.quantile(sizes, QUANTILE)) / NORMAL_QUANTILE if sizes.size else 0.0, least)
        weight = 1 / (1 + np.square(miss / noise))
    return found, noise


def row_noise(residual: Array, seen: Mask) -> Array:
    """The standard deviation of each row, while most of its entries are sound."""
    return floored(np.nan_to_num(quantile_of(np.abs(residual), seen, axis=1)) / NORMAL_QUANTILE)


def floored(noise: Array) -> Array:
    return np.maximum(noise, max(ROUNDING, LEAST_NOISE * float(np.sqrt(np.square(noise).mean()))))


def quantile_of(size: Array, counted: Mask, axis: int, share: float = QUANTILE) -> npt.NDArray[np.float64]:
    """A quantile of each row or column over its counted entries; NaN if none."""
    ordered = np.sort(np.where(counted, size, np.inf), axis=axis)
    count = counted.sum(axis=axis)
    place = np.expand_dims(np.maximum(0, np.ceil(share * count).astype(int) - 1), axis)
    found = np.take_along_axis(ordered, place, axis=axis).squeeze(axis).astype(np.float64)
    return np.where(count > 0, found, np.nan)


def brighter_or_darker(V: Array, seen: Mask, middle: Array) -> Floats:
    """The first prediction: each column is the median column, brighter or darker. Holds while most of every
    row and column is sound.
    """
    return (middle[:, None] * _brightness(np.where(seen, V, np.nan), middle)).astype(np.float32)


def median_column(V: Array, seen: Mask) -> Floats:
    """The median column, each column being as bright as the others."""
    known = np.where(seen, V, np.nan)
    brightness = _brightness(known, _median(known, 1))
    usual = float(np.median(brightness)) or 1.0
    return _median(known / np.maximum(brightness, 1e-3 * abs(usual)), 1).astype(np.float32)


def _brightness(known: Array, middle: Array) -> Array:
    telling = middle > 0.05 * middle.max() if middle.max() > 0 else np.abs(middle) > 0
    return _median(known[telling] / middle[telling, None], 0) if telling.any() else np.ones(known.shape[1])


def _median(known: Array, axis: int) -> Array:
    """Of what is known; 0 where nothing is."""
    return np.nan_to_num(quantile_of(np.nan_to_num(known), ~np.isnan(known), axis, 0.5))


def possible_Ks(shape: tuple[int, int]) -> tuple[int, ...]:
    """The rungs of the ladder that data of this shape supports."""
    most = max(1, int(min(shape) / ROWS_PER_PART))
    return tuple(K for K in RUNGS if most >= K)
