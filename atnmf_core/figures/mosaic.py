"""How well a table agrees with the paper, at a glance: one small square per cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

COLOURS = {
    "within": (0x0E, 0x8A, 0x7D),
    "near": (0x8C, 0xC9, 0xC1),
    "outside": (0xE5, 0x38, 0x3B),
    None: (0xD5, 0xDC, 0xE3),
}
GROUND = (0xFC, 0xFC, 0xFA)
GAP = 2
"""Pixels between two tiles."""


def agreement_mosaic(agreements: Sequence[str | None], columns: int, side: int = 88) -> npt.NDArray[np.uint8]:
    """A square picture with a tile for each cell, row by row: dark where "within", lighter where "near",
    red where "outside", grey where there is nothing to compare.
    """
    rows = len(agreements) // columns
    colours = np.array([COLOURS[agreement] for agreement in agreements], np.uint8).reshape(rows, columns, 3)
    picture = np.full((side, side, 3), GROUND, np.uint8)
    tops, lefts = (np.linspace(0, side + GAP, count + 1).round().astype(int) for count in (rows, columns))
    for row in range(rows):
        for column in range(columns):
            place = slice(tops[row], tops[row + 1] - GAP), slice(lefts[column], lefts[column + 1] - GAP)
            picture[place] = colours[row, column]
    return picture
