"""NetCDF 3, the classic format, by SciPy."""

import io
import os
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
from scipy.io import netcdf_file

from . import is_sent_along


class Netcdf3File:
    def __init__(self, data: bytes) -> None:
        self._stream = _mappable(data)
        # Mapped, arrays are views of the file; otherwise SciPy copies each of them twice.
        self._file = netcdf_file(self._stream, mmap=not isinstance(self._stream, io.BytesIO))
        self.description = {
            "attributes": _plain(self._file._attributes),
            "arrays": [
                _described(name, variable)
                for name, variable in self._file.variables.items()
                if variable.shape and variable.data.dtype.kind in "biuf"
            ],
        }

    def read(self, name: str) -> npt.NDArray[Any]:
        values: npt.NDArray[Any] = self._file.variables[name].data
        return values

    def replace(self, name: str, values: npt.NDArray[Any]) -> bytes:
        self._stream.seek(0)
        stream = io.BytesIO(self._stream.read())
        # Closing the file closes its stream, so the bytes are taken before that.
        file = netcdf_file(stream, "a", mmap=False)
        file.variables[name].data[...] = values
        file.flush()
        return stream.getvalue()


open_file = Netcdf3File


def _mappable(data: bytes) -> BinaryIO:
    """A stream with these contents; on Linux one in memory that can be mapped."""
    if not hasattr(os, "memfd_create"):
        return io.BytesIO(data)
    stream = os.fdopen(os.memfd_create("netcdf3"), "w+b")
    stream.write(data)
    stream.seek(0)
    return stream


def _described(name: str, variable: Any) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": name,
        "shape": list(variable.shape),
        "attributes": _plain(variable._attributes),
        "axes": list(variable.dimensions),
    }
    if is_sent_along(variable.shape):
        entry["values"] = np.asarray(variable.data, dtype=float).reshape(-1).tolist()
    return entry


def _plain(attributes: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value.decode("utf-8", "replace")
        if isinstance(value, bytes)
        else np.asarray(value, dtype=float).tolist()
        for name, value in attributes.items()
    }
