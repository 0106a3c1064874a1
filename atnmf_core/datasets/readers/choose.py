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
from .raw import RawData, Variable
from .wavelengths import in_nanometres

__all__ = ["chosen"]

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


def chosen(
    variables: Sequence[Variable], label: str, options: Options, limits: Limits, order: Order
) -> RawData:
    """The data among the named arrays of a file.

    A name that the user gave decides. Otherwise the only array of three axes is taken; else, where the file
    states rows and columns, the only matrix with one axis of that many pixels; else the only matrix. Where
    several remain, the refusal lists them by name.
    """
    image_shape = options.image_shape or _stated_shape(variables)
    variable = _named(variables, label, options.variable) or _obvious(variables, label, image_shape)
    limits.check_shape(variable.shape, f"{variable.name} in {label}")
    values = variable.load()
    wavelengths, notes = _stated_wavelengths(variables, variable)
    if len(variables) > 1:
        notes = (f"{variable.name} was read from {label}.", *notes)
    return RawData(
        values=values,
        label=f"{variable.name} in {label}",
        image_shape=image_shape if values.ndim == 2 else None,
        order=order,
        wavelengths=wavelengths,
        notes=list(notes),
    )


def _named(variables: Sequence[Variable], label: str, name: str | None) -> Variable | None:
    if name is None:
        return None
    for variable in variables:
        if variable.name == name:
            return variable
    raise _ambiguous(f"{label} has no array called {name!r}", variables, label)


def _obvious(variables: Sequence[Variable], label: str, image_shape: tuple[int, int] | None) -> Variable:
    cubes = [variable for variable in variables if _long_axes(variable) >= 3]
    matrices = [variable for variable in variables if _long_axes(variable) == 2]
    if image_shape is not None and not cubes:
        pixels = image_shape[0] * image_shape[1]
        matrices = [variable for variable in matrices if pixels in variable.shape] or matrices
    candidates = cubes or matrices
    if not candidates:
        raise UnreadableData(f"{label} has no matrix or cube of numbers in it.")
    if len(candidates) > 1:
        raise _ambiguous(f"{label} has several arrays that could be meant", candidates, label)
    return candidates[0]


def _ambiguous(what: str, variables: Sequence[Variable], label: str) -> UnreadableData:
    if not variables:
        return UnreadableData(f"{what}: {label} has no matrix or cube of numbers in it.")
    listed = ", ".join(f"{one.name[:60]} ({' x '.join(map(shown, one.shape))})" for one in variables[:20])
    more = ", ..." if len(variables) > 20 else ""
    return UnreadableData(f"{what}: choose one of {listed}{more}.", tuple(one.name for one in variables))


def _long_axes(variable: Variable) -> int:
    return sum(size > 1 for size in variable.shape)


def _stated_shape(variables: Sequence[Variable]) -> tuple[int, int] | None:
    rows, cols = (_stated_number(variables, names) for names in (ROWS, COLS))
    return None if rows is None or cols is None else (rows, cols)


def _stated_number(variables: Sequence[Variable], names: set[str]) -> int | None:
    for variable in variables:
        if variable.name.lower() in names and _long_axes(variable) == 0:
            value = _small(variable)
            if value.size == 1 and np.isfinite(value[0]) and value[0] == int(value[0]) > 0:
                return int(value[0])
    return None


def _stated_wavelengths(
    variables: Sequence[Variable], data: Variable
) -> tuple[npt.NDArray[np.float64] | None, tuple[str, ...]]:
    for variable in variables:
        count = max(variable.shape, default=0)
        is_vector = _long_axes(variable) == 1 and count <= LONGEST_VECTOR
        if variable.name.lower() in WAVELENGTHS and is_vector and count in data.shape:
            return in_nanometres(_small(variable))
    return None, ()


def _small(variable: Variable) -> npt.NDArray[Any]:
    with np.errstate(all="ignore"):
        return variable.load().astype(np.float64).reshape(-1)
