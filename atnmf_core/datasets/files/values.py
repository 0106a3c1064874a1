"""What a format's reader returns: an array, and everything that the file says about its meaning."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...model.problem import Array, InputError, Mask, Order, Shape, Values, Wide
from ..dataset import Dataset, Georeference, Kind, Layout, Truth, normalise, truth_from_arrays
from .sources import ArrayInFile, Limits, ReadingOptions, Remedy, Source, UnreadableData

_NANOMETRES = {
    "nm": 1.0, "nanometer": 1.0, "nanometre": 1.0, "um": 1e3, "µm": 1e3, "μm": 1e3, "micron": 1e3,
    "micrometer": 1e3, "micrometre": 1e3, "mm": 1e6, "millimeter": 1e6, "millimetre": 1e6, "m": 1e9,
    "meter": 1e9, "metre": 1e9, "angstrom": 0.1, "å": 0.1,
}  # fmt: skip
_WAVENUMBERS = {"cm-1", "cm^-1", "1/cm", "wavenumber"}
_NO_UNIT = {"", "unknown", "none", "null", "n/a", "-", "1", "unitless"}
# No optical sensor has bands at 100 nm, and few beyond 100 µm: smaller numbers are micrometres.
LARGEST_IN_MICROMETRES = 100.0


def in_nanometres(values: npt.ArrayLike, unit: str = "") -> tuple[Wide | None, tuple[str, ...]]:
    """Wavelengths in nanometres, None if they are not wavelengths, with notes on what was decided.

    Without a unit, values that are all below 100 are taken for micrometres and others for nanometres.

    >>> in_nanometres([0.45, 2.5], "Micrometers")[0].tolist()
    [450.0, 2500.0]
    >>> in_nanometres([1984.2, 1985.1], "decimal year")[0] is None
    True
    """
    given = np.asarray(values, dtype=np.float64).reshape(-1)
    if given.size == 0 or not np.all(np.isfinite(given)) or given.min() <= 0 or given.max() > 1e7:
        return None, ("The wavelengths in the file are not all positive numbers and were left out.",)
    word = unit.strip().strip("[]()").lower()
    factor = _NANOMETRES.get(word) or _NANOMETRES.get(word.removesuffix("s"))
    if factor is not None:
        return given * factor, ()
    if word.removesuffix("s") in _WAVENUMBERS:
        return 1e7 / given, ()
    if word not in _NO_UNIT:
        return None, (f"The file's band positions are in {unit.strip()[:30]!r}, which is not a wavelength.",)
    if given.max() < LARGEST_IN_MICROMETRES:
        return given * 1e3, (
            "The file states no unit for its wavelengths; being small, they were taken as micrometres.",
        )
    return given, ()


@dataclass
class StoredArray:
    """An array with two or three axes, with the numbers as stored in the file.

    kind, bands_axis, image_shape, wavelengths : what the file says; None if it says nothing.
    order : the order in which this format stores the pixels of an image along one axis.
    nodata, valid_range : numbers that count as missing, and those outside which all do.
    missing : True where the file marks an entry as bad in another way; broadcasts to the shape of `values`.
    gain, offset : the file's numbers stand for gain * number + offset.
    spectrum_names : what the columns of V are called, in a spectral library.
    truth, arrays : what looks like its true abundances and spectra; all that the user could choose instead.
    rewrite : makes the files with other numbers of the same shape and type in place of this array.
    """

    values: Values
    label: str
    kind: Kind | None = None
    bands_axis: int | None = None
    image_shape: Shape | None = None
    order: Order = "C"
    wavelengths: Wide | None = None
    nodata: tuple[float, ...] = ()
    valid_range: tuple[float, float] | None = None
    missing: Mask | None = None
    gain: float = 1.0
    offset: float = 0.0
    band_names: tuple[str, ...] = ()
    spectrum_names: tuple[str, ...] = ()
    georeference: Georeference | None = None
    truth: tuple[Values, ...] = ()
    notes: list[str] = field(default_factory=list)
    arrays: tuple[ArrayInFile, ...] = ()
    rewrite: Callable[[Values], list[Source]] | None = None


@dataclass(frozen=True)
class NamedArray:
    """An array in a file, described by its header and not read yet."""

    name: str
    shape: tuple[int, ...]
    load: Callable[[], Values]
    sparse: bool = False

    @property
    def info(self) -> ArrayInFile:
        return ArrayInFile(self.name, self.shape)

    @property
    def long_axes(self) -> int:
        return sum(size > 1 for size in self.shape)

    def vector(self) -> Wide:
        with np.errstate(all="ignore"):
            return self.load().astype(np.float64).reshape(-1)


# The entries of V: which are missing, and what happens to negative and infinite ones.


# Values that people use for missing entries, if far below the rest of the data.
PLACEHOLDERS = {-9999.0, -999.0, -99999.0, -32768.0, -32767.0, -1e20, -1e30, -1e34, -9990.0, -9998.0}


def clean_entries(
    stored: StoredArray, options: ReadingOptions, limits: Limits, *, part: bool = False
) -> tuple[Array, tuple[str, ...]]:
    """The stored numbers, nonnegative or NaN, with notes on what was changed.

    Of their own type if nothing is. What the file or the user declares missing becomes NaN; negative entries
    are treated as the user says, infinite ones rejected. Only a `part` of an array may be missing entirely.
    """
    values = stored.values
    dtype = limits.float_type(values.size)
    missing = list(_declared_missing(stored, options))
    untouched = stored.gain == 1 and stored.offset == 0 and not missing and options.negative == "refuse"
    # A copy of a large array takes a while: only where something is changed, or a number would not fit.
    untouched = untouched and values.flags.aligned and values.dtype.kind != "b"
    kept = values.dtype.newbyteorder("=") if untouched and np.can_cast(values.dtype, dtype) else dtype
    with np.errstate(all="ignore"):
        entries: Array = values.astype(kept, copy=not untouched)
        _scale(entries, stored.gain, stored.offset)
    notes = []
    # The minimum is NaN where any entry is: found without an array of that size.
    empty = int(np.isnan(entries).sum()) if np.isnan(entries.min()) else 0
    if empty:
        notes.append(f"{_count(empty, 'entry is NaN', 'entries are NaN')}: not observed.")
    for what, where in missing:
        gaps = where & ~np.isnan(entries)
        count = int(gaps.sum())
        if count:
            entries[gaps] = np.nan
            notes.append(f"{_count(count, 'entry', 'entries')} {what}: not observed.")
    if dtype == np.float32 and values.dtype.itemsize > 4:
        notes.append("A matrix of this size is held in single precision.")
    lowest = _lowest(entries, stored.label, part)
    if lowest < 0:
        notes.append(_without_negative(entries, stored, options))
    return entries, tuple(notes)


def can_mark_missing(stored: StoredArray) -> bool:
    return stored.values.dtype.kind == "f" or bool(stored.nodata and not np.isnan(stored.nodata[0]))


def stored_numbers(V: Array, stored: StoredArray) -> Values:
    """Entries of V as stored: with the scaling undone, rounded to whole numbers, NaN as no-data value."""
    dtype = stored.values.dtype
    numbers = np.array(V, dtype=np.float64)
    gap = np.isnan(numbers)
    numbers = (numbers - stored.offset) / stored.gain
    placeholder = stored.nodata[0] if stored.nodata else np.nan
    if dtype.kind == "f":
        return np.where(gap, placeholder, numbers).astype(dtype)
    if gap.any() and not can_mark_missing(stored):
        raise UnreadableData(
            f"{stored.label} holds whole numbers and declares no value for missing entries: they cannot be "
            "written in its format."
        )
    bounds = np.iinfo(dtype) if dtype.kind in "iu" else np.iinfo(np.uint8)
    high = bounds.max if dtype.kind in "iu" else 1
    rounded = np.clip(np.rint(np.where(gap, 0, numbers)), bounds.min, high)
    return np.where(gap, placeholder, rounded).astype(dtype)


def _scale(V: Array, gain: float, offset: float) -> None:
    divisor = 1 / gain
    whole = float(np.rint(divisor))
    # Dividing by 10,000 gives the nearest number to 0.1234; multiplying by 0.0001 often does not.
    if gain < 1 and abs(divisor - whole) < 1e-6 * divisor:
        V /= whole
    elif gain != 1:
        V *= gain
    if offset:
        V += offset


def _declared_missing(stored: StoredArray, options: ReadingOptions) -> Iterator[tuple[str, Mask]]:
    values = stored.values
    if stored.missing is not None:
        yield "marked as bad in the file", np.broadcast_to(stored.missing, values.shape)
    nodata = _equal_to_any(values, (*stored.nodata, *options.nodata))
    if nodata is not None:
        yield "with the no-data value", nodata
    if stored.valid_range is not None:
        low, high = stored.valid_range
        yield "outside the valid range that the file states", (values < low) | (values > high)
    if options.saturated is not None:
        yield "saturated", values >= options.saturated


def _equal_to_any(values: Values, numbers: tuple[float, ...]) -> Mask | None:
    missing = None
    for number in numbers:
        stored = _as_stored(number, values.dtype)
        if stored is not None:
            here = values == stored
            missing = here if missing is None else missing | here
    return missing


def _as_stored(number: float, dtype: np.dtype[Any]) -> Any:
    """The number as an entry of this type; None if no entry can equal it."""
    if np.isnan(number):
        return None
    if dtype.kind == "f":
        with np.errstate(all="ignore"):
            return dtype.type(number)
    if dtype.kind == "b" or not float(number).is_integer():
        return None
    bounds = np.iinfo(dtype)
    return dtype.type(int(number)) if bounds.min <= number <= bounds.max else None


def _lowest(entries: Array, label: str, part: bool) -> float:
    low, high = float(entries.min()), float(entries.max())
    if np.isnan(low):
        low, high = (float(extreme.reduce(entries, axis=None)) for extreme in (np.fmin, np.fmax))
    if np.isnan(low) and not part:
        raise UnreadableData(f"{label} has no value at all: every entry is missing.")
    if np.isinf(low) or np.isinf(high):
        infinite = int(np.isinf(entries).sum())
        raise UnreadableData(
            f"{label} has {_count(infinite, 'infinite entry', 'infinite entries')}.",
            [Remedy("nodata", float("inf"), "count them as missing")],
        )
    return low


def _without_negative(entries: Array, stored: StoredArray, options: ReadingOptions) -> str:
    negative = entries < 0
    count = int(negative.sum())
    if options.negative == "refuse":
        numbers = stored.values[negative]
        in_file = "" if stored.gain == 1 and not stored.offset else f" ({numbers.min():.6g} in the file)"
        raise UnreadableData(
            f"{stored.label} has {_count(count, 'negative entry', 'negative entries')}, down to "
            f"{np.nanmin(entries):.4g}{in_file}; a nonnegative factorization cannot use them.",
            _remedies(entries, numbers),
        )
    if options.negative == "keep":
        return f"{_count(count, 'entry is', 'entries are')} negative."
    entries[negative] = 0 if options.negative == "zero" else np.nan
    became = "set to 0" if options.negative == "zero" else "taken as missing"
    return f"{_count(count, 'negative entry was', 'negative entries were')} {became}."


def _remedies(entries: Array, negative: Values) -> list[Remedy]:
    """Offer to leave out what looks like a no-data value, and to set noise around 0 to 0."""
    lowest = float(negative.min())
    alone = bool((negative == lowest).all())
    far = -lowest > 10 * float(np.max(entries[entries >= 0], initial=0)) if alone else False
    remedies = []
    if lowest in PLACEHOLDERS or lowest < -1e19 or (alone and far and negative.size > 1):
        remedies.append(Remedy("nodata", lowest, f"read {lowest:.6g} as missing"))
    if not (remedies and alone):
        remedies.append(Remedy("negative", "zero", "set negative entries to 0"))
        remedies.append(Remedy("negative", "keep", "keep them, as noise, to restore the data"))
        remedies.append(Remedy("negative", "missing", "read them as missing"))
    return remedies


def _count(number: int, one: str, many: str) -> str:
    return f"1 {one}" if number == 1 else f"{number:,} {many}"


# From an array of unknown layout to a data set, and back: the rules for axes and pixel order.

AXES = "a matrix has 2, a cube 3"


@dataclass(frozen=True)
class ArrayLayout:
    """How V is made of a stored array, row by row in memory and of the given type, and the inverse."""

    kind: Kind
    to_V: Callable[[Values, type[np.floating[Any]]], Values]
    from_V: Callable[[Values], Values]
    image_shape: Shape | None = None
    order: Order = "F"
    notes: tuple[str, ...] = ()


def to_dataset(
    stored: StoredArray, name: str, title: str, options: ReadingOptions, limits: Limits
) -> Dataset:
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


def _with_truth(data: Dataset, arrays: tuple[Values, ...]) -> Dataset:
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
        raise UnreadableData(
            f"{stored.label} has {len(shape)} {'axis' if len(shape) == 1 else 'axes'}: {AXES}."
        )
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

    def to_V(values: Values, dtype: type[np.floating[Any]]) -> Values:
        stack = np.moveaxis(values.reshape(shape), axis, 0)
        flat = _copied(stack if order == "C" else stack.transpose(0, 2, 1), dtype).reshape(count, -1)
        return flat if kind == "cube" else np.ascontiguousarray(flat.T)

    def from_V(V: Values) -> Values:
        stack = Layout(kind, (rows, cols), order).unfold(V)
        return np.moveaxis(stack, 0, axis).reshape(stored.values.shape)

    return ArrayLayout(kind, to_V, from_V, (rows, cols), order, notes)


def _copied(stack: Values, dtype: type[np.floating[Any]]) -> Values:
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
    kind: Kind, shape: tuple[int, ...], stored: StoredArray, turned: bool, *images: Any
) -> ArrayLayout:
    def to_V(values: Values, dtype: type[np.floating[Any]]) -> Values:
        flat = values.reshape(shape)
        return np.ascontiguousarray(flat.T if turned else flat, dtype)

    def from_V(V: Values) -> Values:
        return (V.T if turned else V).reshape(stored.values.shape)

    return ArrayLayout(kind, to_V, from_V, *images)


def _checked_axis(axis: int, ndim: int) -> int:
    if not -ndim <= axis < ndim:
        raise UnreadableData(f"There is no axis {axis}, only axes 0 to {ndim - 1}.", setting="bands_axis")
    return int(axis) % ndim


def _content(dtype: np.dtype[Any]) -> str:
    kinds = {"c": "complex numbers", "O": "objects", "S": "text", "U": "text", "V": "records"}
    return kinds.get(dtype.kind, str(dtype))
