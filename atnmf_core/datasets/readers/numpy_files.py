"""NumPy's .npy and .npz, without pickle and without trusting a header."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from . import archive
from .errors import UnreadableData, foreign_code, shown
from .limits import MOST_AXES, Limits
from .options import Options
from .pick_array import pick_array
from .sources import Source
from .stored import NamedArray, StoredArray

__all__ = ["NPY_MAGIC", "read_npy", "read_npz"]

NPY_MAGIC = b"\x93NUMPY"


def read_npy(source: Source, options: Options, limits: Limits) -> StoredArray:
    variable = _variable(source, source.label)
    limits.check_shape(variable.shape, source.label)
    return StoredArray(variable.load(), source.label, image_shape=options.image_shape, order="C")


def read_npz(source: Source, options: Options, limits: Limits) -> StoredArray:
    members = [member for member in archive.unpack(source, limits) if member.suffix == ".npy"]
    variables = [_variable(member, member.name.removesuffix(".npy")) for member in members]
    return pick_array(variables, source.label, options, limits, order="C")


def _variable(source: Source, name: str) -> NamedArray:
    stream = io.BytesIO(source.data)
    with foreign_code(f"{name} is not a readable NumPy array"):
        version = np.lib.format.read_magic(stream)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[
            version
        ]
        shape, column_major, dtype = read(stream)
    if dtype.kind not in "biufc":
        raise UnreadableData(f"{name} holds {dtype}: an array of numbers is needed.")
    if len(shape) > MOST_AXES:
        raise UnreadableData(f"{name} has {len(shape)} axes: a matrix has 2, a cube 3.")
    needed = math.prod(shape) * dtype.itemsize
    body = memoryview(source.data)[stream.tell() :]
    if any(size < 0 for size in shape) or needed > len(body):
        raise UnreadableData(
            f"{name} is cut short: {shown(needed)} bytes are announced and {len(body):,} are there."
        )

    def load() -> npt.NDArray[Any]:
        flat = np.frombuffer(body[:needed], dtype=dtype)
        return flat.reshape(shape, order="F" if column_major else "C")

    return NamedArray(name, tuple(shape), load)
