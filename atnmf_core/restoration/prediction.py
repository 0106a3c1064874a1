"""What is known of every entry: from the other entries of its column, and from its neighbours.

Stripes are looked for before anything is chosen, since many dimensions can learn what pixels of one image
column share. Then the chosen span is learned from all columns, and those that it explains badly are explained
otherwise. Pixels that look alike are averaged where that predicts better; lost pixels are interpolated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..datasets.dataset import Layout
from ..model.problem import Array, Mask
from .choice import Ladder, Treatment, choose
from .faces import face_field
from .lines import MOSTLY, line_offsets
from .odds import FREEDOM, START
from .span import ROWS_PER_PART, Columns, Span, climb_again, explain, explain_otherwise, refitted

ROUNDS = 3
"""How often the span is learned from all columns, and stripes are looked for."""
FEW_PARTS = (4, 8, 16)
"""Dimensions with which stripes are looked for at first."""
TOGETHER = 5
"""Rounds in which it is learned how much of a pixel's doubted entries is wrong."""
FINER = 2
"""Times the chosen number of dimensions in smoothed data."""
EXACTLY = 0.01
"""Parts of faces are all but exact where they miss so small a share of what neighbours miss."""
BESIDE = 3
"""Lost pixels are as hard to interpolate as pixels this near to them vary."""


def stripes(known: Array, seen: Mask, layout: Layout, seed: int) -> Array:
    """Offsets of lines, found with few dimensions: many can learn what pixels of one image column share."""
    offsets = np.zeros(known.shape, np.float32)
    for K in sorted({min(few, *known.shape) for few in FEW_PARTS}):
        V = np.where(seen, known - offsets, 0).astype(np.float32)
        ladder, _ = choose(V, seen, "unmarked", K=K, treatments=(Treatment(),), seed=seed)
        columns = ladder.columns(V, seen)
        climb_again(columns, ladder.rungs)
        by = _offsets_of(columns, seen, layout)
        if not by.any():
            break
        offsets += by
    return offsets


def _offsets_of(columns: Columns, seen: Mask, layout: Layout) -> Array:
    assert columns.odds is not None
    assert columns.others is not None
    counted = seen & ~columns.odds.is_atom
    return line_offsets(columns.V - columns.others, counted, layout)


@dataclass(frozen=True, eq=False)
class Prediction:
    """What is known of all entries, in units of `scale`."""

    V: Array
    columns: Columns
    span: Span
    predicted: Array
    deviation: Array
    others: Array
    sound: Array
    offsets: Array | None
    is_smoothed: bool
    reach: Array
    """The deviation of entries around what the others predict."""
    ratios: Array | None = None
    """|error| / deviation of entries that were predicted as if they were gaps."""


def predict(
    known: Array,
    seen: Mask,
    ladder: Ladder,
    layout: Layout,
    seed: int = 0,
    doubted: Mask | None = None,
) -> Prediction:
    """Of all columns. The span is first learned without `doubted` entries, and they are judged by it."""
    columns = ladder.columns(known, seen if doubted is None else ~doubted)
    climb_again(columns, ladder.rungs)
    span, offsets = ladder.rungs[-1].span, None
    for number in range(ROUNDS):
        if layout.kind != "faces":  # there neighbours decide, from the suspects of the way up
            explain_otherwise(columns, span)
        span = columns.learn(span)
        columns.look(span)
        if doubted is not None and columns.odds is not None and number == 0:
            columns.seen, columns.odds = seen, columns.odds.of(columns.V, seen)
            columns.look(span, learn=False)
            # What is wrong there stays left out.
            columns.seen = seen & ~(doubted & (_judged_together(columns, seen & doubted) < 0.5))
            columns.odds = columns.odds.of(columns.V, columns.seen)
            columns.look(span)
        if columns.odds is not None and layout.kind == "cube" and number < ROUNDS - 1:
            by = _offsets_of(columns, seen, layout)
            if by.any():
                offsets = by if offsets is None else offsets + by
                columns.V = np.where(seen, known - offsets, 0).astype(np.float32)
    model = _by_columns(known, columns, span, offsets)
    if layout.kind == "cube":
        model = _with_alike_pixels(model, layout)
    if layout.kind == "faces":
        losses = "marked" if columns.odds is None else "unmarked"
        made = face_field(known.astype(np.float64), seen, layout, losses, seed)
        # Only parts that describe images all but exactly are better than what is beside a pixel.
        parts, neighbours = (
            np.median(np.abs(known - others)[seen]) for others in (model.others, made.others)
        )
        if EXACTLY * neighbours < parts:
            model = replace(model, **vars(made), reach=made.deviation)
    return model


def _judged_together(columns: Columns, where: Mask) -> Array:
    """The probability of being sound, if most of a column's entries that lie there are right, or wrong."""
    assert columns.odds is not None
    usual = columns.odds.below + columns.odds.above
    ratio = np.where(where, (1 - columns.sound) / np.maximum(columns.sound, 1e-30) * (1 - usual) / usual, 0)
    count, sound = np.maximum(where.sum(axis=0), 1), columns.sound
    share = np.full(len(count), 0.5)
    for _ in range(TOGETHER):
        sound = 1 / (1 + ratio * share / (1 - share))
        share = np.clip(np.where(where, 1 - sound, 0).sum(axis=0) / count, START, 1 - START)
    return sound


def _by_columns(V: Array, columns: Columns, span: Span, offsets: Array | None) -> Prediction:
    made = columns.explained
    assert made is not None
    assert columns.others is not None
    assert columns.deviation is not None
    square = np.square(columns.loudness)
    variance = square + made.leverage * (1 - 2 * columns.weights * square)
    deviation = span.noise[:, None] * np.sqrt(np.maximum(variance, 0.01 * square))
    return Prediction(
        V,
        columns,
        span,
        made.predicted,
        deviation,
        columns.others,
        columns.sound,
        offsets,
        False,
        columns.deviation,
    )


def _with_alike_pixels(model: Prediction, layout: Layout) -> Prediction:
    """With pixels that look alike averaged, where that predicts better; and lost ones interpolated."""
    columns = model.columns
    known = columns.sound > 0.5
    lost: Mask = np.asarray(~known.any(axis=0))
    assert columns.explained is not None
    if not lost.any():
        made = smoothed(model.span, columns, layout)
        if made.pays:
            # With little noise left, more dimensions can be told from it.
            most = int(min(known.shape) / ROWS_PER_PART)
            finer = columns.grown(model.span, max(model.span.K, min(FINER * model.span.K, most)))
            model = _better(model, smoothed(finer, columns, layout))
    elif lost.any() and not lost.all():
        z = interpolated(columns.explained.z, lost, layout)
        predicted = model.predicted.copy()
        predicted[:, lost] = model.span.at(z[lost])
        deviation = model.deviation.copy()
        deviation[:, lost] = _lost_deviation(model, z, lost, layout)[:, None]
        model = replace(model, predicted=predicted, deviation=deviation)
    return model


def _better(model: Prediction, made: Smoothed) -> Prediction:
    columns, noise = model.columns, made.span.noise[:, None]
    rest = columns.V - made.predicted
    others = columns.V - rest / (1 - made.own)

    def missed(prediction: Array) -> float:
        # As of Student's t distribution: a few entries that are far off do not decide.
        z = (columns.V - prediction) / noise
        return float((columns.sound * np.log1p(np.square(z) / FREEDOM)).sum(dtype=np.float64))

    if not made.pays or missed(others) >= missed(model.others):
        return model
    spread = np.maximum(_row_spread(columns.V - others, columns.sound), 1e-3 * made.span.noise)
    reach = np.repeat(spread[:, None], columns.V.shape[1], axis=1).astype(np.float32)
    sound = columns.sound
    if columns.odds is not None:
        sound, _ = columns.odds.judge(columns.V, others.astype(np.float32), reach)
    # The residuals are noise, which the entry's own share follows in part, and what the prediction misses.
    # Noise is known from the same span without smoothing; of the difference only the average is reliable.
    share = made.own.mean(axis=1)
    unsmoothed = explain(made.span, columns.V, columns.weights)
    followed = np.minimum(columns.weights * unsmoothed.leverage, np.float32(0.999))
    squares = np.square(rest), np.square(columns.V - unsmoothed.predicted) / (1 - followed)
    residual, alone = (_row_mean(square, columns.sound) for square in squares)
    variance = np.maximum(alone, 1e-6 * made.span.noise**2)
    left = float(np.mean((residual - alone * (1 - 2 * share)) / variance))
    factor = np.sqrt(max(left / float(share.mean()), 1))
    deviation = factor * np.sqrt(variance)[:, None] * np.sqrt(made.own)
    return replace(
        model,
        span=made.span,
        predicted=made.predicted,
        others=others,
        sound=sound,
        deviation=deviation,
        reach=reach,
        is_smoothed=True,
    )


def _row_mean(values: Array, weights: Array) -> Array:
    total = np.maximum(weights.sum(axis=1), 1)
    return np.asarray((weights * values).sum(axis=1) / total)


def noise_of(columns: Columns) -> Array:
    """F, the standard deviation of sound entries around what the span predicts, without its errors."""
    assert columns.explained is not None
    assert columns.others is not None
    product = (columns.V - columns.explained.predicted) * (columns.V - columns.others)
    return np.sqrt(np.maximum(_row_mean(product, columns.sound), 0))


def _row_spread(rest: Array, weights: Array) -> Array:
    return np.sqrt(_row_mean(np.square(rest), weights))


def _lost_deviation(model: Prediction, z: Array, lost: Mask, layout: Layout) -> Array:
    """F, how far interpolation is off where the lost pixels are moved to pixels that are there, given the
    interpolated coordinates.
    """
    from scipy.ndimage import maximum_filter

    where = layout.unfold(lost[None])[0]
    # Within the image if there is room, since interpolation is worse at its edge; round it if not.
    shifts = []
    for places, length in zip(np.nonzero(where), where.shape, strict=True):
        low, high = -int(places.min()), length - 1 - int(places.max())
        shifts.append(((2 * low + high) // 3, (low + 2 * high) // 3))
    moves = [*zip(*shifts, strict=True), (where.shape[0] // 2, where.shape[1] // 2)]
    maps = layout.unfold(np.ascontiguousarray(z.T))

    def variance_around(hole: Mask) -> float:
        around = maximum_filter(hole, 2 * BESIDE + 1) & ~hole
        return float(maps[:, around].var(axis=1).sum())

    squares, count = np.zeros(len(model.span.mean)), 0
    for move in moves:
        hole = np.roll(where, move, (0, 1))
        there = layout.fold(hole[None])[0]
        told = there & ~lost
        if told.sum() > MOSTLY * lost.sum() and (count == 0 or move != moves[-1]):
            moved = interpolated(z, there, layout)
            off = np.square(model.columns.V[:, told] - model.span.at(moved[told]))
            alike = variance_around(where) / max(variance_around(hole), 1e-30)
            squares += alike * _row_mean(off, model.columns.sound[:, told])
            count += 1
    return np.asarray(np.sqrt(squares / count) if count else np.abs(model.span.mean))


# What the neighbours of a pixel in a cube tell.
#
# The coordinates z of pixels (`span`) are K maps with noise of variance one. Where pixels look alike, but for
# noise, each is replaced by their average (non-local means): the weight of another pixel is at most 1, and
# exp(-(|z - z'|^2 - E) / WIDTH), where E is what noise alone makes of the distance. Spectra tell materials
# apart, so a single pixel is compared, not a patch. The second round compares what the first one has found.
# In clean data no two pixels are alike in units of noise, and nothing is smoothed. As averages have little
# noise left, the span is then learned again from them. It is done where it predicts entries better.
#
# Pixels of which nothing is known are interpolated: their maps solve the biharmonic equation.


REACH = 12
"""Pixels this far away are compared, in either direction."""
WIDTH = 8.0
"""A squared distance in units of noise beyond which pixels are hardly alike."""
TURNS = 2
"""How often the span is learned again from smoothed maps."""
ALIKE = 4
"""Where fewer pixels than this are alike, on average, there is little noise, and nothing is smoothed."""


@dataclass(frozen=True, eq=False)
class Smoothed:
    """A cube after smoothing.

    Attributes
    ----------
    span : learned from the smoothed maps.
    z : n x K, the smoothed coordinates.
    own : F x n, by how much the prediction of an entry follows the entry itself.
    """

    span: Span
    z: Array
    own: Array

    @property
    def predicted(self) -> Array:
        return self.span.at(self.z)

    @property
    def pays(self) -> bool:
        """Whether enough pixels are averaged to one."""
        return bool(np.square(self.span.basis).sum(axis=1).mean() >= ALIKE * self.own.mean())


def smoothed(span: Span, columns: Columns, layout: Layout) -> Smoothed:
    """The columns of a cube with their coordinates averaged over pixels that look alike."""
    made = _averaged(span, columns, layout)
    nothing = np.zeros((columns.V.shape[1], span.K * (span.K + 1) // 2), np.float32)
    for _ in range(TURNS if made.pays else 0):
        span = refitted(span, columns.V, columns.weights, made.z, nothing, span.noise)
        made = _averaged(span, columns, layout)
    return made


def _averaged(span: Span, columns: Columns, layout: Layout) -> Smoothed:
    assert columns.explained is not None
    filled = np.where(columns.sound > 0.5, span.units(columns.V), span.units(columns.explained.predicted))
    maps = layout.unfold(span.basis.T @ filled)
    # What is within the noise counts less: the coordinates' most probable values are compared.
    trust = (span.spread / (1 + span.spread))[:, None, None]
    guide, noise = maps * trust, 2 * float(np.square(trust).sum())
    for expected in (noise, 0.0):
        average, left, share = nonlocal_means(guide, maps, expected)
        variance = span.spread[:, None, None]
        guide = average * (variance / (variance + left))
    own = np.square(span.basis).sum(axis=1)[:, None] * layout.fold(share[None])
    return Smoothed(span, np.ascontiguousarray(layout.fold(guide).T), np.minimum(own, np.float32(0.999)))


def nonlocal_means(guide: Array, maps: Array, noise: float) -> tuple[Array, Array, Array]:
    """Maps (K x rows x cols) averaged over the pixels near each that look like it in the guide.

    Parameters
    ----------
    noise : what noise contributes to the squared distance of two pixels of the guide, on average.

    Returns
    -------
    average : K x rows x cols.
    left : rows x cols, the share of the variance of noise that is left.
    share : rows x cols, the weight of each pixel in its own average.
    """
    _, rows, cols = maps.shape
    total = maps.astype(np.float32)
    weights = np.ones((rows, cols), np.float32)
    squares = weights.copy()
    # Each pair of pixels is compared once, and each has the other in its average.
    for down in range(min(REACH, rows - 1) + 1):
        for right in range(-min(REACH, cols - 1), min(REACH, cols - 1) + 1):
            if (down, right) <= (0, 0):
                continue
            here = slice(0, rows - down), slice(max(0, -right), cols - max(0, right))
            there = slice(down, rows), slice(max(0, right), cols + min(0, right))
            apart = np.square(guide[:, *here] - guide[:, *there]).sum(axis=0)
            alike = np.exp(-np.maximum(apart - np.float32(noise), 0) / np.float32(WIDTH))
            for one, other in ((here, there), (there, here)):
                total[:, *one] += alike * maps[:, *other]
                weights[one] += alike
                squares[one] += np.square(alike)
    return total / weights, squares / np.square(weights), 1 / weights


def interpolated(z: Array, lost: Mask, layout: Layout) -> Array:
    """Coordinates, n x K, with those of the lost pixels (bool n) interpolated from around them."""
    # Takes long to import, and few need it.
    from skimage.restoration import inpaint_biharmonic

    maps = layout.unfold(np.ascontiguousarray(z.T)).astype(np.float64)
    where = layout.unfold(lost[None])[0]
    filled = inpaint_biharmonic(np.moveaxis(maps, 0, -1), where, channel_axis=-1)
    return np.ascontiguousarray(layout.fold(np.moveaxis(filled, -1, 0)).T.astype(z.dtype))
