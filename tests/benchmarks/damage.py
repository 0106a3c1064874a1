"""The data that `restore` is measured on, and every kind of damage that is done to it.

Each kind is drawn anew for every seed. Single dark and bright entries have draws of their own, which earlier
measurements were made with; the other kinds are those of `atnmf_core.restoration.damage`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.io import loadmat

from atnmf_core import Dataset, hide_entries, load_dataset, read_dataset
from atnmf_core.restoration.damage import Damage
from atnmf_core.restoration.damage import damaged as damaged_by_kind

Array = npt.NDArray[np.floating]
Mask = npt.NDArray[np.bool_]

DARK, BRIGHT = (0.0, 0.6), (2.0, 5.0)
"""Factors that single wrong entries are recorded with."""
FILES = {
    "enmap": "enmap_potsdam_tile_128_128.tif",
    "corn": "corn-kernel-hyperspectral.hdr",
    "gamsberg": "cubus_gamsberg_subset.hdr",
}
CUBES, FACES = ("moffet", "madonna", "enmap", "corn", "gamsberg", "simulated-scene"), ("cbcl", "lfw")
SIX_CASES, TIMED = "sixcases", "timed scene"


@dataclass(frozen=True, eq=False)
class Spoiled:
    """Damaged data and its truth.

    Attributes
    ----------
    data : as `restore` gets it: NaN at marked losses, negative where noise has made it so.
    truth : F x N, undamaged.
    wrong : bool F x N, entries that are wrong or missing. Noise does not count.
    block : bool F x N, those of them in the block, if there is one.
    noisy : whether all entries have noise, so that the model everywhere is wanted.
    """

    data: Dataset
    truth: Array
    wrong: Mask
    block: Mask
    noisy: bool = False

    @property
    def marked(self) -> bool:
        return bool((self.wrong & ~self.data.observed).any())


@dataclass(frozen=True)
class Kind:
    """Wrong values that nobody has marked.

    Attributes
    ----------
    words : for tables that people read.
    dark, bright : shares of single entries.
    also : further damage, done after these; its seed is that of the draw.
    """

    words: str
    dark: float = 0.0
    bright: float = 0.0
    also: Damage = field(default_factory=Damage)

    @property
    def noisy(self) -> bool:
        return bool(self.also.band_noise)


UNMARKED = {
    "dark10": Kind("10 % dark", 0.1),
    "dark30": Kind("30 % dark", 0.3),
    "dark50": Kind("50 % dark", 0.5),
    "bright5": Kind("5 % bright", 0.0, 0.05),
    "dark10 bright5": Kind("10 % dark and 5 % bright", 0.1, 0.05),
    "dead columns": Kind("dead columns in a quarter of the bands", also=Damage(dead_columns=0.1)),
    "stripes": Kind("stripes in a third of the bands", also=Damage(stripes=0.2)),
    "salt5": Kind("salt and pepper, 5 %", also=Damage(salt=0.05)),
    "salt20": Kind("salt and pepper, 20 %", also=Damage(salt=0.2)),
    "dark5 noise": Kind("5 % dark, noise of 1 to 5 % by band", 0.05, also=Damage(band_noise=0.05)),
    "everything": Kind(
        "everything at once",
        0.05,
        0.02,
        Damage(band_noise=0.05, stripes=0.1, dead_columns=0.05, salt=0.03),
    ),
}
BEYOND = {
    "shadow": Kind("a shadow over all bands", also=Damage(shadow=0.1)),
    "drift": Kind("a slow drift over all bands", also=Damage(drift=0.2)),
}
"""What nobody can tell from another scene."""
BLOCKS = ("saturated", "dark", "shifted")
BLOCK_SIDE, BLOCK_BANDS = 12, 6
"""A block's pixels on each side, at most half of the image; and it is in one of so many bands."""
BLOCK_DARK, BLOCK_SHIFT = 0.2, 0.2
"""What a dark block's values are multiplied with; the 99th percentiles that a shifted one's have added."""
GAPS = {
    "stripes": "a fifth of the image columns, other ones in each band",
    "blocks": "twelve blocks in a third of the bands each",
    "bands": "half of the entries of half of the bands",
    "half bands": "half of the bands in half of the image",
    "wedges": "diagonal wedges that move from band to band",
    "random50": "50 % at random",
    "lost block": "one block, lost in all bands",
}
NOTHING = "undamaged"


@cache
def undamaged(name: str) -> Dataset:
    """A data set whose entries are all there: bands without any data are left out."""
    if name in FILES:
        data = read_dataset(_folder() / "foreign" / FILES[name])
        return replace(data.subset(bands=np.flatnonzero(data.observed.all(axis=1))), name=name)
    if name == SIX_CASES:
        cube = loadmat(_folder() / "sixcases" / "simu_indian.mat")["simu_indian"]
        rows, cols, bands = cube.shape
        return Dataset(cube.reshape(-1, bands).T, "cube", name, image_shape=(rows, cols), order="C")
    if name == TIMED:
        return replace(load_dataset("simulated-scene", rows=100, cols=100, bands=198), name=name)
    return load_dataset(name)


def _folder() -> Path:
    return Path(os.environ["ATNMF_DATA_DIR"])


def unmarked(data: Dataset, name: str, seed: int) -> Spoiled:
    """Damage of a kind in `UNMARKED`, with "+ saturated", "+ dark" or "+ shifted" for a block besides."""
    kind_name, _, block = name.partition(" + ")
    kind = (UNMARKED | BEYOND)[kind_name]
    V, wrong = singles(data.V.astype(np.float32), kind.dark, kind.bright, seed)
    if kind.also:
        further = damaged_by_kind(replace(data, V=V), replace(kind.also, seed=seed), negative=True)
        V, wrong = further.V.astype(np.float32), wrong | further.wrong
    where = np.zeros(data.shape, dtype=bool)
    if block:
        V, where = _with_block(data, V, block, seed)
    return Spoiled(replace(data, V=V), data.V, wrong | where, where, kind.noisy)


def singles(V: Array, dark_share: float, bright_share: float, seed: int) -> tuple[Array, Mask]:
    """V with wrong entries at random places, and where they are."""
    rng = np.random.default_rng([1000, seed])
    drawn = rng.random(V.shape)
    dark = drawn < dark_share
    bright = (drawn >= dark_share) & (drawn < dark_share + bright_share)
    result = V.copy()
    result[dark] *= rng.uniform(*DARK, int(dark.sum()))
    result[bright] *= rng.uniform(*BRIGHT, int(bright.sum()))
    return result, dark | bright


def _with_block(data: Dataset, V: Array, kind: str, seed: int) -> tuple[Array, Mask]:
    where = _rectangle(data, np.random.default_rng([3000, seed]), deep=max(1, data.shape[0] // BLOCK_BANDS))
    if kind == "saturated":
        inside: Array | float = float(data.V.max())
    elif kind == "dark":
        inside = BLOCK_DARK * V
    else:
        inside = V + BLOCK_SHIFT * float(np.percentile(data.V, 99))
    return np.where(where, inside, V).astype(np.float32), where


def _rectangle(data: Dataset, rng: np.random.Generator, deep: int) -> Mask:
    """A block of pixels in adjacent bands."""
    rows, cols = data.image_shape or (1, 1)
    shape, size = (data.shape[0], rows, cols), (deep, min(BLOCK_SIDE, rows // 2), min(BLOCK_SIDE, cols // 2))
    inside = np.zeros(shape, dtype=bool)
    inside[tuple(_span(rng, length, part) for length, part in zip(shape, size, strict=True))] = True
    return data.layout.fold(inside)


def _span(rng: np.random.Generator, length: int, part: int) -> slice:
    first = int(rng.integers(length - part + 1))
    return slice(first, first + part)


def marked(data: Dataset, name: str, seed: int) -> Spoiled:
    """What a name of `GAPS`, or "random" with a share in per cent, says is missing."""
    lost = (
        GAP_MAKERS[name](data, seed) if name in GAP_MAKERS else ~hide_entries(data.shape, _share(name), seed)
    )
    V = np.where(lost, np.nan, data.V).astype(np.float32)
    return Spoiled(replace(data, V=V), data.V, lost, np.zeros_like(lost))


def _share(name: str) -> float:
    return int(name.removeprefix("random")) / 100


def _pattern(data: Dataset, seed: int, pattern: str) -> Mask:
    return ~hide_entries(
        data.shape, 0.2, seed=seed, pattern=pattern, image_shape=data.image_shape, order=data.order
    )


def _blocks(data: Dataset, seed: int) -> Mask:
    rows, cols = data.image_shape or (1, 1)
    lost = np.zeros((data.shape[0], rows, cols), dtype=bool)
    rng = np.random.default_rng([2000, seed])
    for _ in range(12):
        size = (data.shape[0] // 3, rows // 3, cols // 4)
        lost[tuple(_span(rng, length, part) for length, part in zip(lost.shape, size, strict=True))] = True
    return data.layout.fold(lost)


def _half_bands(data: Dataset, seed: int) -> Mask:
    """One of two detectors has seen only half of the image."""
    rows, cols = data.image_shape or (1, 1)
    lost = np.zeros((data.shape[0], rows, cols), dtype=bool)
    rng = np.random.default_rng([4000, seed])
    lost[_span(rng, data.shape[0], data.shape[0] // 2), :, _span(rng, cols, cols // 2)] = True
    return data.layout.fold(lost)


def _wedges(data: Dataset, seed: int) -> Mask:
    """As of a scanner whose line corrector has failed: lines that widen towards one side of the image."""
    rows, cols = data.image_shape or (1, 1)
    rng = np.random.default_rng([5000, seed])
    row, col = np.mgrid[:rows, :cols]
    apart, slope, moved = rows / 4, rng.uniform(0.2, 0.5), rng.uniform(0, rows)
    width = 0.5 * apart * (col + 1) / cols
    shift = np.arange(data.shape[0])[:, None, None] * apart / data.shape[0] * 2
    return data.layout.fold((row + slope * col + moved + shift) % apart < width)


def _lost_block(data: Dataset, seed: int) -> Mask:
    return _rectangle(data, np.random.default_rng([6000, seed]), deep=data.shape[0])


GAP_MAKERS: dict[str, Callable[[Dataset, int], Mask]] = {
    "stripes": lambda data, seed: _pattern(data, seed, "stripes"),
    "bands": lambda data, seed: _pattern(data, seed, "bands"),
    "blocks": _blocks,
    "half bands": _half_bands,
    "wedges": _wedges,
    "lost block": _lost_block,
}


def six_cases(data: Dataset, name: str, seed: int) -> Spoiled:
    """ "case1" to "case6": the mixed noise that methods for hyperspectral images are compared on."""
    case = int(name[-1])
    rng, shape = np.random.default_rng([7000, case, seed]), (data.shape[0], *(data.image_shape or (1, 1)))
    Y = data.images().astype(np.float64)
    level, share = _levels(case, len(Y))
    Y = Y + level * rng.standard_normal(shape)
    wrong = np.zeros(shape, dtype=bool)
    if case > 2:
        Y, drawn = np.clip(Y, 0, 1), rng.random(shape)
        wrong = drawn < share
        Y[wrong] = (drawn >= share / 2)[wrong]
    if case in (2, 4, 5, 6):
        _kill_columns(Y, wrong, rng)
    if case == 6:
        for band in range(160, 190):
            columns = np.unique(rng.integers(0, shape[2], rng.integers(20, 41)))
            Y[band][:, columns] -= rng.uniform(-0.25, 0.25, columns.size)
            wrong[band][:, columns] = True
    V, places = (data.layout.fold(stack) for stack in (Y, wrong))
    return Spoiled(replace(data, V=V), data.V, places, np.zeros_like(places), noisy=True)


def _levels(case: int, bands: int) -> tuple[Array | float, Array | float]:
    """The noise and the share of impulses of each band."""
    if case < 5:
        return (0.1 if case < 3 else 0.075), 0.15
    level = loadmat(_folder() / "sixcases" / "Simu_noiselevel.mat")["noiselevel"]
    share = loadmat(_folder() / "sixcases" / "Simu_ratio.mat")["ratio"]
    return level.reshape(bands, 1, 1), share.reshape(bands, 1, 1)


def _kill_columns(Y: Array, wrong: Mask, rng: np.random.Generator) -> None:
    """Three to twelve columns of each band; of the double ones only the first is set, as in the original."""
    for band in range(90, 130):
        columns = rng.choice(Y.shape[2] - 1, rng.integers(3, 13), replace=False)
        double = rng.random(columns.size) < 0.5
        dead = [*columns[~double], *(columns[double][:1] + step for step in (0, 1) if double.any())]
        for column in dead:
            Y[band, :, column], wrong[band, :, column] = 0, True
