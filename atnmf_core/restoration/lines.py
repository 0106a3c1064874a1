"""Defects that are lines: bands, image rows, image columns or images that are bad as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .layout import Layout

__all__ = ["BadLine", "bad_lines"]

Mask = npt.NDArray[np.bool_]

MOSTLY = 0.5
"""A line with more than this share of defects is bad as a whole."""


@dataclass(frozen=True)
class BadLine:
    """Neighbouring lines that are bad as a whole, counted from 1.

    Attributes
    ----------
    what : "band", "image column", "image row", "image", "row" or "column".
    first, last : their numbers, both included.
    bands : the bands in which they are bad, (first, last); None for all of them.
    share : of their entries that are defects.
    """

    what: str
    first: int
    last: int
    share: float
    bands: tuple[int, int] | None = None

    def __str__(self) -> str:
        name = _span(self.what, self.first, self.last)
        return name if self.bands is None else f"{name} in {_span('band', *self.bands)}"


def bad_lines(defects: Mask, observed: Mask, layout: Layout) -> tuple[BadLine, ...]:
    """Name the lines of which most observed entries are defects.

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
    found: list[BadLine] = []
    for axis, name in enumerate(names):
        if name is not None:
            others = tuple(other for other in range(3) if other != axis)
            found += _runs(name, _share(bad, seen, others))
    if layout.kind == "cube" and not found:
        found += _stripes(bad, seen)
    return tuple(found)


def _stripes(bad: Mask, seen: Mask) -> list[BadLine]:
    """Image columns and rows that are bad in neighbouring bands only."""
    found = []
    for name, along in (("image column", 1), ("image row", 2)):
        share = _share(bad, seen, (along,))
        for number in np.flatnonzero((share > MOSTLY).any(axis=0)):
            place = int(number) + 1
            runs = _runs("band", share[:, number])
            found += [BadLine(name, place, place, run.share, (run.first, run.last)) for run in runs]
    return found


def _share(bad: Mask, seen: Mask, axes: tuple[int, ...]) -> npt.NDArray[np.float64]:
    return np.asarray(bad.sum(axis=axes) / np.maximum(seen.sum(axis=axes), 1))


def _runs(name: str, share: npt.NDArray[np.float64]) -> list[BadLine]:
    places = np.flatnonzero(share > MOSTLY)
    runs: Sequence[npt.NDArray[np.intp]] = np.split(places, np.flatnonzero(np.diff(places) > 1) + 1)
    return [
        BadLine(name, int(run[0]) + 1, int(run[-1]) + 1, float(share[run].mean())) for run in runs if run.size
    ]


def _span(what: str, first: int, last: int) -> str:
    return f"{what} {first}" if first == last else f"{what}s {first} to {last}"
