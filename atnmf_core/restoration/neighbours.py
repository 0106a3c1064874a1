"""What neighbours tell: pixels of a cube that look alike, and pixels of a face beside each other.

**Cubes.** The coordinates z of pixels (`span`) are K maps with noise of variance one. Where pixels look
alike, but for noise, each is replaced by their average (non-local means): the weight of another pixel is
exp(-(|z - z'|^2 - E) / WIDTH), where E is what noise alone makes of the distance, and at most 1. Spectra tell
materials apart, so a single pixel is compared, not a patch. The second round compares what the first one
has found. In clean data no two pixels are alike in units of noise, and nothing is smoothed. As averages have
little noise left, the span is then learned again from them. It is done where it predicts entries better.

Pixels of which nothing is known are interpolated: their maps solve the biharmonic equation.

**Faces.** A column is an image, and what parts leave over its pixels share with those beside them. Its
pixels are normally distributed; their covariance is a mixture of the sample's and of its stationary part,
which only depends on how far apart two pixels are and is worth half as many images as they have pixels. Each
entry has a prediction from all others of its image, and its deviation: with the inverse Q of the covariance
of the pixels that are known, it misses the entry by [Q x]_f / Q_ff, with the variance 1 / Q_ff.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..datasets.dataset import Layout
from ..model.problem import Array, Mask
from .odds import CAUCHY, Odds
from .span import QUANTILE, Columns, Span, refitted

REACH = 12
"""Pixels this far away are compared, in either direction."""
WIDTH = 8.0
"""A squared distance in units of noise beyond which pixels are hardly alike."""
TURNS = 2
"""How often the span is learned again from smoothed maps."""


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


def smoothed(span: Span, columns: Columns, layout: Layout) -> Smoothed:
    """The columns of a cube with their coordinates averaged over pixels that look alike."""
    assert columns.explained is not None
    z = columns.explained.z
    for turn in range(TURNS + 1):
        if turn:
            nothing = np.zeros((len(z), span.K * (span.K + 1) // 2), np.float32)
            span = refitted(span, columns.V, columns.weights, z, nothing, span.noise)
        z, share = _averaged(span, columns, layout)
    own = np.square(span.basis).sum(axis=1)[:, None] * share
    return Smoothed(span, z, np.minimum(own, np.float32(0.999)))


def _averaged(span: Span, columns: Columns, layout: Layout) -> tuple[Array, Array]:
    """The averaged coordinates, n x K, and the weight that each pixel has in its own average."""
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
    return np.ascontiguousarray(layout.fold(guide).T), layout.fold(share[None])[0]


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


# Faces.


CAUCHY_QUANTILE = 0.4538
"""What that quantile of residuals is taken for; for a Cauchy distribution it would be somewhat higher."""
PASSES, PASSES_WITH_DEFECTS = 3, 7
"""How often the covariance is learned; where defects are left out, they become clearer from time to time."""
LEARNED_FROM = 300
"""Images that the first covariance is learned from."""
MOST_WORK = 5e11
"""Images x pixels^3 beyond which neighbours are left out."""


def affordable(shape: tuple[int, int]) -> bool:
    return shape[1] * shape[0] ** 3 <= MOST_WORK


@dataclass(frozen=True, eq=False)
class Field:
    """Images with a covariance of their pixels.

    Attributes
    ----------
    predicted, deviation : F x n, the prediction of each entry from all known ones; and its deviation.
    others : F x n, the prediction of known entries from all other known ones.
    """

    predicted: Array
    others: Array
    deviation: Array


def face_field(V: Array, seen: Mask, layout: Layout, odds: Odds | None, sound: Array) -> tuple[Field, Array]:
    """Predict images (columns of V) with the covariance of their pixels; what looks wrong has no influence.

    Returns
    -------
    field : Field
    sound : F x n, the probability of each entry of being sound.
    """
    from .rivals import inpaint

    F, N = V.shape
    known = seen & (sound > 0.5)
    apart = _displacements(layout)
    some = slice(0, min(N, LEARNED_FROM))
    filled: Array = inpaint(V[:, some], known[:, some], layout)
    unknown_covariance: Array = np.zeros((F, F))
    passes = PASSES if odds is None else PASSES_WITH_DEFECTS
    for turn in range(passes):
        n = filled.shape[1]
        sample = np.cov(filled).reshape(F, F) + unknown_covariance
        trust = F / (F + 2 * n)
        covariance = (1 - trust) * sample + trust * _stationary(sample, apart)
        now = slice(0, n) if turn == 0 else slice(0, N)
        field, unknown_covariance = _conditioned(V[:, now], known[:, now], filled.mean(axis=1), covariance)
        filled = np.where(known[:, now], V[:, now], field.predicted)
        if odds is not None and turn:
            z = (np.abs(V - field.others) / field.deviation)[known]
            narrow = min(1.0, float(np.quantile(z, QUANTILE)) / CAUCHY_QUANTILE)
            sound, _ = odds.judge(
                V,
                field.others.astype(np.float32),
                (narrow * field.deviation).astype(np.float32),
                rounds=PASSES,
                freedom=CAUCHY,
            )
            if turn < passes - 1:
                known = seen & (sound > 0.5)
                filled = np.where(known, V, field.others)
    return field, sound


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
    field = Field(*(np.empty((F, N)) for _ in range(3)))
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
        field.others[:, n] = V[:, n] - pull / own
        field.deviation[:, n] = 1 / np.sqrt(own)
        field.predicted[:, n] = V[:, n]
        if gone.size:
            field.predicted[gone, n] = field.others[gone, n] = mean[gone] - shift
            field.deviation[gone, n] = np.sqrt(np.diag(inverse))
    return field, average
