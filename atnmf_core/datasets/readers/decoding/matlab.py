"""MATLAB .mat files of version 4 to 7, by SciPy."""

import io
import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.io import loadmat, whosmat
from scipy.sparse import issparse

MAX_INLINE = 20_000
NUMERIC = {"double", "single", "logical", "sparse"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}


def open_file(data: bytes) -> "MatlabFile":
    return MatlabFile(data)


class MatlabFile:
    """The numeric arrays of a file; text, structs and functions are never decoded."""

    def __init__(self, data: bytes) -> None:
        self._stream = io.BytesIO(data)
        numeric = [
            (name, shape, kind) for name, shape, kind in whosmat(self._stream) if kind in NUMERIC and shape
        ]
        # Sizes and wavelengths are sent along, which saves a request for each.
        small = self._load(*(name for name, shape, _ in numeric if _is_small_vector(shape)))
        self.description = [
            {"name": name, "shape": shape, "sparse": kind == "sparse"}
            | ({"values": np.real(small[name]).astype(float).reshape(-1).tolist()} if name in small else {})
            for name, shape, kind in numeric
        ]

    def read(self, name: str) -> npt.NDArray[Any]:
        values = self._load(name)[name]
        dense: npt.NDArray[Any] = values.toarray() if issparse(values) else values
        return dense

    def _load(self, *names: str) -> dict[str, Any]:
        if not names:
            return {}
        self._stream.seek(0)
        found: dict[str, Any] = loadmat(self._stream, variable_names=list(names), spmatrix=False)
        return {name: found[name] for name in names}


def _is_small_vector(shape: tuple[int, ...]) -> bool:
    return sum(size > 1 for size in shape) <= 1 and 0 < math.prod(shape) <= MAX_INLINE
