"""Which array in a file is the data, and what the others say about it."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import numpy as np

from ...model.problem import Order, Shape, Values, Wide
from ..dataset import Kind
from .sources import ArrayInFile, Limits, ReadingOptions, Remedy, Source, UnreadableData
from .values import NamedArray, StoredArray, in_nanometres

# What people call things in their files, in lower case.
ROWS = re.compile(r"(n|num)?_?(rows?|lines?)|nr|height")
COLS = re.compile(r"(n|num)?_?(cols?|columns?|samples)|nc|width")
WAVELENGTHS = re.compile(r"wave?len(gth)?s?(_nm)?|wl|wvl|waves?|lambdas?|(band_?cent|centerwavelength)\w*")
ABUNDANCES = re.compile(r"[as](_?(gt|true))?|x_?true|gt|abund\w*|fractions")
SPECTRA = re.compile(r"[mew](_?(gt|true))?|gt|end(member\w*)?|sig(natures)?|spectra")
PICTURES = re.compile(r"fea|faces?|ima?ge?s?|pictures")
LABELS = re.compile(r"gnd|labels?|y|ids?|subjects?|targets?|class(es)?")
LONGEST_VECTOR = 100_000
SMALLEST_PICTURE = 64
SHORTEST_WAVELENGTH = 200


def read_picked(
    arrays: Sequence[NamedArray],
    label: str,
    options: ReadingOptions,
    limits: Limits,
    *,
    order: Order,
    rewrite: Callable[[str, Values], list[Source]],
) -> StoredArray:
    """The data among the named arrays of a file, and what the others say about it.

    A name given by the user decides. Otherwise the candidates are the arrays that hold images of the size
    stated in the file; without one, the cubes and the matrices with as many pixels; or else the matrices.
    Their true abundances and spectra are told by their shapes. If several remain, the user is asked.
    `order` is that of the format, and `rewrite` makes the files with other values in the array of a name.
    """
    stated = options.image_shape or _stated_shape(arrays)
    named = None if options.variable is None else named_array(arrays, label, options.variable)
    candidates = [named] if named else _candidates(arrays, stated)
    if not candidates:
        sparse = [array for array in arrays if array.sparse]
        what = f"{sparse[0].info}, which is sparse" if sparse else "no matrix or cube of numbers in it"
        raise UnreadableData(f"{label} has {what}.")
    truth = _truth(candidates[0] if named else None, arrays, candidates, stated)
    left = [array for array in candidates if array not in truth]
    if len(left) != 1:
        raise several_arrays(f"{label} has several arrays that could be meant", left or candidates)
    array = left[0]
    kind, image_shape, notes = _pictures(array, arrays) if stated is None else (None, None, ())
    if truth:
        names = ", ".join(one.name for one in truth)
        notes = (*notes, f"Taken as the truth about its materials, from the same file: {names}.")
    if len(arrays) > 1:
        notes = (f"{array.name} was read from {label}.", *notes)
    what = f"{array.name} in {label}" + (", a sparse matrix," if array.sparse else "")
    limits.check_shape(array.shape, what)
    wavelengths, remarks = _stated_wavelengths(arrays, array)
    values = array.load()
    return StoredArray(
        values,
        what,
        kind=kind,
        image_shape=stated or image_shape or _shape_of_maps(array, truth) if values.ndim == 2 else None,
        order=order,
        wavelengths=wavelengths,
        truth=tuple(one.load() for one in truth),
        notes=[*notes, *remarks],
        arrays=tuple(one.info for one in arrays if one.long_axes >= 2),
        rewrite=partial(rewrite, array.name),
    )


def named_array(arrays: Sequence[NamedArray], label: str, name: str) -> NamedArray:
    """The array that the user named, by its full name or by the last part of its path."""
    found = [array for array in arrays if array.name == name]
    found = found or [array for array in arrays if array.name.rpartition("/")[2] == name]
    if len(found) != 1:
        raise several_arrays(f"{label} has no array called {name[:60]!r}", arrays)
    return found[0]


def several_arrays(what: str, arrays: Sequence[NamedArray]) -> UnreadableData:
    worth = sorted((one for one in arrays if one.long_axes >= 2), key=lambda one: -math.prod(one.shape))
    infos: tuple[ArrayInFile, ...] = tuple(one.info for one in worth)
    if not infos:
        return UnreadableData(f"{what}, and no matrix or cube of numbers.")
    listed = ", ".join(str(one) for one in infos[:20]) + (", ..." if len(infos) > 20 else "")
    remedy = Remedy("variable", infos[0].name, f"read {infos[0].name[:60]}")
    return UnreadableData(f"{what}: choose one of {listed}.", (remedy,), infos)


def _stated_wavelengths(
    arrays: Iterable[NamedArray], data: NamedArray
) -> tuple[Wide | None, tuple[str, ...]]:
    for array in arrays:
        count = max(array.shape, default=0)
        is_vector = array.long_axes == 1 and count <= LONGEST_VECTOR
        if _called(array, WAVELENGTHS) and is_vector and count in data.shape:
            return in_nanometres(array.vector())
        if array.name.lower() in ("band", "bands") and is_vector and count in data.shape:
            # Band numbers may have this name too.
            vector = array.vector()
            if vector.min() >= SHORTEST_WAVELENGTH and (np.diff(vector) > 0).all():
                return in_nanometres(vector)
    return None, ()


def _candidates(arrays: Sequence[NamedArray], stated: tuple[int, int] | None) -> list[NamedArray]:
    cubes = [array for array in arrays if array.long_axes >= 3]
    matrices = [array for array in arrays if array.long_axes == 2]
    if stated is not None:
        fitting = [array for array in (*cubes, *matrices) if _planes(array, stated) is not None]
        return fitting or cubes or matrices
    if cubes:
        shapes = [shape for cube in cubes for shape in _image_shapes(cube)]
        return cubes + [
            matrix for matrix in matrices if any(_planes(matrix, shape) is not None for shape in shapes)
        ]
    return matrices


def _image_shapes(cube: NamedArray) -> list[tuple[int, int]]:
    sizes = [size for size in cube.shape if size > 1]
    return [(sizes[0], sizes[1]), (sizes[1], sizes[2])]


def _planes(array: NamedArray, image_shape: Shape) -> int | None:
    rows, cols = image_shape
    sizes = [size for size in array.shape if size > 1]
    if len(sizes) == 3 and (sizes[:2] == [rows, cols] or sizes[1:] == [rows, cols]):
        return math.prod(sizes) // (rows * cols)
    if len(sizes) == 2 and rows * cols in sizes:
        return math.prod(sizes) // (rows * cols)
    return None


def _truth(
    named: NamedArray | None,
    arrays: Sequence[NamedArray],
    candidates: Sequence[NamedArray],
    stated: tuple[int, int] | None,
) -> tuple[NamedArray, ...]:
    """The true abundances and spectra of the data: abundances have its pixels, spectra its bands."""
    for data in [named] if named else sorted(candidates, key=lambda one: -math.prod(one.shape)):
        F, pixels, shapes = _sides(data, candidates if named is None else arrays, stated)
        for abundances in arrays:
            K = next((K for shape in shapes if (K := _planes(abundances, shape)) is not None), None)
            if K is None and pixels in abundances.shape and abundances.long_axes == 2:
                K = math.prod(abundances.shape) // pixels
            if abundances is data or K is None or F is None or not 2 <= K < F:
                continue
            spectra = [one for one in arrays if sorted(one.shape) == sorted((F, K)) and one is not data]
            known = [one for one in spectra if _called(one, SPECTRA)] or spectra[:1]
            if known or _called(abundances, ABUNDANCES) or _sums_to_one(abundances, K):
                return (abundances, *(one for one in known[:1] if one is not abundances))
    return ()


def _sides(
    data: NamedArray, others: Sequence[NamedArray], stated: tuple[int, int] | None
) -> tuple[int | None, int, list[tuple[int, int]]]:
    if data.long_axes >= 3:
        shapes = [stated] if stated else _image_shapes(data)
    else:
        shapes = (
            [stated] if stated else [s for one in others if one.long_axes >= 3 for s in _image_shapes(one)]
        )
    for shape in shapes:
        F = _planes(data, shape)
        if F is not None:
            return F, shape[0] * shape[1], [shape]
    longest = max(data.shape)
    return (min(data.shape), longest, []) if data.long_axes == 2 else (None, longest, [])


def _shape_of_maps(data: NamedArray, truth: Sequence[NamedArray]) -> tuple[int, int] | None:
    """The image size of abundance maps that have as many pixels as the data has on one axis."""
    maps = [one for one in truth if one.long_axes >= 3]
    return next((shape for one in maps for shape in _image_shapes(one) if _planes(data, shape)), None)


def _sums_to_one(array: NamedArray, K: int) -> bool:
    if array.sparse or math.prod(array.shape) > 10_000_000 or K > 100:
        return False
    values = np.asarray(array.load(), dtype=np.float64)
    axis = values.shape.index(K)
    with np.errstate(all="ignore"):
        return bool(values.min() >= -1e-6 and np.allclose(values.sum(axis=axis), 1, atol=1e-3))


def _pictures(
    array: NamedArray, arrays: Sequence[NamedArray]
) -> tuple[Kind | None, tuple[int, int] | None, tuple[str, ...]]:
    """Whether a matrix holds square pictures, by its name or by as many labels beside it."""
    if len(array.shape) != 2 or array.sparse:
        return None, None, ()
    labels = {max(one.shape) for one in arrays if _called(one, LABELS) and one.long_axes == 1}
    axes = [axis for axis in (1, 0) if _is_square(array.shape[axis]) and array.shape[1 - axis] in labels]
    if not axes and _called(array, PICTURES):
        axes = [axis for axis in (1, 0) if _is_square(array.shape[axis])]
    if not axes:
        return None, None, ()
    axis = min(axes, key=lambda axis: _roughness(array, axis)) if len(axes) > 1 else axes[0]
    side = math.isqrt(array.shape[axis])
    line = "row" if axis else "column"
    note = f"Each {line} of {array.name} was taken as a picture of {side} x {side} pixels."
    return "faces", (side, side), (note,)


def _is_square(pixels: int) -> bool:
    return pixels >= SMALLEST_PICTURE and math.isqrt(pixels) ** 2 == pixels


def _roughness(array: NamedArray, axis: int) -> float:
    """How much neighbours differ if pixels are on this axis, relative to any two numbers."""
    values = np.asarray(array.load(), dtype=np.float64)
    pictures = values if axis == 1 else values.T
    side = math.isqrt(pictures.shape[1])
    with np.errstate(all="ignore"):
        below, right = pictures[:, 1:] - pictures[:, :-1], pictures[:, side:] - pictures[:, :-side]
        neighbours = np.abs(below).mean() + np.abs(right).mean()
        return float(neighbours / max(2 * np.abs(pictures - np.median(pictures)).mean(), 1e-300))


def _stated_shape(arrays: Sequence[NamedArray]) -> tuple[int, int] | None:
    rows, cols = (_stated_number(arrays, names) for names in (ROWS, COLS))
    return None if rows is None or cols is None else (rows, cols)


def _stated_number(arrays: Sequence[NamedArray], names: re.Pattern[str]) -> int | None:
    for array in arrays:
        if _called(array, names) and array.long_axes == 0:
            value = array.vector()
            if value.size == 1 and np.isfinite(value[0]) and value[0] == int(value[0]) > 0:
                return int(value[0])
    return None


def _called(array: NamedArray, names: re.Pattern[str]) -> bool:
    return names.fullmatch(array.name.lower()) is not None
