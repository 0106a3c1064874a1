"""What a form for a user's file needs: the data or a question, what can be chosen, and guesses."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..dataset import Dataset, Kind
from .errors import ArrayInFile, UnreadableData
from .formats import Opened, open_files
from .layout import layout_of, to_dataset
from .limits import Limits
from .options import ReadingOptions
from .read import dataset_name
from .sources import gather

MAX_GUESSES = 6
SHORTEST_SIDE = 4
SAMPLED_IMAGES = 64


@dataclass(frozen=True)
class LayoutGuess:
    """One interpretation of an array, and the settings that ask for it."""

    kind: Kind
    image_shape: tuple[int, int] | None = None
    bands_axis: int | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of `ReadingOptions` that ask for it."""
        return {"kind": self.kind, "image_shape": self.image_shape, "bands_axis": self.bands_axis}


@dataclass(frozen=True)
class Reading:
    """The result of reading a file with some options.

    Attributes
    ----------
    options : those used.
    data : the data set; None if a question has to be answered first.
    problem : why there is no data, with remedies; None if there is.
    arrays : what can be chosen with `variable`; empty if the file has only one array.
    array : the one that was read; None if the user has to choose.
    layouts : interpretations of that array, the likeliest first.
    suggested : the options to try next: those used, and a guess for what is undecided.
    """

    options: ReadingOptions
    data: Dataset | None
    problem: UnreadableData | None
    arrays: tuple[ArrayInFile, ...] = ()
    array: ArrayInFile | None = None
    layouts: tuple[LayoutGuess, ...] = ()
    suggested: ReadingOptions = field(default_factory=ReadingOptions)


def read_or_ask(files: Any, options: ReadingOptions | None = None, limits: Limits | None = None) -> Reading:
    """Read a data set, or say what has to be answered first; never raises.

    Parameters
    ----------
    files : as for `read_dataset`.
    options : the answers so far.
    """
    options = options or ReadingOptions()
    opened: Opened | None = None
    try:
        bounds = limits or Limits.from_environment()
        opened = open_files(gather(files, bounds), options, bounds)
        data = to_dataset(opened.stored, dataset_name(opened.stem), opened.stem, options, bounds)
    except MemoryError:
        problem = UnreadableData("There is not enough memory to read this: cut out a part.")
        return Reading(options, None, problem, suggested=options)
    except UnreadableData as error:
        if opened is None:
            return Reading(options, None, error, error.arrays, suggested=_suggested(options, error, ()))
        return _reading(options, None, error, opened)
    return _reading(options, data, None, opened)


def _reading(
    options: ReadingOptions, data: Dataset | None, problem: UnreadableData | None, opened: Opened
) -> Reading:
    stored = opened.stored
    layouts = _layouts(stored.values, opened, options)
    name = stored.label.partition(" in ")[0] if stored.arrays else opened.stem
    return Reading(
        options,
        data,
        problem,
        stored.arrays if len(stored.arrays) > 1 else (),
        ArrayInFile(name, stored.values.shape),
        layouts,
        options if problem is None else _suggested(options, problem, layouts),
    )


def _suggested(
    options: ReadingOptions, problem: UnreadableData, layouts: tuple[LayoutGuess, ...]
) -> ReadingOptions:
    """The options with the first remedy that has a value, or with the likeliest layout of the asked kind."""
    for remedy in problem.remedies:
        if remedy.setting == "image_shape":
            fitting = [one for one in layouts if one.image_shape and one.kind == (options.kind or one.kind)]
            return replace(options, image_shape=fitting[0].image_shape) if fitting else options
        if remedy.setting == "nodata":
            return replace(options, nodata=(*options.nodata, remedy.value))
        if remedy.value is not None:
            return replace(options, **{remedy.setting: remedy.value})
    return options


def _layouts(values: npt.NDArray[Any], opened: Opened, options: ReadingOptions) -> tuple[LayoutGuess, ...]:
    """Interpretations of an array. The first is how it is read without any settings."""
    shape = values.squeeze().shape if values.ndim > 3 else values.shape
    guesses: list[LayoutGuess] = []
    try:
        first = layout_of(opened.stored, ReadingOptions(variable=options.variable), Limits())
        guesses.append(LayoutGuess(first.kind, first.image_shape))
    except UnreadableData:
        pass
    if len(shape) == 3:
        stacks: tuple[Kind, ...] = ("cube", "faces")
        axes = sorted(range(3), key=lambda axis: axis != _counting_axis(opened, shape))
        guesses += [LayoutGuess(kind, _others(shape, axis), axis) for kind in stacks for axis in axes]
    elif len(shape) == 2:
        guesses.append(LayoutGuess("matrix"))
        kinds: tuple[Kind, ...] = ("faces", "cube")
        for axis in (1, 0):
            sizes = _image_shapes(values.reshape(shape), axis)
            guesses += [LayoutGuess(kind, size) for kind in kinds for size in sizes]
    return tuple(dict.fromkeys(guesses))[: 2 * MAX_GUESSES]


def _counting_axis(opened: Opened, shape: tuple[int, ...]) -> int:
    if opened.stored.bands_axis is not None:
        return opened.stored.bands_axis
    return next((axis for axis in range(3) if shape.count(shape[axis]) == 1), 2)


def _others(shape: tuple[int, ...], axis: int) -> tuple[int, int]:
    rows, cols = (size for i, size in enumerate(shape) if i != axis)
    return rows, cols


def _image_shapes(matrix: npt.NDArray[Any], axis: int) -> list[tuple[int, int]]:
    """Possible sizes of an image with this many pixels, the likeliest first.

    Neighbouring pixels resemble each other; with the right line length, so do pixels one line apart.
    """
    pixels = matrix.shape[axis]
    lines = [n for n in range(SHORTEST_SIDE, math.isqrt(pixels) + 1) if pixels % n == 0]
    lengths = sorted({*lines, *(pixels // n for n in lines)})
    if not lengths:
        return []
    images = np.asarray(matrix if axis == 1 else matrix.T)
    chosen = np.linspace(0, len(images) - 1, min(len(images), SAMPLED_IMAGES)).astype(int)
    with np.errstate(all="ignore"):
        sample = images[chosen].astype(np.float64)
        roughness = [np.nanmean(np.abs(sample[:, n:] - sample[:, :-n])) for n in lengths]
    ranked = [lengths[i] for i in np.argsort(np.nan_to_num(roughness, nan=np.inf), kind="stable")]
    square = math.isqrt(pixels)
    best = ranked[0]
    if square * square == pixels and roughness[lengths.index(square)] < 1.15 * min(roughness):
        best = square
    shapes = [(best, pixels // best), (pixels // best, best)]
    return list(dict.fromkeys(shapes))
