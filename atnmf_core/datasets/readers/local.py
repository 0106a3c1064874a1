"""Files that are opened by their path and not read, with the interface of `Decoder`.

Their libraries run in this very process, not in one of their own: for a user's own files, never for uploads.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import UnreadableData, foreign_code
from .sources import Source

CACHE_MB = 128
"""What GDAL may keep of a file; its own default is a share of all memory, in every process."""
Slices = tuple[slice, slice, slice]


@dataclass(frozen=True)
class MappedFile(Source):
    """A file whose contents are mapped into memory; `opened` is what libraries have open of it."""

    path: Path = Path()
    writable: bool = False
    opened: list[Any] = field(default_factory=list)

    @classmethod
    def open(cls, path: Path, writable: bool) -> MappedFile:
        access = mmap.ACCESS_WRITE if writable else mmap.ACCESS_READ
        try:
            with path.open("r+b" if writable else "rb") as file:
                contents = memoryview(mmap.mmap(file.fileno(), 0, access=access))
        except (OSError, ValueError) as error:
            # Without the number that the system has for it.
            why = str(getattr(error, "strerror", None) or error)
            raise UnreadableData(f"{path} cannot be opened: {why.lower()}.") from error
        # It has what readers use of bytes: a length, slices and a buffer.
        return cls(path.name, contents, path, writable)  # type: ignore[arg-type]

    def close(self) -> None:
        """Close what libraries have open. The mapping itself goes with the last array that looks at it."""
        for file in self.opened:
            file.close()


class LocalDecoder:
    """One file, opened here. Arrays that it gives are read, or written, as they are indexed."""

    def __init__(self, form: str, source: MappedFile) -> None:
        self._open = {"hdf5": _open_hdf5, "raster": _open_raster}.get(form)
        if self._open is None:
            raise UnreadableData(f"{source.label} cannot be read in parts: save it as NetCDF 4.")
        self._source = source

    def __enter__(self) -> LocalDecoder:
        assert self._open is not None
        with foreign_code(f"{self._source.label} is damaged, or it is not a {self._source.suffix} file"):
            self._file, self.description = self._open(
                self._source.path, "r+" if self._source.writable else "r"
            )
        self._source.opened.append(self._file)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The file stays open: arrays still read from it."""

    def read(self, name: str, shape: tuple[int, ...]) -> Any:
        """One array of the file; a cube is not read yet."""
        if name == "bands":
            return RasterArray(self._file)
        if name == "mask":
            return self._file.dataset_mask()
        array = self._file[name]
        return array if array.ndim > 2 else array[()]


def _open_hdf5(path: Path, mode: str) -> tuple[Any, dict[str, Any]]:
    import h5py

    from .decoding.hdf5 import described

    file = h5py.File(path, mode)
    return file, described(file)


def _open_raster(path: Path, mode: str) -> tuple[Any, dict[str, Any]]:
    import rasterio

    from .decoding.raster import DRIVER, described

    file = rasterio.open(path, mode, driver=DRIVER)
    about = described(file, 1)
    if file.subdatasets or about["palette"]:
        raise UnreadableData(f"{path.name} has several pages or a palette: it cannot be read in parts.")
    return file, about


class RasterArray:
    """The bands of a raster file as an array, bands x rows x cols."""

    ndim = 3

    def __init__(self, file: Any) -> None:
        self._file = file
        self.shape = (file.count, file.height, file.width)
        self.dtype = np.dtype(file.dtypes[0])
        self.chunks = (1, *file.block_shapes[0])

    def __getitem__(self, index: Slices) -> npt.NDArray[Any]:
        import rasterio

        bands, window = self._window(index)
        with rasterio.Env(GDAL_CACHEMAX=CACHE_MB):
            values: npt.NDArray[Any] = self._file.read(bands, window=window)
        return values

    def __setitem__(self, index: Slices, values: npt.NDArray[Any]) -> None:
        import rasterio

        bands, window = self._window(index)
        with rasterio.Env(GDAL_CACHEMAX=CACHE_MB):
            self._file.write(values, bands, window=window)

    def _window(self, index: Slices) -> tuple[list[int], Any]:
        from rasterio.windows import Window

        bands, rows, cols = (range(size)[one] for one, size in zip(index, self.shape, strict=True))
        return [band + 1 for band in bands], Window(cols.start, rows.start, len(cols), len(rows))
