"""What the pixels of a face tell of those beside them.

A column is an image. Its pixels are normally distributed; their covariance is a mixture of the sample's and
of its stationary part, which only depends on how far apart two pixels are and is worth half as many images as
they have pixels. Each entry has a prediction from all others of its image: with the inverse Q of the
covariance of the known pixels, that prediction misses it by [Q x]_f / Q_ff, with the variance 1 / Q_ff.

What is missing is predicted from what is known; the covariance is learned again with that, a few times.
Sharp edges are not normally distributed: the solution of the biharmonic equation is mixed in by the share
that held-out entries ask for.

What is wrong is not known at first. An entry is predicted by a quantile of those beside it; then, round by
round, by the covariance of what looks sound so far. How far sound entries are from their predictions is told
by the cleaner of both sides, for each place of an image from around it: at eyes and mouth they are off by
more than on a cheek. Below and above there are shares of wrong entries, with a flat density, as in `odds`.

Large images are predicted in windows that overlap.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import numpy.typing as npt

from ..datasets.dataset import Layout
from ..model.problem import Array, Mask
from .holdout import hold_out_entries, hold_out_gaps

PASSES, PASSES_WITH_DEFECTS = 3, 9
"""How often the covariance is learned; where defects are left out, they become clearer from time to time."""
LEARNED_FROM = 500
"""Images that cuts, deviations and the share of the biharmonic equation are learned from."""
MOST_WORK = 2e11
"""Images x pixels^3 beyond which images are cut into windows."""
WINDOW, APART = 16, 10
"""The side of windows, and how far apart they begin."""
BESIDE = 0.6
"""Of the pixels beside an entry, this quantile predicts it at first; more are too dark than too bright."""
DARK, BRIGHT = 0.1, 0.02
"""Shares of wrong entries at first."""
QUANTILES, NORMAL = (0.35, 0.5), 0.6745
"""The quantile of residuals that their scale is taken from: a low one at first, when many entries are wrong,
then the median; and the median of a normal distribution.
"""
AROUND, USUAL, FAR = 5, 4.0, 5.0
"""Residuals are compared with those in a square of such a side, and with so many usual ones; larger ones than
the last count as that.
"""
NARROWEST = 4.0
"""Wrong entries spread over at least so many deviations."""
CUTS = (0.3, 0.5)
"""Entries that are less probably sound have no influence on others. Which cut is better depends on the faces:
that with the higher density is taken.
"""
WITHIN_ONE = 0.683
"""So many errors are within a deviation."""
LEAST_MIXED = 0.1
"""The least share of the biharmonic equation that pays for solving it."""


@dataclass(frozen=True, eq=False)
class Field:
    """Images whose pixels predict each other.

    Attributes
    ----------
    predicted, deviation : F x n, what all known entries make of each, and its standard deviation. A known
        entry is itself.
    others : F x n, the prediction of each entry from the other ones.
    sound : F x n, the probability of each entry of being sound; 0 where it is missing.
    ratios : |error| / deviation of entries that were predicted without being known.
    """

    predicted: Array
    deviation: Array
    others: Array
    sound: Array
    ratios: Array


def face_field(V: Array, seen: Mask, layout: Layout, losses: str, seed: int) -> Field:
    """Images (columns of V) with what is missing predicted and, with "unmarked" losses, what looks wrong."""
    field = filled if losses == "marked" else judged
    F, N = V.shape
    if N * F**3 <= MOST_WORK:
        return field(V, seen, layout, seed)
    predicted, deviation, others, sound = np.zeros((4, F, N))
    made = Field(predicted, deviation, others, sound, np.empty(0))
    nearest = np.full(F, np.inf)
    pixels = layout.unfold(np.arange(F)[:, None])[0]
    for window in _windows(pixels.shape):
        places = pixels[window]
        inside = field(V[places.ravel()], seen[places.ravel()], Layout("faces", places.shape, "C"), seed)
        # Each pixel is predicted in the window in whose middle it is.
        row, col = np.indices(places.shape) - (np.array(places.shape)[:, None, None] - 1) / 2
        apart = np.maximum(np.abs(row), np.abs(col)).ravel()
        best = np.flatnonzero(apart < nearest[places.ravel()])
        taken = places.ravel()[best]
        nearest[taken] = apart[best]
        for name in ("predicted", "deviation", "others", "sound"):
            getattr(made, name)[taken] = getattr(inside, name)[best]
        made = replace(made, ratios=np.concatenate([made.ratios, inside.ratios]))
    return made


def _windows(shape: tuple[int, ...]) -> Iterator[tuple[slice, ...]]:
    begins = ([*range(0, max(size - WINDOW, 0), APART), max(size - WINDOW, 0)] for size in shape)
    for corner in product(*begins):
        yield tuple(slice(begin, begin + WINDOW) for begin in corner)


def filled(V: Array, seen: Mask, layout: Layout, seed: int) -> Field:
    """Images (columns of V) with what is missing predicted."""
    from .rivals import inpaint

    some = _some(V.shape[1])
    held = hold_out_gaps(seen[:, some], layout, seed=seed)
    images, shown = V[:, some], seen[:, some] & ~held
    smooth = inpaint(images, shown, layout)
    without = _learned(images, shown, smooth, layout)
    apart, missed = (smooth - without.predicted)[held], (images - without.predicted)[held]
    share = float(np.clip((apart @ missed) / max(float(apart @ apart), 1e-30), 0, 1))
    if share < LEAST_MIXED:
        share = 0.0
    made = _learned(V, seen, np.where(seen[:, some], images, without.predicted), layout)
    if share:
        made = replace(made, predicted=made.predicted + share * (inpaint(V, seen, layout) - made.predicted))
    return replace(made, ratios=np.abs(missed - share * apart) / without.deviation[held])


def judged(V: Array, seen: Mask, layout: Layout, seed: int) -> Field:
    """Images (columns of V) with what is missing and what looks wrong predicted."""
    some = _some(V.shape[1])
    tried = [_Judgement(V[:, some], seen[:, some], layout, cut) for cut in CUTS]
    cut = max(tried, key=lambda judgement: judgement.log_density).cut
    made = _Judgement(V, seen, layout, cut)
    # What was learned from an entry fits it too well: some are held out, to see by how much.
    known = made.sound[:, some] > 0.5
    held = hold_out_entries(known, seed=seed)
    start = np.where(known & ~held, V[:, some], made.others[:, some])
    without = _learned(V[:, some], known & ~held, start, layout)
    ratios = (np.abs(V[:, some] - without.predicted) / (without.deviation * made.livelier[:, some]))[held]
    usual = float(np.quantile(ratios, WITHIN_ONE))
    made.deviation *= usual
    sound = made.sound
    # A suspect may be sound after all: then it is off by as much as it was thought to be wrong.
    made.judge(rounds=1)
    doubt = np.where(seen, made.sound * np.square(V - made.others), 0)
    return Field(
        np.where(sound > 0.5, V, made.others),
        np.sqrt(np.square(made.deviation) + doubt),
        made.others,
        sound,
        ratios / usual,
    )


def _some(n: int) -> npt.NDArray[np.intp]:
    return np.linspace(0, n - 1, min(n, LEARNED_FROM)).astype(np.intp)


def _learned(V: Array, seen: Mask, start: Array, layout: Layout) -> Field:
    """Images given what is known of them. `start` is some of them, made whole somehow."""
    apart, full = _displacements(layout), start
    unknown: Array = np.zeros((len(V), len(V)))
    for _ in range(PASSES):
        made, unknown = _conditioned(V, seen, *_moments(full, unknown, apart))
        full = made.predicted
    return made


class _Judgement:
    """Which entries of images are sound, and what the others make of each.

    Attributes
    ----------
    cut : entries that are less probably sound have no influence.
    sound : F x n, the probability of each entry.
    others, deviation : F x n, the prediction from other entries, and how far sound ones are from it.
    livelier : F x n, that deviation in multiples of the covariance's.
    shares : of wrong entries, below and above their prediction.
    log_density : of the entries, on average.
    """

    def __init__(self, V: Array, seen: Mask, layout: Layout, cut: float) -> None:
        self.V, self.seen, self.cut = V, seen, cut
        self.low, self.high = min(float(V[seen].min()), 0.0), float(V[seen].max())
        self.shares, self.sound = (DARK, BRIGHT), seen.astype(np.float64)
        self.others = _beside(V, seen, layout)
        self.deviation = np.full(V.shape, self._cleaner(np.ones_like(V), QUANTILES[0]))
        self.judge()
        apart = _displacements(layout)
        unknown: Array = np.zeros((len(V), len(V)))
        for _ in range(PASSES_WITH_DEFECTS):
            full = self.sound * V + (1 - self.sound) * self.others
            made, unknown = _conditioned(V, seen & (self.sound > cut), *_moments(full, unknown, apart))
            self.others = made.others
            usual = self._cleaner(made.deviation, QUANTILES[1])
            self.livelier = usual * self._around(usual * made.deviation, layout)
            self.deviation = self.livelier * made.deviation
            self.judge()

    def judge(self, rounds: int = 3) -> None:
        """The odds of all entries, and the shares of wrong ones."""
        z = (self.V - self.others) / self.deviation
        # Student's t distribution with three degrees of freedom.
        density = 0.3676 / np.square(1 + z * z / 3) / self.deviation
        below = z < 0
        room = np.where(below, self.others - self.low, self.high - self.others)
        flat = 1 / np.maximum(room, NARROWEST * self.deviation)
        for _ in range(rounds):
            right = (1 - sum(self.shares)) * density
            total = right + np.where(below, *self.shares) * flat
            self.sound = np.where(self.seen, right / total, 0)
            wrong: Array = self.seen - self.sound
            under, over = (float(wrong[side].sum() / self.seen.sum()) for side in (below, ~below))
            self.shares = min(max(under, 1e-5), 0.6), min(max(over, 1e-5), 0.4)
        self.log_density = float(np.log(total[self.seen]).mean())

    def _cleaner(self, deviation: Array, quantile: float) -> float:
        """How large residuals are in deviations, on the side where they are smaller."""
        z = ((self.V - self.others) / deviation)[self.seen]
        scales = [float(np.quantile(side, quantile)) for side in (-z[z < 0], z[z > 0]) if side.size]
        return max(min(scales, default=1.0) / NORMAL, 1e-12)

    def _around(self, deviation: Array, layout: Layout) -> Array:
        """The same around each pixel of an image."""
        # Loaded late: a page that shows results alone does not need it.
        from scipy.ndimage import uniform_filter

        z, found = (self.V - self.others) / deviation, []
        for side in (z < 0, z > 0):
            counted = self.sound * side
            weights, squares = (
                AROUND**2 * uniform_filter(layout.unfold(each), (0, AROUND, AROUND), mode="constant")
                for each in (counted, counted * np.minimum(np.square(z), FAR**2))
            )
            found.append((squares + USUAL) / (weights + USUAL))
        return layout.fold(np.sqrt(np.minimum(*found)))


def _moments(full: Array, unknown: Array, apart: npt.NDArray[np.intp]) -> tuple[Array, Array]:
    """The mean and the covariance of images, given the covariance of what was filled in."""
    F, n = full.shape
    sample = np.cov(full).reshape(F, F) + unknown
    trust = F / (F + 2 * n)
    return full.mean(axis=1), (1 - trust) * sample + trust * _stationary(sample, apart)


def _beside(V: Array, seen: Mask, layout: Layout) -> Array:
    """A quantile of the eight pixels beside each."""
    images = np.pad(
        layout.unfold(np.where(seen, V, np.nan)), ((0, 0), (1, 1), (1, 1)), constant_values=np.nan
    )
    moved = [np.roll(images, (down, right), (1, 2)) for down in (-1, 0, 1) for right in (-1, 0, 1)]
    around = np.sort([one[:, 1:-1, 1:-1] for one in moved[:4] + moved[5:]], axis=0)
    last = np.maximum((~np.isnan(around)).sum(axis=0) - 1, 0)
    place = np.round(BESIDE * last).astype(np.intp)
    found = layout.fold(np.take_along_axis(around, place[None], axis=0)[0])
    return np.where(np.isnan(found), V[seen].mean(), found)


def _displacements(layout: Layout) -> npt.NDArray[np.intp]:
    """For each pair of pixels a number that says how far apart they are."""
    assert layout.image_shape is not None
    rows, cols = layout.image_shape
    pixels = np.arange(rows * cols)
    row, col = np.divmod(pixels, cols) if layout.order == "C" else np.divmod(pixels, rows)[::-1]
    down, right = row[:, None] - row + rows - 1, col[:, None] - col + cols - 1
    found: npt.NDArray[np.intp] = down * (2 * cols - 1) + right
    return found


def _stationary(covariance: Array, apart: npt.NDArray[np.intp]) -> Array:
    """The covariance that only depends on how far apart two pixels are.

    The average over pairs is not positive definite; its directions are kept, each with the variance that the
    covariance has there.
    """
    places = apart.ravel()
    mean = np.bincount(places, weights=covariance.ravel()) / np.maximum(np.bincount(places), 1)
    _, directions = np.linalg.eigh(mean[apart])
    variances = np.einsum("ij,ij->j", directions, covariance @ directions)
    least = 1e-3 * float(np.median(np.abs(variances))) + 1e-12
    made: Array = (directions * np.maximum(variances, least)) @ directions.T
    return made


def _conditioned(V: Array, known: Mask, mean: Array, covariance: Array) -> tuple[Field, Array]:
    """All entries given the known ones, and the covariance of the unknown ones on average."""
    from scipy.linalg import cho_factor, cho_solve

    F, N = V.shape
    precision = np.linalg.inv(covariance + 1e-9 * np.trace(covariance) / F * np.eye(F))
    diagonal = np.diag(precision)
    rest = np.where(known, V - mean[:, None], 0).astype(np.float64)
    pulled = precision @ rest
    predicted, deviation, others = (np.empty((F, N)) for _ in range(3))
    average = np.zeros((F, F))
    for n in range(N):
        gone = np.flatnonzero(~known[:, n])
        own, pull = diagonal.copy(), pulled[:, n]
        if gone.size:
            part = precision[np.ix_(gone, gone)]
            factor = cho_factor(part, check_finite=False)
            inverse = cho_solve(factor, np.eye(gone.size), check_finite=False)
            shift = inverse @ pull[gone]
            across = precision[:, gone]
            own -= np.einsum("fu,fu->f", across @ inverse, across)
            pull = pull - across @ shift
            average[np.ix_(gone, gone)] += inverse / N
        own = np.maximum(own, 1e-12 * diagonal)
        others[:, n] = V[:, n] - pull / own
        deviation[:, n] = 1 / np.sqrt(own)
        predicted[:, n] = V[:, n]
        if gone.size:
            predicted[gone, n] = others[gone, n] = mean[gone] - shift
            deviation[gone, n] = np.sqrt(np.diag(inverse))
    return Field(predicted, deviation, others, known.astype(np.float64), np.empty(0)), average
