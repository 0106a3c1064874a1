"""A table's agreement with the paper at a glance: one small square per cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["agreement_mosaic"]

COLOURS = {
    "within": (0x0E, 0x8A, 0x7D),
    "near": (0x8C, 0xC9, 0xC1),
    "outside": (0xE5, 0x38, 0x3B),
    None: (0xD5, 0xDC, 0xE3),
}
GROUND = (0xFC, 0xFC, 0xFA)


def agreement_mosaic(agreements: Sequence[str | None], columns: int) -> npt.NDArray[np.uint8]:
    """A square picture with a tile for each cell, row by row: dark where "within", lighter where "near",
    red where "outside", grey where there is nothing to compare.
    """
    rows = len(agreements) // columns
    height, width = 2 * columns, 2 * rows
    tile = np.ones((height, width), bool)
    tile[-1], tile[:, -1] = False, False
    colours = np.array([COLOURS[agreement] for agreement in agreements], np.uint8)
    picture = colours.reshape(rows, columns, 3).repeat(height, axis=0).repeat(width, axis=1)
    picture[~np.tile(tile, (rows, columns))] = GROUND
    return picture
