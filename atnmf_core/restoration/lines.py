"""Damage along lines: bands, image rows, image columns or images that are entirely bad, or have an offset.
And in blocks: pixels beside each other, with sharp edges in the spectrum.

Most of a line's entries must be defects, and more of them than chance explains. By chance, the probability of
a defect is the share of defects in all of the data or, if larger, in the lines on either side: false suspects
cluster where the model is poor, and thin out from there. Because many lines are tested, the probability is
multiplied by their number (Bonferroni's correction).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..datasets.dataset import Layout
from ..model.problem import Array, Mask
from .span import NORMAL_QUANTILE, QUANTILE

Counts = npt.NDArray[np.intp]

MOSTLY = 0.5
"""A line that is bad as a whole has more than this share of defects."""
MANY = 4
"""More places of one kind are counted instead of named."""
SIGNIFICANCE = 1e-4
"""The probability that any sound line of the data is called bad."""


@dataclass(frozen=True)
class BadLine:
    """Adjacent lines that are bad, counted from 1.

    Attributes
    ----------
    what : "band", "image column", "image row", "image", "row" or "column".
    first, last : their numbers, both included.
    share : of their entries that are defects; of lines with an offset, that have it.
    bands : the bands in which they are bad, (first, last); None for all of them.
    offset : what had been added to all entries of the line, and was taken off; 0 for a line of defects.
    """

    what: str
    first: int
    last: int
    share: float
    bands: tuple[int, int] | None = None
    offset: float = 0.0

    @property
    def kind(self) -> str:
        return "offset" if self.offset else "dead"

    def __str__(self) -> str:
        name = _span(self.what, self.first, self.last)
        where = name if self.bands is None else f"{name} in {_span('band', *self.bands)}"
        sign = "−" if self.offset < 0 else "+"
        return f"{where}, off by {sign}{abs(self.offset):.3g}" if self.offset else where


# Stripes: a line of a band whose entries are all too high, or too low, by the same amount.


BEYOND_CHANCE, IN_STRIPED_BAND = 6.0, 4.0
"""A line has an offset if its median residual is so many times what chance, or what lines of its band usually
have, makes of it; fewer times in a band that has stripes.
"""
MEDIAN_OF_NORMAL = 1.2533
"""The standard deviation of the median of n normal numbers, times the square root of n."""
AS_NARROW = 2.0
"""Its residuals spread by at most so many times what is usual for its band."""
FEWEST, SHORTEST = 0.2, 8
"""A line has an offset only if so much of it, and more than so many pixels, can be looked at."""


def line_offsets(missed: Array, counted: Mask, layout: Layout) -> Array:
    """The offset of each entry of a cube, F x N: that of its image column, or row, in its band.

    Parameters
    ----------
    missed : v - p, by which each entry misses what the others predict.
    counted : bool F x N, entries that may tell.
    """
    rest, there = layout.unfold(missed), layout.unfold(counted)
    found = np.zeros(rest.shape, np.float32)
    for along in (1, 2):
        count = there.sum(axis=along, keepdims=True)
        middle = _median_along(rest, there, along)
        scatter = _median_along(np.abs(rest - middle), there, along) / 0.6745
        lines = tuple(axis for axis in (1, 2) if axis != along)
        narrow = np.maximum(scatter, 0.3 * np.median(scatter, axis=lines, keepdims=True)) + 1e-12
        chance = MEDIAN_OF_NORMAL * narrow / np.sqrt(np.maximum(count, 1))
        usual = np.median(np.abs(middle), axis=lines, keepdims=True) * 1.4826
        beyond = np.abs(middle) / np.maximum(chance, usual)
        beyond *= scatter < AS_NARROW * np.median(scatter, axis=lines, keepdims=True)
        beyond *= count > np.maximum(FEWEST * rest.shape[along], SHORTEST)
        has_stripes = beyond.max(axis=lines, keepdims=True) > BEYOND_CHANCE
        is_stripe = has_stripes & (beyond > IN_STRIPED_BAND)
        by = np.where(is_stripe, middle, 0).astype(np.float32)
        found += by
        rest = rest - by
    return np.asarray(layout.fold(found))


def offset_error(missed: Array, counted: Mask, layout: Layout) -> Array:
    """F x 1, how far offsets are off: the standard deviation of those that lines without any seem to have."""
    rest, there = layout.unfold(missed), layout.unfold(counted)
    seeming = [np.median(np.abs(_median_along(rest, there, along)), axis=(1, 2)) for along in (1, 2)]
    return np.asarray(np.max(seeming, axis=0)[:, None] / 0.6745)


def _median_along(stack: Array, there: Mask, axis: int) -> Array:
    """Over what is there; 0 where nothing is."""
    ordered = np.sort(np.where(there, stack, np.inf), axis=axis)
    place = np.maximum(there.sum(axis=axis, keepdims=True) - 1, 0) // 2
    middle = np.take_along_axis(ordered, place, axis=axis)
    return np.where(np.isfinite(middle), middle, 0)


def striped_lines(offsets: Array, layout: Layout) -> tuple[BadLine, ...]:
    """The lines that had an offset: image columns and rows with the band they had it in."""
    stack = layout.unfold(offsets)
    found = []
    for band, image in enumerate(stack, start=1):
        if not image.any():
            continue
        by_column, by_row = np.median(image, axis=0), np.median(image, axis=1)
        for name, by in (("image column", by_column), ("image row", by_row)):
            found += [
                BadLine(name, int(n) + 1, int(n) + 1, 1.0, (band, band), float(by[n]))
                for n in np.flatnonzero(by)
            ]
    return tuple(found)


# Blocks: pixels beside each other with something wrong in a run of bands.


EDGE, LEAST_EDGE = 4.0, 0.2
"""From one band to the next a pixel changes by so many times more than pixels of its bands usually do, and by
such a share of what they usually are.
"""
SHORTEST_RUN = 3
"""In how many bands at least."""
AT_ONCE, MANY_MORE = 8, 0.45
"""In a square of such a side, so much larger a share of the pixels does than elsewhere in
the same image rows or columns."""


def sharp_edged(V: Array, seen: Mask, layout: Layout) -> Mask:
    """Where pixels beside each other become much darker or brighter from one band to the next, and as
    suddenly what they were before in a later band: bool F x N. Few dimensions take such a block for wrong,
    but more of them learn it like a material.
    """
    from scipy.ndimage import maximum_filter, rank_filter, uniform_filter, uniform_filter1d

    # Of nine pixels the third brightest: single wrong entries hide no edge, even if half of all are dark.
    images = rank_filter(layout.unfold(np.where(seen, V, 0)), -3, size=(1, 3, 3))
    images[images <= 0] = np.nan
    # A band that says nothing has no edges.
    images[images.max(axis=(1, 2)) == images.min(axis=(1, 2))] = np.nan
    side = min(AT_ONCE, *(length // 2 + 1 for length in images.shape[1:]))
    steps = np.nan_to_num(np.log(images[1:] / images[:-1]))
    middle = np.median(steps, axis=(1, 2), keepdims=True)
    usual = np.quantile(np.abs(steps - middle), QUANTILE, axis=(1, 2), keepdims=True) / NORMAL_QUANTILE
    level = np.median(np.nan_to_num(images[1:]), axis=(1, 2), keepdims=True)
    is_large = np.abs(images[1:] - images[:-1] * np.exp(middle)) > LEAST_EDGE * level
    more: list[Mask] = []
    for sign in (1, -1):
        hits = (is_large & (sign * (steps - middle) > EDGE * usual)).astype(np.float32)
        share = uniform_filter(hits, (0, side, side), mode="constant")
        excess = share
        for axis, length in ((1, images.shape[1]), (2, images.shape[2])):
            strip = side * uniform_filter1d(hits.sum(axis, keepdims=True), side, 3 - axis, mode="constant")
            elsewhere = (strip - side**2 * share) / (side * max(length - side, 1))
            excess = np.minimum(excess, share - elsewhere)
        more.append(excess > MANY_MORE)
    inside = np.zeros(images.shape, dtype=bool)
    for begins, ends in (more, more[::-1]):
        for first in np.flatnonzero(begins.any(axis=(1, 2))):
            later = np.flatnonzero((begins[first] & ends[first + SHORTEST_RUN :]).any(axis=(1, 2)))
            if later.size:
                last = first + SHORTEST_RUN + int(later[0])
                inside[first + 1 : last + 1] |= maximum_filter(begins[first] & ends[last], 3 * side // 2)
    return np.asarray(layout.fold(inside)) & seen


# Lines of defects.


def bad_lines(defects: Mask, observed: Mask, layout: Layout) -> tuple[BadLine, ...]:
    """Find the lines in which most observed entries are defects, by more than chance.

    Examples
    --------
    >>> defects = np.zeros((20, 6), dtype=bool)
    >>> defects[3:5] = True
    >>> [str(line) for line in bad_lines(defects, np.ones_like(defects), Layout())]
    ['rows 4 to 5']
    """
    bad, seen = layout.unfold(defects), layout.unfold(observed)
    names = {
        "cube": ("band", "image row", "image column"),
        "faces": ("image", "image row", "image column"),
        "matrix": ("row", "column", None),
    }[layout.kind]
    chance = float(bad.sum() / max(int(seen.sum()), 1))
    looked_at = sum(size for size, name in zip(bad.shape, names, strict=True) if name is not None)
    found: list[BadLine] = []
    for axis, name in enumerate(names):
        if name is not None:
            others = tuple(other for other in range(3) if other != axis)
            hits, of = bad.sum(axis=others), seen.sum(axis=others)
            found += _named(name, hits, of, _are_bad(hits, of, chance, looked_at))
    if layout.kind == "cube" and not found:
        found += _stripes(bad, seen, chance)
    return tuple(found)


def in_short(lines: Sequence[BadLine]) -> str:
    """The lines in one phrase: places that are bad in several stretches of bands once, and many of them
    together.

    Examples
    --------
    >>> stretches = [BadLine("image column", 42, 42, 0.9, bands) for bands in ((2, 4), (9, 9))]
    >>> in_short([BadLine("band", 7, 8, 0.9), *stretches])
    'bands 7 to 8, image column 42 in 4 bands'
    """
    places: dict[tuple[str, int, int], list[BadLine]] = {}
    for line in lines:
        places.setdefault((line.what, line.first, line.last), []).append(line)
    said = []
    for what in dict.fromkeys(line.what for line in lines):
        same = [stretches for (name, *_), stretches in places.items() if name == what]
        counts = [sum(last - first + 1 for first, last in _bands(stretches)) for stretches in same]
        if len(same) <= MANY:
            said += [_in_short(*pair) for pair in zip(same, counts, strict=True)]
        else:
            several = f"{sum(stretches[0].last - stretches[0].first + 1 for stretches in same):,} {what}s"
            least, most = min(counts), max(counts)
            spread = f"{least}" if least == most else f"{least} to {most}"
            said.append(several + (f" in {spread} band{'s' if most > 1 else ''} each" if most else ""))
    return ", ".join(said)


def _bands(stretches: Sequence[BadLine]) -> list[tuple[int, int]]:
    return [line.bands for line in stretches if line.bands is not None]


def _in_short(stretches: Sequence[BadLine], bands: int) -> str:
    if len(stretches) == 1:
        return str(stretches[0])
    return f"{_span(stretches[0].what, stretches[0].first, stretches[0].last)} in {bands} bands"


def _stripes(bad: Mask, seen: Mask, chance: float) -> list[BadLine]:
    """Image columns and rows that are bad only in adjacent bands."""
    bands, rows, cols = bad.shape
    found = []
    for name, along in (("image column", 1), ("image row", 2)):
        hits, of = bad.sum(axis=along), seen.sum(axis=along)
        pairs = zip(hits, of, strict=True)
        are_bad = np.array([_are_bad(*pair, chance, bands * (rows + cols)) for pair in pairs])
        for number in np.flatnonzero(are_bad.any(axis=0)):
            place = int(number) + 1
            runs = _named("band", hits[:, number], of[:, number], are_bad[:, number])
            found += [BadLine(name, place, place, run.share, (run.first, run.last)) for run in runs]
    return found


def _are_bad(hits: Counts, of: Counts, chance: float, looked_at: int) -> Mask:
    """Which of the adjacent lines are bad as a whole, from their numbers of defects and observed entries."""
    result = np.zeros(len(hits), dtype=bool)
    for run in _runs(hits > MOSTLY * of):
        beside = [place for place in (run[0] - 1, run[-1] + 1) if 0 <= place < len(hits)]
        nearby = hits[beside].sum() / max(int(of[beside].sum()), 1)
        probability = _at_least(int(hits[run].sum()), int(of[run].sum()), max(chance, float(nearby)))
        result[run] = probability * looked_at < SIGNIFICANCE
    return result


def _at_least(hits: int, of: int, chance: float) -> float:
    """Chernoff's bound on the probability of this many hits or more, each with this chance."""
    share = hits / of
    if chance <= 0 or chance >= share:
        return float(chance > 0)
    exponent = share * math.log(share / chance)
    if hits < of:
        exponent += (1 - share) * math.log((1 - share) / (1 - chance))
    return math.exp(-of * exponent)


def _named(name: str, hits: Counts, of: Counts, are_bad: Mask) -> list[BadLine]:
    return [
        BadLine(name, int(run[0]) + 1, int(run[-1]) + 1, float(hits[run].sum() / of[run].sum()))
        for run in _runs(are_bad)
    ]


def _runs(where: Mask) -> list[npt.NDArray[np.intp]]:
    """The runs of true values."""
    places = np.flatnonzero(where)
    return [run for run in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1) if run.size]


def _span(what: str, first: int, last: int) -> str:
    return f"{what} {first}" if first == last else f"{what}s {first} to {last}"
