"""A cube of any size on disk, read and written in blocks of pixels; maps of its pixels, written likewise."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...jobs.whole_files import moved_when_whole
from ...model.problem import Array, Mask, Values, Wide
from ..dataset import Georeference
from .arrays import NPY_MAGIC, read_npy
from .decoder import MappedFile
from .envi import partner_of, read_envi
from .hdf5 import is_hdf5, read_hdf5
from .images import is_tiff, read_tiff
from .sources import Limits, ReadingOptions, Source, UnreadableData, with_envi_partners
from .values import StoredArray, bands_axis, clean_entries, stored_numbers
from .write import envi_header, envi_path

# Cubes of any size: opened without being read, then read part by part.
#
# The readers of whole files interpret them. Only ENVI, NumPy, HDF5, NetCDF 4 and GeoTIFF can be read in
# parts.

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


Index = npt.NDArray[np.integer]

MAX_ALIGNED = 8
"""A block may be this many times larger than wanted, so that it consists of whole chunks of the file."""
MAX_CHUNK = 1 << 25  # A chunk of more entries is read row by row


class Block(NamedTuple):
    """A rectangle of pixels, counted from 0; the ends are the first that are not in it."""

    top: int
    bottom: int
    left: int
    right: int

    @property
    def pixels(self) -> int:
        return (self.bottom - self.top) * (self.right - self.left)


@dataclass(frozen=True)
class SceneFile:
    """What is known of a cube on disk without reading it.

    chunk : rows and columns of what the file can only read as a whole, (1, cols) where it has no such parts.
    can_miss : whether the file has a value for missing entries.
    """

    path: Path
    options: ReadingOptions
    rows: int
    cols: int
    bands: int
    dtype: np.dtype[Any]
    axis: int
    chunk: tuple[int, int]
    can_miss: bool
    files: tuple[Path, ...]
    wavelengths: Wide | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()
    georeference: Georeference | None = None

    @property
    def entries(self) -> int:
        return self.rows * self.cols * self.bands

    @property
    def bytes(self) -> int:
        return sum(file.stat().st_size for file in self.files)

    def blocks(self, entries: int) -> list[Block]:
        """All pixels in blocks of about this many entries, made of whole chunks where these are small."""
        pixels = max(1, entries // self.bands)
        high, wide = self.chunk
        if high * wide > MAX_ALIGNED * pixels:
            high, wide = 1, 1
        if high * self.cols <= max(pixels, high * wide):
            wide = self.cols
            high *= max(1, pixels // (high * self.cols))
        else:
            wide *= max(1, pixels // (high * wide))
        return [
            Block(top, min(top + high, self.rows), left, min(left + wide, self.cols))
            for top in range(0, self.rows, high)
            for left in range(0, self.cols, wide)
        ]

    def read(self, block: Block, bands: slice = slice(None)) -> Array:
        """The entries of a block as `read_dataset` gives them: bands x pixels, row by row, NaN is missing."""
        with open_on_disk(self.path, self.options) as stored:
            part = _part(stored, self._index(block, bands))
            entries, _ = clean_entries(part, self.options, UNLIMITED, part=True)
        return self._as_pixels(entries).astype(np.float32, copy=False)

    def pixels(self, rows: Index, cols: Index) -> Array:
        """The spectra of single pixels, bands x pixels, in the order given; each chunk is read once."""
        high, wide = self.chunk if np.prod(self.chunk) * self.bands <= MAX_CHUNK else (1, self.cols)
        found = np.empty((self.bands, len(rows)), np.float32)
        chunks = np.stack([rows // high, cols // wide])
        for top, left in np.unique(chunks, axis=1).T * [high, wide]:
            here = (chunks == [[top // high], [left // wide]]).all(axis=0)
            block = Block(top, min(top + high, self.rows), left, min(left + wide, self.cols))
            place = (rows[here] - top) * (block.right - left) + cols[here] - left
            found[:, here] = self.read(block)[:, place]
        return found

    def thinned(self, band: int, step: int) -> Array:
        """Every second, third ... row and column of one band: for a quick look."""
        one, high = slice(band, band + 1), self.chunk[0]
        wanted = np.arange(0, self.rows, step)
        strips = [wanted[wanted // high == number] for number in np.unique(wanted // high)]
        rows = []
        for strip in strips:
            block = Block(int(strip[0]), int(strip[-1]) + 1, 0, self.cols)
            image = self.read(block, one).reshape(-1, self.cols)
            rows.append(image[strip - strip[0], ::step])
        return np.concatenate(rows)

    def write(self, block: Block, changed: Mask, numbers: Values) -> None:
        """Replace entries of a block of this very file; `changed` is bands x pixels, as `read` gives them."""
        if not changed.any():
            return
        with open_on_disk(self.path, self.options, writable=True) as stored:
            index = self._index(block)
            values = np.array(stored.values[index])
            shape = self.bands, block.bottom - block.top, block.right - block.left
            self._as_view(values)[changed.reshape(shape)] = numbers
            stored.values[index] = values

    def numbers(self, V: Array) -> Values:
        with open_on_disk(self.path, self.options) as stored:
            return stored_numbers(V, stored)

    def _index(self, block: Block, bands: slice = slice(None)) -> tuple[slice, ...]:
        index = [slice(block.top, block.bottom), slice(block.left, block.right)]
        index.insert(self.axis, bands)
        return tuple(index)

    def _as_view(self, values: Values) -> Values:
        return np.moveaxis(values, self.axis, 0)

    def _as_pixels(self, values: Values) -> Values:
        stack = np.ascontiguousarray(self._as_view(values))
        return stack.reshape(len(stack), -1)


def open_scene(path: str | Path, options: ReadingOptions | None = None) -> SceneFile:
    """Open a cube without reading it; `UnreadableData` if it is none, or cannot be read in parts."""
    settings = options or ReadingOptions()
    path = Path(path).absolute()  # Workers elsewhere have other working folders
    if settings.normalisation != "none":
        raise UnreadableData("a scene that is read in parts cannot be normalised as a whole.")
    with open_on_disk(path, settings) as stored:
        shape, dtype = tuple(stored.values.shape), np.dtype(stored.values.dtype)
        if len(shape) != 3 or (settings.kind or stored.kind or "cube") != "cube" or dtype.kind not in "iuf":
            raise UnreadableData(f"{stored.label} is no cube of real numbers: only such are read in parts.")
        axis, notes = bands_axis(shape, stored, settings, "cube")
        rows, cols = (size for i, size in enumerate(shape) if i != axis)
        wavelengths = stored.wavelengths
        return SceneFile(
            path=path,
            options=settings,
            rows=rows,
            cols=cols,
            bands=shape[axis],
            dtype=dtype,
            axis=axis,
            chunk=_chunk(stored, axis, cols),
            can_miss=dtype.kind == "f" or bool(stored.nodata),
            files=files_of(path),
            wavelengths=wavelengths if wavelengths is not None and wavelengths.size == shape[axis] else None,
            notes=(*stored.notes, *notes),
            georeference=stored.georeference,
        )


@contextmanager
def rewritten(scene: SceneFile, out: Path) -> Iterator[tuple[SceneFile, tuple[Path, ...]]]:
    """A copy of a scene, to be changed inside the block, and its files' names once all is written."""
    is_pair = len(scene.files) > 1
    places = tuple(envi_path(out, file.name) if is_pair else out for file in scene.files)
    with moved_when_whole(*places) as parts:
        for file, part in zip(scene.files, parts, strict=True):
            shutil.copyfile(file, part)
        yield replace(scene, path=parts[scene.files.index(scene.path)], files=tuple(parts)), places


@contextmanager
def new_maps(
    scene: SceneFile, out: Path, names: Sequence[str]
) -> Iterator[tuple[npt.NDArray[np.float32], tuple[Path, ...]]]:
    """Maps of pixels, rows x cols x maps, to be filled, and their files: NPY, or ENVI for a name in .hdr."""
    shape, kind = (scene.rows, scene.cols, len(names)), np.dtype("<f4")
    if out.suffix.lower() != ".hdr":
        with moved_when_whole(out) as (part,):
            yield np.lib.format.open_memmap(part, "w+", kind, shape), (out,)
        return
    places = out, out.with_suffix(".img")
    with moved_when_whole(*places) as (header, binary):
        title = f"Parts of {scene.path.stem}"
        header.write_bytes(envi_header(title, shape, kind, band_names=names, georeference=scene.georeference))
        bands = np.memmap(binary, kind, "w+", shape=(shape[2], *shape[:2]))
        yield bands.transpose(1, 2, 0), places


def _part(stored: StoredArray, index: tuple[slice, ...]) -> StoredArray:
    missing = stored.missing
    if missing is not None:
        # It may have one entry for all along an axis.
        pairs = zip(index, missing.shape, strict=True)
        missing = missing[tuple(one if size > 1 else slice(None) for one, size in pairs)]
    return replace(stored, values=np.asarray(stored.values[index]), missing=missing)


def _chunk(stored: StoredArray, axis: int, cols: int) -> tuple[int, int]:
    chunks = getattr(stored.values, "chunks", None)
    if chunks is None:
        return 1, cols
    high, wide = (int(size) for i, size in enumerate(chunks) if i != axis)
    return high, wide
