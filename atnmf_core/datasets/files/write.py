"""Writing data sets in the formats of other programs, and results in the format of their source."""

import io
import re
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...model.problem import Array, InputError, Values
from ..dataset import Dataset, Georeference
from .read import Opened, open_files
from .sources import Limits, ReadingOptions, Source, UnreadableData, gather, with_members
from .values import can_mark_missing, layout_of, stored_numbers, to_dataset


def write_like(
    source: Any, V: npt.ArrayLike, path: str | Path, *, keep_unmarkable: bool = False, **options: Any
) -> tuple[Path, ...]:
    """Write V in the format of the file that the data was read from, with everything else that the file
    holds.

    Coordinates, wavelengths, names, units, header entries, other arrays and the number type are those of the
    source. Entries that V leaves unchanged are written exactly as they are stored there.

    Parameters
    ----------
    source : what `read_dataset` was given.
    V : F x N, laid out as `read_dataset(source, **options).V`; NaN where there is no value.
    path : the file to write. An ENVI cube is written as a pair of files; several images go into a folder of
        this name.
    keep_unmarkable : if the format has no value for missing entries, one that V has NaN for keeps the number
        that is stored there; otherwise this is an error.
    options : those with which the source was read.

    Returns
    -------
    paths : the files that were written.
    """
    path = Path(path)
    written = bytes_like(source, V, keep_unmarkable=keep_unmarkable, **options)
    if len(written) == 1:
        places = [path]
    elif any(name.lower().endswith(".hdr") for name, _ in written):
        places = [envi_path(path, name) for name, _ in written]
    else:
        path.mkdir(exist_ok=True)
        places = [path / PurePosixPath(name).name for name, _ in written]
    for place, (_, data) in zip(places, written, strict=True):
        place.write_bytes(data)
    return tuple(places)


def bytes_like(
    source: Any, V: npt.ArrayLike, *, keep_unmarkable: bool = False, **options: Any
) -> list[tuple[str, bytes]]:
    """The files that `write_like` writes, under the names of the source's files."""
    settings = ReadingOptions(**options)
    limits = Limits.from_environment()
    opened = open_files(gather(source, limits), settings, limits)
    stored = opened.stored
    if stored.rewrite is None:
        raise UnreadableData(f"{stored.label} cannot be written: its numbers stand for colours.")
    read = to_dataset(stored, "source", "", settings, limits)
    wanted = np.asarray(V)
    if wanted.shape != read.shape:
        raise InputError(f"V has shape {wanted.shape}, and the source was read as {read.shape}.")
    same = (wanted == read.V) | (np.isnan(wanted) & np.isnan(read.V))
    if keep_unmarkable and not can_mark_missing(stored):
        same |= np.isnan(wanted)
    layout = layout_of(stored, settings, limits)
    changed = layout.from_V(~same)
    numbers = stored.values.copy(order="K")
    numbers[changed] = stored_numbers(layout.from_V(_unnormalised(wanted, read))[changed], stored)
    return [(file.name, file.data) for file in _packed(opened, stored.rewrite(numbers))]


def _unnormalised(V: Values, read: Dataset) -> Values:
    if read.normalisation != "none":
        raise InputError(
            f"the data was read with normalisation={read.normalisation!r}, which cannot be undone: read it "
            "without to write in its own units."
        )
    return V


def _packed(opened: Opened, files: list[Source]) -> list[Source]:
    if opened.zipped is None:
        return files
    return [with_members(opened.zipped, {file.name: file.data for file in files})]


def envi_path(path: Path, name: str) -> Path:
    if name.lower().endswith(".hdr"):
        return path if path.suffix.lower() == ".hdr" else path.with_name(f"{path.stem}.hdr")
    suffix = path.suffix if path.suffix.lower() != ".hdr" else PurePosixPath(name).suffix
    return path.with_suffix(suffix)


class EnviPair(NamedTuple):
    """The two files of an ENVI image: save them under one name, as .hdr and .img."""

    header: bytes
    binary: bytes


def write_envi(data: Dataset) -> EnviPair:
    """A cube as ENVI: band sequential, little-endian, with wavelengths, band names and coordinates."""
    cube = _cube(data).astype(data.V.dtype.newbyteorder("<"), copy=False)
    header = envi_header(
        data.title, cube.shape, data.V.dtype, data.wavelengths, data.band_names, data.georeference
    )
    return EnviPair(header, cube.transpose(2, 0, 1).tobytes())


def envi_header(
    title: str,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    wavelengths: Array | None = None,
    band_names: Sequence[str] = (),
    georeference: Georeference | None = None,
) -> bytes:
    from spectral.io.envi import dtype_to_envi  # slow to import, and few runs write a cube

    rows, cols, bands = shape
    fields = {
        "description": f"{{{_one_line(title)}}}", "samples": cols, "lines": rows, "bands": bands,
        "header offset": 0, "file type": "ENVI Standard", "data type": dtype_to_envi[dtype.char],
        "interleave": "bsq", "byte order": 0,
    }  # fmt: skip
    if wavelengths is not None:
        fields["wavelength units"] = "Nanometers"
        fields["wavelength"] = "{" + ", ".join(f"{nm!r}" for nm in wavelengths.tolist()) + "}"
    if band_names:
        fields["band names"] = "{" + ", ".join(_one_line(name).replace(",", ";") for name in band_names) + "}"
    fields |= _coordinates(georeference)
    return ("ENVI\n" + "".join(f"{key} = {value}\n" for key, value in fields.items())).encode()


def _coordinates(place: Georeference | None) -> dict[str, str]:
    if place is None:
        return {}
    fields = {}
    if place.map_info:
        fields["map info"] = f"{{{place.map_info}}}"
    elif place.transform is not None:
        x, width, _, y, _, height = place.transform
        fields["map info"] = f"{{Arbitrary, 1, 1, {x!r}, {y!r}, {abs(width)!r}, {abs(height)!r}}}"
    if place.wkt:
        fields["coordinate system string"] = f"{{{_one_line(place.wkt)}}}"
    return fields


def write_envi_zip(data: Dataset, name: str) -> bytes:
    header, binary = write_envi(data)
    return zipped([(f"{name}.hdr", header), (f"{name}.img", binary)])


def zipped(files: Iterable[tuple[str, bytes]]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, contents in files:
            archive.writestr(name, contents)
    return stream.getvalue()


def write_mat(data: Dataset) -> bytes:
    """A cube as a MATLAB file with `cube` (rows x cols x bands) and, where known, `wavelengths` in nm."""
    from scipy.io import savemat  # slow to import, and few runs write a cube

    stream = io.BytesIO()
    savemat(stream, _arrays(data), do_compression=True)
    return stream.getvalue()


def write_npz(data: Dataset) -> bytes:
    """A cube as a NumPy archive with `cube` (rows x cols x bands) and, where known, `wavelengths` in nm."""
    stream = io.BytesIO()
    np.savez_compressed(stream, allow_pickle=False, **_arrays(data))
    return stream.getvalue()


def _arrays(data: Dataset) -> dict[str, Array]:
    arrays: dict[str, Array] = {"cube": _cube(data)}
    if data.wavelengths is not None:
        arrays["wavelengths"] = data.wavelengths
    return arrays


def _cube(data: Dataset) -> Array:
    if data.kind != "cube":
        raise InputError(f"{data.name} is of kind {data.kind!r}: only a cube is written in this format.")
    return as_indexed(data, data.V)


def as_indexed(data: Dataset, matrix: Values) -> Values:
    """A matrix of V's shape as people index it: rows x cols x bands, or images x rows x cols."""
    if data.kind == "matrix":
        return matrix
    images = data.images(matrix)
    return images.transpose(1, 2, 0) if data.kind == "cube" else images


def _one_line(text: str) -> str:
    return re.sub(r"[\s{}=]+", " ", text).strip()
