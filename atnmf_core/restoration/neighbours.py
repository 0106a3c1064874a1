"""What the neighbours of a pixel in a cube tell.

The coordinates z of pixels (`span`) are K maps with noise of variance one. Where pixels look
alike, but for noise, each is replaced by their average (non-local means): the weight of another pixel is
exp(-(|z - z'|^2 - E) / WIDTH), where E is what noise alone makes of the distance, and at most 1. Spectra tell
materials apart, so a single pixel is compared, not a patch. The second round compares what the first one
has found. In clean data no two pixels are alike in units of noise, and nothing is smoothed. As averages have
little noise left, the span is then learned again from them. It is done where it predicts entries better.

Pixels of which nothing is known are interpolated: their maps solve the biharmonic equation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..datasets.dataset import Layout
from ..model.problem import Array, Mask
from .span import Columns, Span, refitted

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
