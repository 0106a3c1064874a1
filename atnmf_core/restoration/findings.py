"""What was wrong with data that was restored, in kinds that people know."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.ndimage import label, maximum_filter, uniform_filter

from ..datasets import Dataset
from ..model.problem import Array, Mask
from .lines import BadLine, in_short
from .odds import repeated_values
from .restore import Restoration

KINDS = {
    "dark": "too dark",
    "bright": "too bright",
    "lines": "in dead lines",
    "blocks": "in blocks",
    "stripes": "in stripes",
    "clipped": "saturated",
    "missing": "missing",
    "lost": "in lost pixels",
}
"""What can be wrong with an entry."""
NOISY = 3.0
"""A band with so many times the usual noise is named."""
MOSTLY = 0.5
"""A pixel of which a larger share of the bands is wrong may be misunderstood as a whole."""
TOGETHER, ALMOST_ALL = (5, 3, 3), 0.9
"""Of so many bands, rows and columns so much is wrong inside a block."""
MOST_REGIONS = 20
"""Groups of such pixels that are named."""


@dataclass(frozen=True, eq=False)
class Finding:
    """One kind of damage.

    Attributes
    ----------
    kind : a key of `KINDS`.
    mask : bool F x N, the entries it concerns.
    lines, regions : those that it lies in.
    """

    kind: str
    mask: Mask = field(repr=False)
    lines: tuple[BadLine, ...] = ()
    regions: tuple[Region, ...] = ()

    @property
    def count(self) -> int:
        return int(self.mask.sum())

    @property
    def share(self) -> float:
        return float(self.mask.mean())

    def __str__(self) -> str:
        entries = "entry" if self.count == 1 else "entries"
        said = f"{self.count:,} {entries} {KINDS[self.kind]} ({self.share:.2%})"
        if self.kind == "stripes":
            largest = max(abs(line.offset) for line in self.lines)
            return f"{said}: offsets of up to {largest:.3g} were taken off {in_short(self.lines)}"
        where = in_short(self.lines) or "; ".join(map(str, self.regions))
        return f"{said}: {where}" if where else said


def findings(
    data: Dataset, restoration: Restoration, asked: tuple[Question, ...] | None = None
) -> tuple[Finding, ...]:
    """All kinds that there are; no entry is wrong in two of them, but may lie in a stripe besides.

    `asked` are the `questions` of the data, where they are known already.
    """
    wrong, missing = restoration.defects, ~data.observed
    dead = tuple(line for line in restoration.lines if not line.offset)
    striped = tuple(line for line in restoration.lines if line.offset)
    in_lines = wrong & lines_mask(data, dead)
    blocks = _blocks(data, wrong & ~in_lines)
    in_blocks = np.zeros_like(wrong)
    for block in blocks:
        in_blocks |= block.mask
    single = wrong & ~in_lines & ~in_blocks
    measured = data.V if restoration.offsets is None else data.V - restoration.offsets
    dark = single & (np.nan_to_num(measured) < restoration.denoised)
    lost = missing & ~data.observed.any(axis=0) if data.kind == "cube" else np.zeros_like(missing)
    clipped = np.zeros_like(missing)
    for question in questions(data) if asked is None else asked:
        if question.is_largest:
            clipped |= data.observed & ~wrong & (question.value == data.V)
    stripes = np.zeros_like(missing) if restoration.offsets is None else restoration.offsets != 0
    found = (
        Finding("dark", dark),
        Finding("bright", single & ~dark),
        Finding("lines", in_lines, dead),
        Finding("blocks", in_blocks, regions=blocks),
        Finding("stripes", stripes, striped),
        Finding("clipped", clipped),
        Finding("missing", missing & ~lost),
        Finding("lost", lost),
    )
    return tuple(finding for finding in found if finding.mask.any())


def lines_mask(data: Dataset, lines: tuple[BadLine, ...]) -> Mask:
    """The entries that lie in these lines."""
    stack = data.layout.unfold(np.zeros(data.shape, dtype=bool)).copy()
    axes = {"band": 0, "image": 0, "row": 0, "image row": 1, "column": 1, "image column": 2}
    for line in lines:
        where = [slice(None)] * 3
        if line.bands is not None:
            where[0] = slice(line.bands[0] - 1, line.bands[1])
        where[axes[line.what]] = slice(line.first - 1, line.last)
        stack[tuple(where)] = True
    return np.asarray(data.layout.fold(stack))


def noisy_rows(noise: Array) -> tuple[int, ...]:
    """Rows, counted from 1, with far more noise than usual."""
    return tuple(int(row) + 1 for row in np.flatnonzero(noise > NOISY * np.median(noise)))


class Region(NamedTuple):
    """Entries of pixels beside each other.

    Attributes
    ----------
    words : where they are, counted from 1.
    mask : bool F x N.
    band, pixel : a band to look at, and a row and column, counted from 1.
    """

    words: str
    mask: Mask
    band: int
    pixel: tuple[int, int]

    def __str__(self) -> str:
        return self.words


def doubtful_regions(data: Dataset, restoration: Restoration) -> tuple[Region, ...]:
    """Pixels of a cube beside each other most of whose bands look wrong, the largest group first: what the
    restoration cannot be sure of.
    """
    if data.kind != "cube":
        return ()
    wrong = restoration.defects | restoration.unrestorable
    where = data.image((wrong.mean(axis=0) > MOSTLY).astype(float)) > 0
    return tuple(_region(data, wrong & data.layout.fold(one[None])) for one in _largest(where))


def _blocks(data: Dataset, wrong: Mask) -> tuple[Region, ...]:
    """Blocks of a cube in which almost everything is wrong, the largest first."""
    if data.kind != "cube":
        return ()
    stack = data.layout.unfold(wrong)
    inside = uniform_filter(stack.astype(np.float32), TOGETHER) > ALMOST_ALL
    found = []
    for one in _largest(inside):
        block = stack & maximum_filter(one, TOGETHER)
        for axis in range(3):  # without what happens to be wrong beside it
            count = block.sum(axis=tuple(other for other in range(3) if other != axis), keepdims=True)
            block &= count > count.max() / 2
        found.append(_region(data, data.layout.fold(block), has_bands=True))
    return tuple(found)


def _largest(where: Mask) -> list[Mask]:
    labels, _ = label(where)
    sizes = np.bincount(labels.ravel())[1:]
    return [labels == number + 1 for number in np.argsort(-sizes, kind="stable")[:MOST_REGIONS]]


def _region(data: Dataset, mask: Mask, has_bands: bool = False) -> Region:
    stack = data.layout.unfold(mask)
    bands, rows, cols = (np.flatnonzero(stack.any(axis=others)) + 1 for others in ((1, 2), (0, 2), (0, 1)))
    words = f"{_span('row', rows)}, {_span('column', cols)}"
    pixels = np.flatnonzero(mask.any(axis=0))
    band = int(mask.sum(axis=1).argmax()) + 1
    place = _place(data, int(pixels[pixels.size // 2]))
    return Region(words + (f" in {_span('band', bands)}" if has_bands else ""), mask, band, place)


def _place(data: Dataset, n: int) -> tuple[int, int]:
    row, col = np.argwhere(data.image(np.arange(data.shape[1])) == n)[0]
    return int(row) + 1, int(col) + 1


def _span(name: str, places: npt.NDArray[np.intp]) -> str:
    first, last = places[0], places[-1]
    return f"{name} {first}" if first == last else f"{name}s {first} to {last}"


class Question(NamedTuple):
    """A value that many entries have exactly: is it a number, or a sign that there is none?"""

    value: float
    entries: int
    words: str
    is_largest: bool


def questions(data: Dataset) -> tuple[Question, ...]:
    """What to ask people about the values in their data."""
    known = data.V[data.observed]
    asked = []
    for value, end in repeated_values(known):
        count = int((known == value).sum())
        entries = f"{count:,} entries are {'exactly' if end <= 0 else 'at'} {value:.6g}"
        if end > 0:
            words = f"{entries} and none is above: saturated?"
        elif value == 0:
            words = f"{entries}: not measured?"
        else:
            words = f"{entries}: a fill value?"
        asked.append(Question(value, count, words, end > 0))
    return tuple(asked)
