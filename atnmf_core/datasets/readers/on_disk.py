"""Cubes of any size: opened without being read, then read part by part.

The readers of whole files interpret them. Only ENVI, NumPy, HDF5, NetCDF 4 and GeoTIFF can be read in parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from .envi import partner_of, read_envi
from .errors import UnreadableData
from .hdf5 import is_hdf5, read_hdf5
from .limits import Limits
from .local import MappedFile
from .numpy_files import NPY_MAGIC, read_npy
from .options import ReadingOptions
from .sources import Source, with_envi_partners
from .stored import StoredArray
from .tiff import is_tiff, read_tiff

UNLIMITED = Limits(entries=1 << 60, bytes=1 << 60, float32_above=0)
"""Nothing is read at once, so nothing is too large; blocks are held in single precision."""


def files_of(path: str | Path) -> tuple[Path, ...]:
    """The files that a cube consists of: a header and its binary file for ENVI, else one."""
    return tuple(Path(one) for one in with_envi_partners([path]))


@contextmanager
def open_on_disk(
    path: str | Path, options: ReadingOptions, *, writable: bool = False
) -> Iterator[StoredArray]:
    """The array in a file, with `values` that are read, and written if asked for, as they are indexed."""
    with ExitStack() as opened:
        yield _stored(files_of(path), options, writable, opened)


def _stored(
    files: tuple[Path, ...], options: ReadingOptions, writable: bool, opened: ExitStack
) -> StoredArray:
    headers = [file for file in files if file.suffix.lower() == ".hdr"]
    if headers:
        header = Source(headers[0].name, headers[0].read_bytes())
        binaries: list[Source] = [MappedFile.open(file, writable) for file in files if file not in headers]
        return read_envi(header, partner_of(header, binaries), UNLIMITED)
    source = MappedFile.open(files[0], writable)
    opened.callback(source.close)
    beginning = bytes(source.data[:1024])
    if beginning.startswith(NPY_MAGIC):
        return read_npy(source, UNLIMITED)
    if is_hdf5(beginning) and source.suffix != ".mat":
        return read_hdf5(source, options, UNLIMITED)
    if is_tiff(beginning):
        return read_tiff(source, UNLIMITED)
    raise UnreadableData(
        f"{source.label} cannot be read in parts: only ENVI, NPY, HDF5, NetCDF 4 and GeoTIFF can."
    )
