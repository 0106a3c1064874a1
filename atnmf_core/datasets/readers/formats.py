"""Recognising files by their contents and names, and choosing the reader."""

from __future__ import annotations

from dataclasses import dataclass

from . import archive
from .envi import partner_of, read_envi
from .errors import UnreadableData
from .hdf5 import is_hdf5, is_netcdf3, read_hdf5
from .images import IMAGE_SUFFIXES, is_image, read_images
from .limits import Limits
from .matlab import is_matlab_hdf5, read_matlab
from .numpy_files import NPY_MAGIC, read_npy, read_npz
from .options import ReadingOptions
from .sources import Source
from .stored import StoredArray
from .table import read_table
from .tiff import is_tiff, read_tiff

TABLE_SUFFIXES = {".csv", ".tsv", ".txt"}
HDF5_SUFFIXES = {".nc", ".nc4", ".h5", ".hdf5", ".hdf", ".he5", ".cdf"}
ARRAY_SUFFIXES = {".mat", ".npy", ".npz", *TABLE_SUFFIXES, *HDF5_SUFFIXES}
ENVI_SUFFIXES = {".hdr", ".img", ".dat", ".raw", ".bin", ".bsq", ".bil", ".bip", ".sli"}
SUFFIXES = tuple(sorted({".zip", *ENVI_SUFFIXES, *ARRAY_SUFFIXES, *IMAGE_SUFFIXES}))


HDF4 = b"\x0e\x03\x13\x01"


@dataclass(frozen=True)
class Opened:
    """A stored array, the name of its file, and the archive that contained it, if any."""

    stored: StoredArray
    stem: str
    zipped: Source | None


def open_files(given: list[Source], options: ReadingOptions, limits: Limits) -> Opened:
    """The array in the given files, or in a zip archive."""
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
    members = archive.unpack(archives[0], limits)
    if any(_is_archive(member) for member in members):
        raise UnreadableData(f"{archives[0].label} has another archive in it: unpack that first.")
    return members, archives[0]


def _is_archive(source: Source) -> bool:
    return source.suffix == ".zip" or (source.data.startswith(archive.MAGIC) and source.suffix != ".npz")


def _read(sources: list[Source], options: ReadingOptions, limits: Limits) -> tuple[StoredArray, str]:
    headers = [source for source in sources if source.suffix == ".hdr"]
    arrays = [source for source in sources if _is_array(source)]
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


def _is_array(source: Source) -> bool:
    return source.suffix in ARRAY_SUFFIXES or is_hdf5(source.data) or is_netcdf3(source.data)


def _read_images(images: list[Source], limits: Limits) -> StoredArray:
    for source in images:
        if not is_image(source.data):
            raise UnreadableData(f"{source.label} is not an image, whatever its name says.")
    if len(images) == 1 and is_tiff(images[0].data):
        return read_tiff(images[0], limits)
    return read_images(images, limits)


def _read_array(source: Source, options: ReadingOptions, limits: Limits) -> StoredArray:
    data, suffix = source.data, source.suffix
    if suffix == ".npy" and data.startswith(NPY_MAGIC):
        return read_npy(source, limits)
    if suffix == ".npz" and data.startswith(archive.MAGIC):
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
