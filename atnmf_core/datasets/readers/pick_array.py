"""Which of the arrays in a file is the data, and what the small ones beside it say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...problem import Order
from .errors import UnreadableData, shown
from .limits import Limits
from .options import Options
from .stored import NamedArray, StoredArray
from .wavelengths import in_nanometres

__all__ = ["pick_array"]

ROWS = {
    "rows",
    "row",
    "lines",
    "line",
    "nrow",
    "nrows",
    "nlines",
    "nline",
    "n_rows",
    "n_lines",
    "height",
    "nr",
}
COLS = {
    "cols",
    "col",
    "columns",
    "samples",
    "ncol",
    "ncols",
    "ncolumns",
    "nsamples",
    "n_cols",
    "n_samples",
    "width",
    "nc",
}
WAVELENGTHS = {"wavelength", "wavelengths", "wavelen", "wavlen", "wl", "lambda", "lambdas", "wave", "waves"}
LONGEST_VECTOR = 100_000


def pick_array(
    arrays: Sequence[NamedArray], label: str, options: Options, limits: Limits, order: Order
) -> StoredArray:
    """The data among the named arrays of a file.

    A name that the user gave decides. Otherwise the only array of three axes is taken; else, where the file
    states rows and columns, the only matrix with one axis of that many pixels; else the only matrix. Where
    several remain, the refusal lists them by name.
    """
    image_shape = options.image_shape or _stated_shape(arrays)
    array = _named(arrays, label, options.variable) or _obvious(arrays, label, image_shape)
    limits.check_shape(array.shape, f"{array.name} in {label}")
    values = array.load()
    wavelengths, notes = _stated_wavelengths(arrays, array)
    if len(arrays) > 1:
        notes = (f"{array.name} was read from {label}.", *notes)
    return StoredArray(
        values=values,
        label=f"{array.name} in {label}",
        image_shape=image_shape if values.ndim == 2 else None,
        order=order,
        wavelengths=wavelengths,
        notes=list(notes),
    )


def _named(arrays: Sequence[NamedArray], label: str, name: str | None) -> NamedArray | None:
    if name is None:
        return None
    for array in arrays:
        if array.name == name:
            return array
    raise _ambiguous(f"{label} has no array called {name!r}", arrays, label)


def _obvious(arrays: Sequence[NamedArray], label: str, image_shape: tuple[int, int] | None) -> NamedArray:
    cubes = [array for array in arrays if _long_axes(array) >= 3]
    matrices = [array for array in arrays if _long_axes(array) == 2]
    if image_shape is not None and not cubes:
        pixels = image_shape[0] * image_shape[1]
        matrices = [array for array in matrices if pixels in array.shape] or matrices
    candidates = cubes or matrices
    if not candidates:
        raise UnreadableData(f"{label} has no matrix or cube of numbers in it.")
    if len(candidates) > 1:
        raise _ambiguous(f"{label} has several arrays that could be meant", candidates, label)
    return candidates[0]


def _ambiguous(what: str, arrays: Sequence[NamedArray], label: str) -> UnreadableData:
    if not arrays:
        return UnreadableData(f"{what}: {label} has no matrix or cube of numbers in it.")
    listed = ", ".join(f"{one.name[:60]} ({' x '.join(map(shown, one.shape))})" for one in arrays[:20])
    more = ", ..." if len(arrays) > 20 else ""
    return UnreadableData(f"{what}: choose one of {listed}{more}.", tuple(one.name for one in arrays))


def _long_axes(array: NamedArray) -> int:
    return sum(size > 1 for size in array.shape)


def _stated_shape(arrays: Sequence[NamedArray]) -> tuple[int, int] | None:
    rows, cols = (_stated_number(arrays, names) for names in (ROWS, COLS))
    return None if rows is None or cols is None else (rows, cols)


def _stated_number(arrays: Sequence[NamedArray], names: set[str]) -> int | None:
    for array in arrays:
        if array.name.lower() in names and _long_axes(array) == 0:
            value = _small(array)
            if value.size == 1 and np.isfinite(value[0]) and value[0] == int(value[0]) > 0:
                return int(value[0])
    return None


def _stated_wavelengths(
    arrays: Sequence[NamedArray], data: NamedArray
) -> tuple[npt.NDArray[np.float64] | None, tuple[str, ...]]:
    for array in arrays:
        count = max(array.shape, default=0)
        is_vector = _long_axes(array) == 1 and count <= LONGEST_VECTOR
        if array.name.lower() in WAVELENGTHS and is_vector and count in data.shape:
            return in_nanometres(_small(array))
    return None, ()


def _small(array: NamedArray) -> npt.NDArray[Any]:
    with np.errstate(all="ignore"):
        return array.load().astype(np.float64).reshape(-1)
