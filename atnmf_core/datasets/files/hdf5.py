"""NetCDF and HDF5 as missions and laboratories write them: one cube among many arrays, found by conventions.

Hardly anything here is specific to one mission. EMIT, PACE, PRISMA, AVIRIS, NEON and others differ in names
and axes; but the cube is called reflectance or radiance, wavelengths are a list as long as one of its axes,
and attributes say what fills gaps and how numbers are scaled.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...model.problem import Mask, Values, Wide
from .decoder import Decoder, LocalDecoder, decoder_for, replace_array
from .pick_array import named_array, several_arrays
from .sources import Limits, ReadingOptions, Source, UnreadableData
from .values import NamedArray, StoredArray, in_nanometres

Facts = Mapping[str, Any]  # Attributes, or descriptions of arrays, by name
SIGNATURE = b"\x89HDF\r\n\x1a\n"
CUBE = re.compile(r"reflectance|radiance|^rfl|^rdn|^rad$|rhot|rrs|rhos|cube|toa|spectral_image|^data$", re.I)
BESIDE = re.compile(
    r"mask|qual|flag|uncert|unc$|_err|error|matrix|lat|lon|glt|geo|angle|zenith|azimuth|^obs|elev|"
    r"height|terrain|std|snr|weight|irradiance|igm|time|path",
    re.I,
)
BANDS = re.compile(r"band|wavelength|^wl$|wvl|spectral|channel|lambda", re.I)
WAVELENGTHS = re.compile(r"wavelength|^wl$|wvl|lambda|list_cw|band_cent|center_wave|central_wave", re.I)
NOT_WAVELENGTHS = re.compile(r"good|fwhm|width|flag|mask|index|irradiance|f0", re.I)
GOOD_BANDS = re.compile(r"good_?wavelength|good_?band|^bbl$|list_cw_\w*flags", re.I)
# Same shape as the cube, or as one image; anything but 0 marks an entry as bad.
QUALITY = re.compile(r"err_?matrix|pixel_\w*err|^qual_|bad_?pixel|nodata_?(pixels|mask)", re.I)
NETCDF_FILL = dict.fromkeys(("f4", "f8"), (9.969209968386869e36,)) | {
    "i2": (-32767.0,),
    "i4": (-2147483647.0,),
}
FILL = (
    "_FillValue", "missing_value", "fill_value", "Data_Ignore_Value", "data_ignore_value", "NoData",
    "nodata",
)  # fmt: skip


def is_hdf5(data: bytes) -> bool:
    """HDF5's signature is at the start, or after a user block, which MATLAB makes 512 bytes long."""
    return data[: len(SIGNATURE)] == SIGNATURE or data[512 : 512 + len(SIGNATURE)] == SIGNATURE


def is_netcdf3(data: bytes) -> bool:
    return data[:4] in (b"CDF\x01", b"CDF\x02", b"CDF\x05")


def read_hdf5(source: Source, options: ReadingOptions, limits: Limits) -> StoredArray:
    """The radiance or reflectance cube of a file, with wavelengths; flagged bands and entries are missing."""
    form = "hdf5" if is_hdf5(source.data) else "netcdf3"
    with decoder_for(form, source, limits) as decoder:
        entries = {str(entry["name"]): entry for entry in decoder.description["arrays"]}
        arrays = [_named_array(decoder, entry, source, limits) for entry in entries.values()]
        array = _cube(arrays, source, options)
        entry = entries[array.name]
        attributes = _attributes(entry)
        general = _attributes(decoder.description)
        axis, wavelengths, notes = _bands(array, entry, arrays, entries, general)
        values = array.load()
        missing = _missing(array, axis, arrays, general, notes)
        gain, offset = _scaling(array, attributes, general)
        if len(arrays) > 1:
            notes.insert(0, f"{array.name} was read from {source.label}.")
        return StoredArray(
            values,
            f"{array.name} in {source.label}",
            bands_axis=axis,
            wavelengths=wavelengths,
            nodata=_nodata(attributes, values.dtype, form == "netcdf3" or "_NCProperties" in general),
            valid_range=_valid_range(attributes),
            missing=missing,
            gain=gain,
            offset=offset,
            notes=notes,
            arrays=tuple(one.info for one in arrays if one.long_axes >= 2),
            rewrite=partial(replace_array, form, source, array.name, limits),
        )


def _named_array(
    decoder: Decoder | LocalDecoder, entry: dict[str, Any], source: Source, limits: Limits
) -> NamedArray:
    name, shape = str(entry["name"]), tuple(int(size) for size in entry["shape"])

    def load() -> Values:
        if "values" in entry:
            return np.array(entry["values"]).reshape(shape)
        limits.check_shape(shape, f"{name} in {source.label}")
        return decoder.read(name, shape)

    return NamedArray(name, shape, load)


def _cube(arrays: Sequence[NamedArray], source: Source, options: ReadingOptions) -> NamedArray:
    """The array that the user named, or the only one with three axes; of several, that of the best name."""
    if options.variable is not None:
        return named_array(arrays, source.label, options.variable)
    cubes = [array for array in arrays if len(array.shape) >= 3 and array.long_axes >= 2]
    candidates = cubes or [array for array in arrays if array.long_axes == 2]
    plain = [array for array in candidates if not BESIDE.search(_last(array.name))]
    likely = [array for array in plain if CUBE.search(_last(array.name))]
    left = likely or plain or candidates
    if not left:
        raise UnreadableData(f"{source.label} has no matrix or cube of numbers in it.")
    if len(left) > 1:
        raise several_arrays(f"{source.label} has several arrays that could be meant", left)
    return left[0]


def _bands(
    array: NamedArray, entry: Facts, arrays: Sequence[NamedArray], entries: Facts, general: Facts
) -> tuple[int | None, Wide | None, list[str]]:
    """Which axis counts the bands, axes of length 1 left out where there are many, and their wavelengths."""
    places = _places(array.shape)
    sizes, names = [array.shape[place] for place in places], entry.get("axes", [])
    axes = [_last(str(names[place])) for place in places] if len(names) == len(array.shape) else []
    named = [i for i, name in enumerate(axes) if BANDS.search(name)]
    axis = named[0] if len(named) == 1 else None
    for vector, unit in _wavelength_lists(array, entry, arrays, entries, general):
        fits = [i for i, size in enumerate(sizes) if size == vector.size]
        if axis in fits or (axis is None and len(fits) == 1):
            wavelengths, notes = in_nanometres(_without_gaps(vector), unit)
            return fits[0] if axis is None else axis, wavelengths, list(notes)
    return axis, None, []


def _places(shape: Sequence[int]) -> list[int]:
    return [place for place, size in enumerate(shape) if size > 1 or len(shape) <= 3]


def _wavelength_lists(
    array: NamedArray, entry: Facts, arrays: Sequence[NamedArray], entries: Facts, general: Facts
) -> Iterator[tuple[Wide, str]]:
    """Those that share a word with the array's name (blue, SWIR) first."""
    words = set(re.split(r"[^a-z0-9]+", array.name.lower()))
    found: list[tuple[str, Wide, str]] = []
    for owner in (_attributes(entry), general):
        units = str(owner.get("wavelength_units", ""))
        found += [
            (name, np.array(value).reshape(-1), units)
            for name, value in owner.items()
            if isinstance(value, list)
        ]
    for one in arrays:
        if one.long_axes == 1:
            units = str(_attributes(entries[one.name]).get("units", ""))
            found.append((one.name, one.vector(), units))
    named = [
        (len(words & set(re.split(r"[^a-z0-9]+", name.lower()))), vector, units)
        for name, vector, units in found
        if WAVELENGTHS.search(_last(name))
        and not NOT_WAVELENGTHS.search(_last(name))
        and vector.dtype.kind == "f"
    ]
    for _, vector, units in sorted(named, key=lambda one: -one[0]):
        yield vector, units


def _without_gaps(vector: Wide) -> Wide:
    """Disabled channels have wavelength 0: give them one that continues the series."""
    known = np.flatnonzero(vector > 0)
    if known.size < 2 or known.size == vector.size or not np.isfinite(vector).all():
        return vector
    step = (vector[known[-1]] - vector[known[0]]) / (known[-1] - known[0])
    nearest = known[np.abs(known[:, None] - np.arange(vector.size)).argmin(axis=0)]
    filled: Wide = vector[nearest] + step * (np.arange(vector.size) - nearest)
    return filled


def _missing(
    array: NamedArray, axis: int | None, arrays: Sequence[NamedArray], general: Facts, notes: list[str]
) -> Mask | None:
    """Entries that flags beside the cube mark as bad: whole bands, pixels, or single entries."""
    shape = array.shape
    axis = None if axis is None else _places(shape)[axis]
    missing: Mask | None = None
    vectors = [
        (one.name, one.vector())
        for one in arrays
        if one.long_axes <= 1 and GOOD_BANDS.search(_last(one.name))
    ]
    vectors += [
        (name, np.array(v).reshape(-1))
        for name, v in general.items()
        if isinstance(v, list) and GOOD_BANDS.search(name)
    ]
    words = set(re.split(r"[^a-z0-9]+", array.name.lower()))
    vectors.sort(key=lambda pair: -len(words & set(re.split(r"[^a-z0-9]+", pair[0].lower()))))
    for name, flags in vectors:
        if axis is not None and flags.size == shape[axis] and flags.dtype.kind == "f" and (flags != 0).any():
            along = [1] * len(shape)
            along[axis] = flags.size
            missing = (flags == 0).reshape(along)
            if missing.any():
                notes.append(f"{missing.sum()} of {flags.size} bands are marked as bad in {_last(name)}.")
            break
    images = tuple(size for i, size in enumerate(shape) if i != axis)
    for one in arrays:
        of_image = _longer_than_1(one.shape) == _longer_than_1(images)
        if (
            QUALITY.search(_last(one.name))
            and (one.shape == shape or of_image)
            and _belongs(one.name, array.name)
        ):
            flagged = np.asarray(one.load()) != 0
            flagged = flagged.reshape(images) if of_image else flagged
            if of_image and axis is not None:
                flagged = np.expand_dims(flagged, axis)
            missing = flagged if missing is None else missing | flagged
    return missing


def _longer_than_1(sizes: Sequence[int]) -> list[int]:
    return [size for size in sizes if size > 1]


def _belongs(flags: str, cube: str) -> bool:
    """Each detector has its own flags: VNIR_PIXEL_ERR belongs to VNIR_Cube."""
    detectors = ("vnir", "swir", "blue", "red", "pan")
    mine, theirs = ({word for word in detectors if word in _last(name).lower()} for name in (flags, cube))
    return not mine or not theirs or bool(mine & theirs)


def _scaling(array: NamedArray, attributes: Facts, general: Facts) -> tuple[float, float]:
    gain = next(_numbers(attributes, ("scale_factor",)), None)
    offset = next(_numbers(attributes, ("add_offset",)), 0.0)
    if gain is None:
        # Elsewhere the numbers have been multiplied by the scale factor.
        factor = next(_numbers(attributes, ("Scale_Factor", "Scale Factor", "reflectance_scale_factor")), 1.0)
        gain = 1 / factor if factor >= 1 else factor
    detector = "Vnir" if "vnir" in array.name.lower() else "Swir" if "swir" in array.name.lower() else None
    if detector and f"L2Scale{detector}Max" in general:  # PRISMA, level 2
        low = next(_numbers(general, (f"L2Scale{detector}Min",)), 0.0)
        high = next(_numbers(general, (f"L2Scale{detector}Max",)), np.nan)
        gain, offset = (high - low) / 65535, low
    elif detector and f"ScaleFactor_{detector}" in general:  # PRISMA, level 1
        factor = next(_numbers(general, (f"ScaleFactor_{detector}",)), 0.0)
        gain = 1 / factor if factor else np.nan
        offset = -next(_numbers(general, (f"Offset_{detector}",)), 0.0)
    usable = np.isfinite([gain, offset]).all() and gain > 0
    return (gain, offset) if usable else (1.0, 0.0)


def _nodata(attributes: Facts, dtype: np.dtype[Any], is_netcdf: bool) -> tuple[float, ...]:
    """The fill values in the attributes; NetCDF also has one for what was never written."""
    stated = tuple(dict.fromkeys(_numbers(attributes, FILL)))
    if stated or not is_netcdf:
        return stated
    return NETCDF_FILL.get(f"{dtype.kind}{dtype.itemsize}", ())


def _valid_range(attributes: Facts) -> tuple[float, float] | None:
    both = attributes.get("valid_range")
    if isinstance(both, list) and len(both) == 2:
        ends = list(_numbers({"low": both[0], "high": both[1]}, ("low", "high")))
        return (ends[0], ends[1]) if len(ends) == 2 else None
    low, high = (next(_numbers(attributes, (name,)), None) for name in ("valid_min", "valid_max"))
    if low is None and high is None:
        return None
    return -np.inf if low is None else low, np.inf if high is None else high


def _numbers(attributes: Facts, names: Sequence[str]) -> Iterator[float]:
    for name in names:
        value = attributes.get(name)
        try:
            yield float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            continue


def _attributes(entry: Facts) -> Facts:
    found = entry.get("attributes", {})
    return found if isinstance(found, dict) else {}


def _last(path: str) -> str:
    return path.rpartition("/")[2]
