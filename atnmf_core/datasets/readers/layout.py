"""From an array of unknown layout to a data set, and back: the rules for axes and pixel order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...problem import InputError, Order
from ..dataset import Dataset, Kind, Truth
from ..normalisation import normalise
from ..truth import truth_from_arrays
from .entries import clean_entries
from .errors import Remedy, UnreadableData
from .limits import Limits
from .options import ReadingOptions
from .stored import StoredArray

AXES = "a matrix has 2, a cube 3"


@dataclass(frozen=True)
class ArrayLayout:
    """How V is made from a stored array.

    Attributes
    ----------
    to_V : an array of the stored shape as F x N of the given type, row by row in memory.
    from_V : the inverse.
    """

    kind: Kind
    to_V: Callable[[npt.NDArray[Any], type[np.floating[Any]]], npt.NDArray[Any]]
    from_V: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]
    image_shape: tuple[int, int] | None = None
    order: Order = "F"
    notes: tuple[str, ...] = ()


def to_dataset(
    stored: StoredArray, name: str, title: str, options: ReadingOptions, limits: Limits
) -> Dataset:
    """A stored array as a data set, by the rules of `layout_of`."""
    layout = layout_of(stored, options, limits)
    entries, value_notes = clean_entries(stored, options, limits)
    V = layout.to_V(entries, limits.float_type(entries.size))
    has_bands = layout.kind != "faces"
    wavelengths = stored.wavelengths if has_bands else None
    data = Dataset(
        V=V,
        kind=layout.kind,
        name=name,
        title=title,
        image_shape=layout.image_shape,
        order=layout.order,
        wavelengths=wavelengths if wavelengths is not None and wavelengths.size == V.shape[0] else None,
        citation="",
        terms="Your own file; it stays on the machine that runs this program.",
        notes=(*stored.notes, *layout.notes, *value_notes),
        band_names=stored.band_names if has_bands and len(stored.band_names) == V.shape[0] else (),
        georeference=stored.georeference if layout.kind == "cube" else None,
    )
    data = normalise(data, options.normalisation)
    return _with_truth(data, stored.truth) if stored.truth and data.kind == "cube" else data


def _with_truth(data: Dataset, arrays: tuple[npt.NDArray[Any], ...]) -> Dataset:
    try:
        truth: Truth = truth_from_arrays(data, arrays)
    except InputError:
        return data
    return replace(data, truth=truth, notes=(*data.notes, *truth.notes))


def layout_of(stored: StoredArray, options: ReadingOptions, limits: Limits) -> ArrayLayout:
    """How an array becomes V. The rules:

    Three axes: a cube (or, with kind="faces", a stack of images). The bands (or the images) are counted by
    the axis that `bands_axis` names; else by the one that the format fixes; else by the only one as long as
    the list of wavelengths; else by the one that differs where the two others are equally long; else by the
    last. Pixels are put into V column by column, unless `order` says otherwise.

    Two axes: a plain matrix, V as it stands, where no image shape is known. Otherwise pixels are on the axis
    whose length is rows * cols, the second where both are; they are stored as `order` says, else column by
    column in MATLAB files and row by row in others.
    """
    shape = stored.values.shape
    if stored.values.dtype.kind not in "biuf":
        raise UnreadableData(
            f"{stored.label} holds {_content(stored.values.dtype)}: real numbers are needed."
        )
    if len(shape) > 3:
        shape = stored.values.squeeze().shape
    limits.check_shape(shape, stored.label)
    if len(shape) not in (2, 3):
        raise UnreadableData(f"{stored.label} has {len(shape)} axes: {AXES}.")
    return (_stack if len(shape) == 3 else _matrix)(shape, stored, options)


def _stack(shape: tuple[int, ...], stored: StoredArray, options: ReadingOptions) -> ArrayLayout:
    kind: Kind = options.kind or stored.kind or "cube"
    if kind == "matrix":
        raise UnreadableData(
            f"{stored.label} has three axes and is not a matrix.",
            [Remedy("kind", "cube", "read it as a cube"), Remedy("kind", "faces", "read it as images")],
        )
    axis, notes = bands_axis(shape, stored, options, kind)
    count = shape[axis]
    rows, cols = (size for i, size in enumerate(shape) if i != axis)
    order: Order = options.order or "F"

    def to_V(values: npt.NDArray[Any], dtype: type[np.floating[Any]]) -> npt.NDArray[Any]:
        stack = np.moveaxis(values.reshape(shape), axis, 0)
        flat = _copied(stack if order == "C" else stack.transpose(0, 2, 1), dtype).reshape(count, -1)
        return flat if kind == "cube" else np.ascontiguousarray(flat.T)

    def from_V(V: npt.NDArray[Any]) -> npt.NDArray[Any]:
        flat = V if kind == "cube" else V.T
        if order == "C":
            stack = flat.reshape(count, rows, cols)
        else:
            stack = flat.reshape(count, cols, rows).transpose(0, 2, 1)
        return np.moveaxis(stack, 0, axis).reshape(stored.values.shape)

    return ArrayLayout(kind, to_V, from_V, (rows, cols), order, notes)


def _copied(stack: npt.NDArray[Any], dtype: type[np.floating[Any]]) -> npt.NDArray[Any]:
    """A contiguous copy, three times as fast as NumPy's where bands are the innermost axis of the source."""
    if stack.flags.c_contiguous:
        # In a MATLAB file, the pixels of a band are already contiguous.
        return stack.astype(dtype, copy=False)
    copy = np.empty(stack.shape, dtype)
    if abs(stack.strides[0]) == stack.itemsize:
        for i in range(stack.shape[1]):
            copy[:, i] = stack[:, i]
    else:
        for band, source in zip(copy, stack, strict=True):
            band[...] = source
    return copy


def bands_axis(
    shape: tuple[int, ...], stored: StoredArray, options: ReadingOptions, kind: Kind
) -> tuple[int, tuple[str, ...]]:
    """Which of three axes counts the bands or images, by the rules of `layout_of`; and notes on that."""
    if options.bands_axis is not None:
        return _checked_axis(options.bands_axis, len(shape)), ()
    if stored.bands_axis is not None:
        return stored.bands_axis, ()
    axis, why = _guessed_axis(shape, None if stored.wavelengths is None else stored.wavelengths.size)
    counted = "bands" if kind == "cube" else "images"
    return axis, (f"Axis {axis} ({shape[axis]} long) was taken to count the {counted}, because {why}.",)


def _guessed_axis(shape: tuple[int, ...], wavelengths: int | None) -> tuple[int, str]:
    if wavelengths is not None and shape.count(wavelengths) == 1:
        return shape.index(wavelengths), "there are as many wavelengths"
    if len(set(shape)) == 2:
        different = next(axis for axis in range(3) if shape.count(shape[axis]) == 1)
        return different, "the other two are equally long"
    return 2, "it is the last"


def _matrix(shape: tuple[int, ...], stored: StoredArray, options: ReadingOptions) -> ArrayLayout:
    image_shape = options.image_shape or stored.image_shape
    kind: Kind = options.kind or stored.kind or ("matrix" if image_shape is None else "cube")
    axis = None if options.bands_axis is None else _checked_axis(options.bands_axis, 2)
    if kind == "matrix":
        axis = stored.bands_axis if axis is None else axis
        return _turned(kind, shape, stored, axis == 1)
    if image_shape is None:
        raise UnreadableData(
            f"{stored.label} is a matrix of pixels, and the size of its images is not known.",
            [Remedy("image_shape", None, "say how many rows and columns they have")],
        )
    pixels = image_shape[0] * image_shape[1]
    if axis is None:
        axis = 0 if shape[1] == pixels else 1
    if shape[1 - axis] != pixels:
        raise UnreadableData(
            f"{stored.label} is {shape[0]} x {shape[1]}, and images of {image_shape[0]} x {image_shape[1]} "
            f"have {pixels} pixels: one side must be that long.",
            [Remedy("image_shape", None, "say how many rows and columns its images have")],
        )
    order: Order = options.order or stored.order
    way = "column by column" if order == "F" else "row by row"
    notes = () if options.order else (f"The pixels of an image were taken {way}.",)
    turned = (axis == 1) == (kind == "cube")
    return _turned(kind, shape, stored, turned, image_shape, order, notes)


def _turned(
    kind: Kind,
    shape: tuple[int, ...],
    stored: StoredArray,
    turned: bool,
    image_shape: tuple[int, int] | None = None,
    order: Order = "F",
    notes: tuple[str, ...] = (),
) -> ArrayLayout:
    def to_V(values: npt.NDArray[Any], dtype: type[np.floating[Any]]) -> npt.NDArray[Any]:
        flat = values.reshape(shape)
        return np.ascontiguousarray(flat.T if turned else flat, dtype)

    def from_V(V: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return (V.T if turned else V).reshape(stored.values.shape)

    return ArrayLayout(kind, to_V, from_V, image_shape, order, notes)


def _checked_axis(axis: int, ndim: int) -> int:
    if not -ndim <= axis < ndim:
        raise UnreadableData(
            f"There is no axis {axis}: the array has axes 0 to {ndim - 1}.", setting="bands_axis"
        )
    return int(axis) % ndim


def _content(dtype: np.dtype[Any]) -> str:
    kinds = {"c": "complex numbers", "O": "objects", "S": "text", "U": "text", "V": "records"}
    return kinds.get(dtype.kind, str(dtype))
