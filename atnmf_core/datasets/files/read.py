"""The entry point for files: read a data set, or say what has to be answered first."""

import math
import re
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ...model.problem import InputError, Order, Shape, Values, Wide
from ..dataset import Dataset, Kind, Truth, could_be_truth, truth_from_arrays
from .arrays import NPY_MAGIC, is_matlab_hdf5, matlab_arrays, npz_arrays, read_matlab, read_npy, read_npz
from .envi import partner_of, read_envi
from .hdf5 import is_hdf5, is_netcdf3, read_hdf5
from .images import IMAGE_SUFFIXES, is_image, is_tiff, read_images, read_tiff
from .sources import MAGIC, ArrayInFile, Limits, ReadingOptions, Source, UnreadableData, gather, unpack
from .table import read_table
from .values import NamedArray, StoredArray, layout_of, to_dataset

TABLE_SUFFIXES = {".csv", ".tsv", ".txt"}
HDF5_SUFFIXES = {".nc", ".nc4", ".h5", ".hdf5", ".hdf", ".he5", ".cdf"}
ARRAY_SUFFIXES = {".mat", ".npy", ".npz", *TABLE_SUFFIXES, *HDF5_SUFFIXES}
ENVI_SUFFIXES = {".hdr", ".img", ".dat", ".raw", ".bin", ".bsq", ".bil", ".bip", ".sli"}
SUFFIXES = tuple(sorted({".zip", *ENVI_SUFFIXES, *ARRAY_SUFFIXES, *IMAGE_SUFFIXES}))


HDF4 = b"\x0e\x03\x13\x01"


@dataclass(frozen=True)
class Opened:
    stored: StoredArray
    stem: str
    zipped: Source | None


def open_files(given: list[Source], options: ReadingOptions, limits: Limits) -> Opened:
    sources, zipped = _unpacked(given, limits)
    stored, stem = _read(sources, options, limits)
    # The name of an archive says more than that of its contents.
    return Opened(stored, zipped.stem if zipped else stem, zipped)


def _unpacked(sources: list[Source], limits: Limits) -> tuple[list[Source], Source | None]:
    archives = [source for source in sources if _is_archive(source)]
    if not archives:
        return sources, None
    if len(sources) > 1:
        raise UnreadableData("A zip archive is read alone: put all files into one, or none.")
    members = unpack(archives[0], limits)
    if any(_is_archive(member) for member in members):
        raise UnreadableData(f"{archives[0].label} has another archive in it: unpack that first.")
    return members, archives[0]


def _is_archive(source: Source) -> bool:
    return source.suffix == ".zip" or (source.data.startswith(MAGIC) and source.suffix != ".npz")


def _read(sources: list[Source], options: ReadingOptions, limits: Limits) -> tuple[StoredArray, str]:
    headers = [source for source in sources if source.suffix == ".hdr"]
    arrays = [
        one for one in sources if one.suffix in ARRAY_SUFFIXES or is_hdf5(one.data) or is_netcdf3(one.data)
    ]
    images = [source for source in sources if source.suffix in IMAGE_SUFFIXES or is_image(source.data)]
    if len(headers) > 1:
        raise UnreadableData(f"There are {len(headers)} ENVI headers: one cube is read at a time.")
    if headers:
        header = headers[0]
        binary = partner_of(header, [source for source in sources if source is not header])
        return read_envi(header, binary, limits), header.stem
    if images:
        stored = _read_images(images, limits)
        left_out = [source.label for source in sources if source not in images]
        if left_out:
            stored.notes.append(
                f"{len(left_out)} files that are not images were left out, among them {left_out[0]}."
            )
        return stored, images[0].stem if len(images) == 1 else "images"
    if len(arrays) > 1:
        raise UnreadableData(f"{len(arrays)} files with arrays were given: one is read at a time.")
    if arrays:
        return _read_array(arrays[0], options, limits), arrays[0].stem
    raise UnreadableData(
        f"{sources[0].label} is not a kind of file that can be read. These are: {' '.join(SUFFIXES)}; "
        "the binary file of an ENVI cube is read together with its .hdr file."
    )


def _read_images(images: list[Source], limits: Limits) -> StoredArray:
    for source in images:
        if not is_image(source.data):
            raise UnreadableData(f"{source.label} is not an image, whatever its name says.")
    if len(images) == 1 and is_tiff(images[0].data):
        return read_tiff(images[0], limits)
    return read_images(images, limits)


def _read_array(source: Source, options: ReadingOptions, limits: Limits) -> StoredArray:
    data, suffix = source.data, source.suffix
    if not len(data):
        raise UnreadableData(f"{source.label} is empty.")
    if suffix == ".npy" and data.startswith(NPY_MAGIC):
        return read_npy(source, limits)
    if suffix == ".npz" and data.startswith(MAGIC):
        return read_npz(source, options, limits)
    if suffix == ".mat" or is_matlab_hdf5(data):
        return read_matlab(source, "hdf5" if is_hdf5(data) else "matlab", options, limits)
    if is_hdf5(data) or is_netcdf3(data):
        return read_hdf5(source, options, limits)
    if suffix in TABLE_SUFFIXES:
        return read_table(source, limits)
    if data.startswith(HDF4):
        raise UnreadableData(f"{source.label} is HDF 4, which is not read: convert it to HDF 5 first.")
    raise UnreadableData(f"{source.label} is not a {suffix} file, whatever its name says.")


def read_truth(data: Dataset, files: Any) -> Truth:
    """What files say about the materials of a cube.

    Of the arrays in a .mat or .npz file those are taken whose shape fits: abundances have the cube's pixels,
    spectra its bands. Other files hold one array, which has to fit.

    Raises
    ------
    UnreadableData : a file that cannot be read.
    InputError : nothing in the files fits the cube.
    """
    bounds = Limits.from_environment()
    arrays: list[Values] = []
    for source in gather(files, bounds):
        arrays += _arrays(data, source, bounds)
    return truth_from_arrays(data, arrays)


def _arrays(data: Dataset, source: Source, limits: Limits) -> list[Values]:
    if source.suffix == ".mat":
        with matlab_arrays(source, "hdf5" if is_hdf5(source.data) else "matlab", limits) as arrays:
            found = _fitting(data, arrays)
    elif source.suffix == ".npz":
        found = _fitting(data, npz_arrays(source, limits))
    else:
        return [open_files([source], ReadingOptions(), limits).stored.values]
    if not found:
        raise InputError(
            f"{source.label} has neither abundances for the {data.shape[1]} pixels of {data.title} nor "
            f"spectra of its {data.shape[0]} bands."
        )
    return found


def _fitting(data: Dataset, arrays: list[NamedArray]) -> list[Values]:
    return [one.load() for one in arrays if one.long_axes >= 2 and could_be_truth(data, one.shape)]


@dataclass(frozen=True, eq=False)
class SpectralLibrary:
    """Reference spectra, L x S with NaN where not known, their L wavelengths in nm, and S names."""

    wavelengths: Wide
    spectra: Wide
    names: tuple[str, ...]

    def at(self, wavelengths: npt.ArrayLike) -> Wide:
        """The spectra at other wavelengths, by linear interpolation; NaN outside their range."""
        order = np.argsort(self.wavelengths)
        wanted = np.asarray(wavelengths, dtype=np.float64)
        return np.stack(
            [
                np.interp(wanted, self.wavelengths[order], column[order], left=np.nan, right=np.nan)
                for column in self.spectra.T
            ],
            axis=1,
        )


def read_library(files: Any) -> SpectralLibrary:
    """Reference spectra, from an ENVI library (.sli and .hdr) or a table headed by wavelengths."""
    bounds = Limits.from_environment()
    opened = open_files(gather(files, bounds), ReadingOptions(), bounds)
    stored = opened.stored
    if stored.wavelengths is None or stored.values.ndim != 2:
        raise UnreadableData(
            f"{stored.label} is not a spectral library: wavelengths are needed in the first line or the "
            "first column of a table, or in the header of an .sli file."
        )
    layout = layout_of(stored, ReadingOptions(), bounds)
    spectra = np.array(layout.to_V(stored.values, np.float64))
    for number in stored.nodata:
        spectra[spectra == number] = np.nan
    if len(spectra) != stored.wavelengths.size:
        raise UnreadableData(f"{stored.label} does not have one wavelength for each of its bands.")
    names = stored.spectrum_names
    if len(names) != spectra.shape[1]:
        names = tuple(f"spectrum {i + 1}" for i in range(spectra.shape[1]))
    return SpectralLibrary(stored.wavelengths, spectra * stored.gain + stored.offset, names)


def read_dataset(
    files: Any,
    *,
    name: str | None = None,
    variable: str | None = None,
    kind: Kind | None = None,
    image_shape: Shape | None = None,
    order: Order | None = None,
    bands_axis: int | None = None,
    nodata: float | tuple[float, ...] = (),
    saturated: float | None = None,
    negative: Literal["refuse", "zero", "missing", "keep"] = "refuse",
    normalisation: str = "none",
    limits: Limits | None = None,
) -> Dataset:
    """Read a data set from files that people have.

    Images (PGM, PNG, JPEG, BMP, TIFF; several, or a zip of them), MATLAB .mat (all versions), NumPy .npy and
    .npz, ENVI (.hdr and its binary), GeoTIFF, NetCDF and HDF5, and text tables (.csv, .tsv, .txt). The
    contents of a zip archive are read the same way.

    Parameters
    ----------
    files : a path, a (name, bytes) pair, an open or uploaded file, or a list of these.
    name : what to call the data; by default the name of its file.
    variable ... normalisation : answers to what the file does not say, see `ReadingOptions`.
    limits : how large files and arrays may be; by default what the environment says.

    Raises
    ------
    UnreadableData : whatever is wrong with the files or the arguments. Its `remedies` are settings that would
        help, and its `arrays` what can be chosen with `variable`.
    """
    options = ReadingOptions(
        variable, kind, image_shape, order, bands_axis, nodata, saturated, negative, normalisation
    )
    bounds = limits or Limits.from_environment()
    try:
        opened = open_files(gather(files, bounds), options, bounds)
        title = name or opened.stem
        return to_dataset(opened.stored, dataset_name(title), title, options, bounds)
    except MemoryError as error:
        raise UnreadableData("There is not enough memory to read this: cut out a part.") from error


def dataset_name(stem: str) -> str:
    """A short name that is safe in addresses and file names.

    >>> dataset_name("Jasper Ridge (1998)")
    'Jasper-Ridge-1998'
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-.")[:60] or "upload"


# What a form for a user's file needs: the data or a question, what can be chosen, and guesses.

MAX_GUESSES = 6
SHORTEST_SIDE = 4
SAMPLED_IMAGES = 64


@dataclass(frozen=True)
class LayoutGuess:
    kind: Kind
    image_shape: Shape | None = None
    bands_axis: int | None = None

    @property
    def settings(self) -> dict[str, Any]:
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


def read_or_ask(files: Any, options: ReadingOptions | None = None) -> Reading:
    """Read a data set with the answers so far, or say what has to be answered first; never raises."""
    options = options or ReadingOptions()
    opened: Opened | None = None
    try:
        bounds = Limits.from_environment()
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


def _layouts(values: Values, opened: Opened, options: ReadingOptions) -> tuple[LayoutGuess, ...]:
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


def _image_shapes(matrix: Values, axis: int) -> list[tuple[int, int]]:
    """Likely image sizes, best first: with the right length, pixels one line apart resemble each other."""
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
