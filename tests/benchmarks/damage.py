"""Damage of the kinds that `restore` is measured on, and the data it is done to."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from atnmf_core import Dataset, hide_entries, load_dataset

Array = npt.NDArray[np.floating]
Mask = npt.NDArray[np.bool_]

SHARES = {
    # of the entries: recorded too dark, too bright
    "none": (0.0, 0.0),
    "dark10": (0.1, 0.0),
    "dark30": (0.3, 0.0),
    "dark50": (0.5, 0.0),
    "bright5": (0.0, 0.05),
    "dark10 bright5": (0.1, 0.05),
}
IN_WORDS = {
    "dark10": "10 % dark",
    "dark30": "30 % dark",
    "dark50": "50 % dark",
    "bright5": "5 % bright",
    "dark10 bright5": "10 % dark and 5 % bright",
}
DARK, BRIGHT = (0.0, 0.6), (2.0, 5.0)
"""Factors that wrong entries are recorded with."""


def damaged(V: Array, kind: str, seed: int) -> tuple[Array, Mask]:
    """V with wrong entries at random places, and where they are."""
    rng = np.random.default_rng([1000, seed])
    dark_share, bright_share = SHARES[kind]
    drawn = rng.random(V.shape)
    dark = drawn < dark_share
    bright = (drawn >= dark_share) & (drawn < dark_share + bright_share)
    result = V.copy()
    result[dark] *= rng.uniform(*DARK, int(dark.sum()))
    result[bright] *= rng.uniform(*BRIGHT, int(bright.sum()))
    return result, dark | bright


def gaps(data: Dataset, kind: str, seed: int) -> Mask:
    """Bool F x N, True where data of a cube is lost: in lines, blocks or bands."""
    rows, cols = data.image_shape or (1, 1)
    if kind == "blocks":
        lost = np.zeros((data.shape[0], rows, cols), dtype=bool)
        rng = np.random.default_rng([2000, seed])
        for _ in range(12):
            deep, high, wide = data.shape[0] // 3, rows // 3, cols // 4
            f, r, c = (
                int(rng.integers(n - m + 1)) for n, m in zip(lost.shape, (deep, high, wide), strict=True)
            )
            lost[f : f + deep, r : r + high, c : c + wide] = True
        flat = lost if data.order == "C" else lost.transpose(0, 2, 1)
        return flat.reshape(data.shape)
    return ~hide_entries(
        data.shape, 0.2, seed=seed, pattern=kind, image_shape=data.image_shape, order=data.order
    )


def undamaged(name: str) -> Dataset:
    return load_dataset(name)
