"""Learned parts as sheets of tiles."""

from __future__ import annotations

import math

import numpy as np

from .images import mosaic
from .palette import HIDDEN, RGB, Values, grey, paint


def columns_for(pictures: Values) -> int:
    """How many tiles (of K x rows x cols) per row make the sheet about square."""
    K, rows, cols = (int(length) for length in pictures.shape)
    return min(K, math.ceil(math.sqrt(K * rows / cols)))


def part_sheet(
    pictures: Values,
    *,
    shared_scale: bool = False,
    gap: int = 1,
    ground: int = 255,
    unknown: str = HIDDEN["red"],
) -> RGB:
    """Parts (K x rows x cols) as tiles, dark where a part is strong, as in the paper.

    Each tile has its own scale, or all share the largest value. NaN has the colour `unknown`.
    """
    tops = np.nan_to_num(pictures).reshape(len(pictures), -1).max(axis=1)
    if shared_scale:
        tops = np.full_like(tops, tops.max(initial=0.0))
    tiles = [
        paint(255 - grey(part, float(top)), np.isnan(part), unknown)
        for part, top in zip(pictures, tops, strict=True)
    ]
    return mosaic(tiles, columns_for(pictures), gap, ground)
