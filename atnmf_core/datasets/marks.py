"""Entries that somebody says are wrong: shapes drawn on a picture of some bands, or a file."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..model.problem import InputError, Mask, Shape, Wide
from .dataset import Dataset
from .files.read import read_dataset
from .files.sources import UnreadableData

Tool = Literal["rectangle", "lasso", "brush"]
_LETTERS: dict[str, Tool] = {"r": "rectangle", "l": "lasso", "b": "brush"}
BETWEEN = "_"  # Between two marks in a text
PATTERN = r"\d{1,6}-\d{1,6}[rlb]\d{1,6}(?:\.\d{1,6}){1,800}"  # A mark in a text
BRUSH = 1.5  # How far a brush reaches from its path, in pixels
EDGE = 0.5  # How far the edge of a lasso does


@dataclass(frozen=True)
class Mark:
    """A shape on one or several images of a data set.

    bands : first and last band, or image of faces, counted from 1; of no account for a matrix.
    tool : "rectangle", from corner to corner; "lasso", a closed curve; "brush", a thick path.
    points : row and column of each corner or point, counted from 1.
    """

    bands: tuple[int, int]
    tool: Tool
    points: tuple[tuple[int, int], ...]

    def __str__(self) -> str:
        letter = next(letter for letter, tool in _LETTERS.items() if tool == self.tool)
        return f"{self.bands[0]}-{self.bands[1]}{letter}" + ".".join(
            str(number) for point in self.points for number in point
        )

    def inside(self, shape: Shape) -> Mask:
        at_row, at_col = np.mgrid[1 : shape[0] + 1, 1 : shape[1] + 1]
        points = np.array(self.points, float)
        if self.tool == "rectangle":
            (top, left), (bottom, right) = points.min(axis=0), points.max(axis=0)
            return np.asarray((top <= at_row) & (at_row <= bottom) & (left <= at_col) & (at_col <= right))
        if self.tool == "brush":
            return _near(points, at_row, at_col, BRUSH)
        closed = np.vstack((points, points[:1]))
        return _enclosed(closed, at_row, at_col) | _near(closed, at_row, at_col, EDGE)


def _near(path: Wide, row: npt.NDArray[np.int_], col: npt.NDArray[np.int_], reach: float) -> Mask:
    near = np.zeros(row.shape, dtype=bool)
    for start, end in zip(path, path[1:] if len(path) > 1 else path, strict=False):
        step = end - start
        along = ((row - start[0]) * step[0] + (col - start[1]) * step[1]) / max(float(step @ step), 1e-9)
        along = np.clip(along, 0, 1)
        apart = np.hypot(row - start[0] - along * step[0], col - start[1] - along * step[1])
        near |= apart <= reach
    return near


def _enclosed(closed: Wide, row: npt.NDArray[np.int_], col: npt.NDArray[np.int_]) -> Mask:
    """Which places a closed curve goes around: those from which a ray crosses it an odd number of times."""
    odd = np.zeros(row.shape, dtype=bool)
    for (row0, col0), (row1, col1) in pairwise(closed):
        if row0 != row1:
            crossed = (row0 <= row) != (row1 <= row)
            odd ^= crossed & (col < col0 + (row - row0) / (row1 - row0) * (col1 - col0))
    return odd


def spell_marks(marks: Iterable[Mark]) -> str:
    return BETWEEN.join(map(str, marks))


def read_marks(text: str) -> tuple[Mark, ...]:
    """The marks that a text names.

    >>> read_marks("3-5r2.4.6.9")
    (Mark(bands=(3, 5), tool='rectangle', points=((2, 4), (6, 9))),)
    >>> spell_marks(read_marks("3-5r2.4.6.9_1-1b7.7.8.8"))
    '3-5r2.4.6.9_1-1b7.7.8.8'
    """
    return tuple(map(_read_mark, filter(None, text.split(BETWEEN))))


def _read_mark(text: str) -> Mark:
    if not re.fullmatch(PATTERN, text):
        raise InputError(f"{text!r} is not a mark.")
    first, last, letter, rest = re.match(r"(\d+)-(\d+)([rlb])(.*)", text).groups()  # type: ignore[union-attr]
    numbers = [int(number) for number in rest.split(".")]
    points = tuple(zip(numbers[::2], numbers[1::2], strict=False))
    return Mark((int(first), int(last)), _LETTERS[letter], points)


def entries_of(marks: Iterable[Mark], data: Dataset) -> Mask:
    """The entries of V (bool F x N) that the marks cover.

    >>> cube = Dataset(np.zeros((3, 20)), "cube", "x", image_shape=(4, 5))
    >>> entries_of(read_marks("2-3r1.1.2.2"), cube).sum(axis=1)
    array([0, 4, 4])
    """
    if data.image_shape is None:
        covered = np.zeros(data.shape, dtype=bool)
        for mark in marks:
            covered |= mark.inside((data.shape[0], data.shape[1]))
        return covered
    stack = np.zeros(data.layout.unfold(data.V).shape, dtype=bool)
    for mark in marks:
        stack[max(mark.bands[0] - 1, 0) : mark.bands[1]] |= mark.inside(data.image_shape)
    return np.asarray(data.layout.fold(stack))


def read_mask(source: Any, data: Dataset) -> Mask:
    """The entries of V for which a file has something other than 0: one laid out like the data, or one image,
    which stands for all bands.
    """
    try:
        file = read_dataset(source, kind=data.kind, negative="keep")
    except UnreadableData:
        file = read_dataset(source, negative="keep")
    found = np.nan_to_num(file.V) != 0
    if file.shape == data.shape and file.image_shape == data.image_shape:
        return np.asarray(data.layout.fold(file.layout.unfold(found)))
    images = found[None] if file.kind == "matrix" else file.layout.unfold(found)
    if len(images) == 1 and images.shape[1:] == data.image_shape:
        count = len(data.layout.unfold(data.V))
        return np.asarray(data.layout.fold(np.repeat(images, count, axis=0)))
    raise InputError(f"The mask has {_size(file)}, and the data has {_size(data)}.")


def _size(data: Dataset) -> str:
    if data.image_shape is None:
        return f"{data.shape[0]:,} × {data.shape[1]:,} numbers"
    rows, cols = data.image_shape
    images = len(data.layout.unfold(data.V))
    of = "band" if data.kind == "cube" else "image"
    return f"{images:,} {of}{'' if images == 1 else 's'} of {rows} × {cols} pixels"
