"""The front door for files: what they are is told by their contents and names, and one reader is chosen."""

from __future__ import annotations

import re
from typing import Any, Literal

from ...problem import Order
from ..dataset import Dataset, Kind
from . import archive
from .envi import partner_of, read_envi
from .errors import UnreadableData
from .images import IMAGE_SUFFIXES, is_image, read_images
from .layout import to_dataset
from .limits import Limits
from .matlab import is_hdf5, read_matlab
from .numpy_files import NPY_MAGIC, read_npy, read_npz
from .options import Options
from .sources import Source, gather
from .stored import StoredArray
from .table import read_table
from .tiff import is_tiff, read_tiff

__all__ = ["SUFFIXES", "read_dataset"]

TABLE_SUFFIXES = {".csv", ".tsv", ".txt"}
ARRAY_SUFFIXES = {".mat", ".npy", ".npz", *TABLE_SUFFIXES}
ENVI_SUFFIXES = {".hdr", ".img", ".dat", ".stored", ".bsq", ".bil", ".bip"}
SUFFIXES = tuple(sorted({".zip", *ENVI_SUFFIXES, *ARRAY_SUFFIXES, *IMAGE_SUFFIXES}))


def read_dataset(
    files: Any,
    *,
    name: str | None = None,
    variable: str | None = None,
    kind: Kind | None = None,
    bands_axis: int | None = None,
    order: Order | None = None,
    image_shape: tuple[int, int] | None = None,
    negative: Literal["refuse", "zero"] = "refuse",
    nodata: float | tuple[float, ...] = (),
    normalisation: str = "none",
    limits: Limits | None = None,
) -> Dataset:
    """Read a data set from files that people have.

    Images (PGM, PNG, JPEG, BMP, TIFF; several, or a zip of them), MATLAB .mat (all versions), NumPy .npy and
    .npz, ENVI (.hdr and its binary), multi-band TIFF, and text tables (.csv, .tsv, .txt). Contents of a zip
    archive are read the same way.

    Parameters
    ----------
    files : a path, a (name, bytes) pair, an open or uploaded file, or a list of these.
    name : how to call the data; by default after its file.
    variable : which array of a .mat or .npz file is meant, where it has several.
    kind : "faces", "cube" or "matrix", where the file is not to decide.
    bands_axis : which axis of an array counts the bands (of a cube) or the images (of faces).
    order : "F" where pixels stand column after column, "C" where row after row. For arrays of three axes it
        only decides how V is laid out.
    image_shape : (rows, cols), for matrices that have all pixels on one axis.
    negative : "refuse" entries below 0, or set them to "zero".
    nodata : numbers that stand for missing entries, besides NaN and what the file itself declares.
    normalisation : "none", "maximum" or "lee-seung".
    limits : how much may be asked for; by default what the environment says.

    Raises
    ------
    UnreadableData : always this, whatever is wrong with the files or the arguments. Its `choices` lists
        arrays to choose from with `variable`.
    """
    options = Options(name, variable, kind, bands_axis, order, image_shape, negative, nodata, normalisation)
    bounds = limits or Limits.from_environment()
    try:
        given = gather(files, bounds)
        sources = _unpacked(given, bounds)
        stored, stem = _read(sources, options, bounds)
        # An archive is better known by its own name than by that of its contents.
        stem = stem if sources is given else given[0].stem
        return to_dataset(stored, _identifier(name or stem), options, bounds)
    except MemoryError as error:
        raise UnreadableData("There is not enough memory to read this: cut out a part.") from error


def _unpacked(sources: list[Source], limits: Limits) -> list[Source]:
    archives = [source for source in sources if _is_archive(source)]
    if not archives:
        return sources
    if len(sources) > 1:
        raise UnreadableData("A zip archive is read alone: put all files into one, or none.")
    members = archive.unpack(archives[0], limits)
    if any(_is_archive(member) for member in members):
        raise UnreadableData(f"{archives[0].label} has another archive in it: unpack that first.")
    return members


def _is_archive(source: Source) -> bool:
    return source.suffix == ".zip" or (source.data.startswith(archive.MAGIC) and source.suffix != ".npz")


def _read(sources: list[Source], options: Options, limits: Limits) -> tuple[StoredArray, str]:
    """The contents of the files by the one reader that fits, and the name of the file that counts."""
    headers = [source for source in sources if source.suffix == ".hdr"]
    arrays = [source for source in sources if source.suffix in ARRAY_SUFFIXES]
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
                f"{len(left_out)} files that are no images were left out, among them {left_out[0]}."
            )
        return stored, images[0].stem if len(images) == 1 else "images"
    if len(arrays) > 1:
        raise UnreadableData(f"{len(arrays)} files with arrays were given: one is read at a time.")
    if arrays:
        return _read_array(arrays[0], options, limits), arrays[0].stem
    raise UnreadableData(
        f"{sources[0].label} is of no kind that can be read. These are: {' '.join(SUFFIXES)}; "
        "the binary file of an ENVI cube is read together with its .hdr file."
    )


def _read_images(images: list[Source], limits: Limits) -> StoredArray:
    for source in images:
        if not is_image(source.data):
            raise UnreadableData(f"{source.label} is not an image, whatever its name says.")
    if len(images) == 1 and is_tiff(images[0].data):
        return read_tiff(images[0], limits)
    return read_images(images, limits)


def _read_array(source: Source, options: Options, limits: Limits) -> StoredArray:
    data, suffix = source.data, source.suffix
    if suffix == ".npy" and data.startswith(NPY_MAGIC):
        return read_npy(source, options, limits)
    if suffix == ".npz" and data.startswith(archive.MAGIC):
        return read_npz(source, options, limits)
    if suffix == ".mat":
        return read_matlab(source, options, limits)
    if suffix in TABLE_SUFFIXES and not is_hdf5(data):
        return read_table(source, options, limits)
    raise UnreadableData(f"{source.label} is not a {suffix} file, whatever its name says.")


def _identifier(stem: str) -> str:
    """A short name that is safe in addresses and file names."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-.")[:60] or "upload"
