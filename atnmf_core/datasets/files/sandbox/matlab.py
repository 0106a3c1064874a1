"""MATLAB .mat files of version 4 to 7, by SciPy."""

import io
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.io import loadmat, savemat, whosmat
from scipy.sparse import csc_array, issparse

from . import is_sent_along

NUMERIC = {"double", "single", "logical", "sparse"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
COMPRESSED = 15


class MatlabFile:
    """The numeric arrays of a file; text, structs and functions are not decoded for reading."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        numeric = [
            (name, shape, kind)
            for name, shape, kind in whosmat(io.BytesIO(data))
            if kind in NUMERIC and shape and 0 not in shape
        ]
        small = self._load([name for name, shape, _ in numeric if is_sent_along(shape)])
        self.description = {
            "arrays": [
                {"name": name, "shape": shape, "itemsize": _itemsize(kind), "sparse": kind == "sparse"}
                | (
                    {"values": np.real(small[name]).astype(float).reshape(-1).tolist()}
                    if name in small
                    else {}
                )
                for name, shape, kind in numeric
            ]
        }

    def read(self, name: str) -> npt.NDArray[Any]:
        return _dense(self._load([name])[name])

    def replace(self, name: str, values: npt.NDArray[Any]) -> bytes:
        # With MATLAB's types: a double array that was stored as small integers stays a double array.
        arrays = loadmat(io.BytesIO(self._data), mat_dtype=True, spmatrix=False)
        present = arrays[name]
        changed = values.astype(present.dtype).reshape(present.shape)
        arrays[name] = csc_array(changed) if issparse(present) else changed
        kept = {name: array for name, array in arrays.items() if not name.startswith("__")}
        stream = io.BytesIO()
        is_version_4 = self._data[126:128] not in (b"IM", b"MI")
        compressed = not is_version_4 and COMPRESSED in (self._data[128], self._data[131])
        savemat(
            stream,
            kept,
            format="4" if is_version_4 else "5",
            do_compression=compressed,
            long_field_names=True,
        )
        return stream.getvalue()

    def _load(self, names: list[str]) -> dict[str, Any]:
        if not names:
            return {}
        found: dict[str, Any] = loadmat(io.BytesIO(self._data), variable_names=names, spmatrix=False)
        return {name: _dense(found[name]) for name in names}


open_file = MatlabFile


def _dense(values: Any) -> npt.NDArray[Any]:
    full: npt.NDArray[Any] = values.toarray() if issparse(values) else values
    return full


def _itemsize(kind: str) -> int:
    return np.dtype({"logical": "u1", "sparse": "double"}.get(kind, kind)).itemsize
