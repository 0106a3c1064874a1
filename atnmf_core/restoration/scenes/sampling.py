"""Pixels that cover a scene, and others to check a model by."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Index = npt.NDArray[np.intp]
MAX_ROWS = 96
"""Number of image rows from which a sample is drawn: few, because a row is read as a whole."""


def two_samples(
    shape: tuple[int, int], count: int, seed: int
) -> tuple[tuple[Index, Index], tuple[Index, Index]]:
    """Two sets of about `count` pixels each, without a pixel in common: (rows, cols) of both.

    The scene is divided into as many cells for each, as on a chessboard; one pixel is drawn from every cell.
    """
    rng = np.random.default_rng(seed)
    rows, cols = shape
    high = min(rows, MAX_ROWS)
    wide = int(np.clip(count / high, 1, cols // 2))
    drawn = np.stack([_one_of_each(rows, high, rng) for _ in range(2)])
    chosen = []
    for colour in (0, 1):
        places = []
        for stratum in range(high):
            cells = _one_of_each(cols, 2 * wide, rng)[(colour + stratum) % 2 :: 2]
            places.append(np.stack([np.full(cells.size, drawn[colour, stratum]), cells]))
        found = np.concatenate(places, axis=1)
        chosen.append((found[0], found[1]))
    return chosen[0], chosen[1]


def _one_of_each(length: int, strata: int, rng: np.random.Generator) -> Index:
    """One number from each of `strata` equal parts of 0 ... length - 1."""
    edges = np.linspace(0, length, strata + 1)
    low, high = np.ceil(edges[:-1]).astype(int), np.ceil(edges[1:]).astype(int)
    return rng.integers(low, np.maximum(high, low + 1)).astype(np.intp)
