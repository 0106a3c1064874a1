"""From an array of unknown layout to a data set: the rules for axes and for the order of pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...problem import Order
from ..dataset import Dataset, Kind
from ..normalisation import normalise
from .entries import nonnegative
from .errors import UnreadableData
from .limits import Limits
from .options import Options
from .stored import StoredArray

__all__ = ["to_dataset"]


@dataclass(frozen=True)
class _Layout:
    """V as a view of the array, not yet converted or copied where that can be avoided."""

    V: npt.NDArray[Any]
    kind: Kind
    image_shape: tuple[int, int] | None = None
    order: Order = "F"
    notes: tuple[str, ...] = ()


def to_dataset(stored: StoredArray, name: str, options: Options, limits: Limits) -> Dataset:
    """The data set that an array is, by these rules.

    Three axes: a cube (or, with kind="faces", a stack of images). The bands (or the images) are counted by
    the axis that `bands_axis` names; else by the one that the format fixes; else by the only one as long as
    the list of wavelengths; else by the one that differs where the two others are equally long; else by the
    last. Pixels are put into V column after column, unless `order` says otherwise.

    Two axes: a plain matrix, V as it stands, where no image shape is known. Otherwise pixels are on the axis
    whose length is rows * cols, the second where both are; they are laid out as `order` says, else column
    after column in MATLAB files and row after row in others.
    """
    values = stored.values
    if values.dtype.kind not in "biuf":
        raise UnreadableData(f"{stored.label} holds {_words(values.dtype)}: real numbers are needed.")
    if values.ndim > 3:
        values = values.squeeze()
    limits.check_shape(values.shape, stored.label)
    if values.ndim not in (2, 3):
        raise UnreadableData(f"{stored.label} has {values.ndim} axes: a matrix has 2, a cube 3.")
    layout = (_stack if values.ndim == 3 else _matrix)(values, stored, options)
    V, value_notes = nonnegative(layout.V, stored, options, limits)
    keeps_wavelengths = (
        stored.wavelengths is not None and stored.wavelengths.size == V.shape[0] and layout.kind != "faces"
    )
    return normalise(
        Dataset(
            V=V,
            kind=layout.kind,
            name=name,
            title=options.name or name,
            image_shape=layout.image_shape,
            order=layout.order,
            wavelengths=stored.wavelengths if keeps_wavelengths else None,
            citation="",
            terms="Your own file; it stays on the machine that runs this program.",
            notes=(*stored.notes, *layout.notes, *value_notes),
        ),
        options.normalisation,
    )


def _stack(values: npt.NDArray[Any], stored: StoredArray, options: Options) -> _Layout:
    kind: Kind = options.kind or stored.kind or "cube"
    if kind == "matrix":
        raise UnreadableData(
            f"{stored.label} has three axes and is no matrix: choose kind='cube' or kind='faces'."
        )
    axis, notes = _bands_axis_of_stack(values.shape, stored, options, kind)
    stack = np.moveaxis(values, axis, 0)
    count, rows, cols = stack.shape
    order: Order = options.order or "F"
    flat = stack.reshape(count, -1) if order == "C" else stack.transpose(0, 2, 1).reshape(count, -1)
    return _Layout(flat if kind == "cube" else flat.T, kind, (rows, cols), order, notes)


def _bands_axis_of_stack(
    shape: tuple[int, ...], stored: StoredArray, options: Options, kind: Kind
) -> tuple[int, tuple[str, ...]]:
    if options.bands_axis is not None:
        return _checked_axis(options.bands_axis, len(shape)), ()
    if stored.bands_axis is not None:
        return stored.bands_axis, ()
    axis, why = _guessed_axis(shape, None if stored.wavelengths is None else stored.wavelengths.size)
    counted = "bands" if kind == "cube" else "images"
    return axis, (
        f"Axis {axis} ({shape[axis]} long) was taken to count the {counted}, because {why}; bands_axis "
        "changes that.",
    )


def _guessed_axis(shape: tuple[int, ...], wavelengths: int | None) -> tuple[int, str]:
    if wavelengths is not None and shape.count(wavelengths) == 1:
        return shape.index(wavelengths), "there are as many wavelengths"
    if len(set(shape)) == 2:
        return next(
            axis for axis in range(3) if shape.count(shape[axis]) == 1
        ), "the other two are equally long"
    return 2, "it is the last"


def _matrix(values: npt.NDArray[Any], stored: StoredArray, options: Options) -> _Layout:
    image_shape = options.image_shape or stored.image_shape
    kind: Kind = options.kind or stored.kind or ("matrix" if image_shape is None else "cube")
    axis = None if options.bands_axis is None else _checked_axis(options.bands_axis, 2)
    if kind == "matrix":
        return _Layout(values if axis in (None, 0) else values.T, kind)
    if image_shape is None:
        raise UnreadableData(
            f"{stored.label} is a matrix of pixels without a known image size: give image_shape=(rows, cols)."
        )
    pixels = image_shape[0] * image_shape[1]
    if axis is None:
        axis = 0 if values.shape[1] == pixels else 1
    if values.shape[1 - axis] != pixels:
        raise UnreadableData(
            f"{stored.label} is {values.shape[0]} x {values.shape[1]}, and images of {image_shape[0]} x "
            f"{image_shape[1]} have "
            f"{pixels} pixels: one side must be that long. Check image_shape and bands_axis."
        )
    order: Order = options.order or stored.order
    way = "column after column" if order == "F" else "row after row"
    by_pixel = values if axis == 0 else values.T
    notes = () if options.order else (f"Pixels were taken {way}; order changes that.",)
    return _Layout(by_pixel if kind == "cube" else by_pixel.T, kind, image_shape, order, notes)


def _checked_axis(axis: int, ndim: int) -> int:
    if not -ndim <= axis < ndim:
        raise UnreadableData(f"bands_axis={axis}: the array has axes 0 to {ndim - 1}.")
    return int(axis) % ndim


def _words(dtype: np.dtype[Any]) -> str:
    return {"c": "complex numbers", "O": "objects", "S": "text", "U": "text", "V": "records"}.get(
        dtype.kind, str(dtype)
    )
