"""NumPy's .npy and .npz, without pickle and without trusting a header."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from . import archive
from .errors import UnreadableData, foreign_code, size_text
from .limits import MAX_AXES, Limits
from .options import ReadingOptions
from .pick_array import read_picked
from .sources import Source
from .stored import NamedArray, StoredArray

NPY_MAGIC = b"\x93NUMPY"
MAX_HEADER = 1 << 17


def read_npy(source: Source, limits: Limits) -> StoredArray:
    array = _named_array(source, source.label)
    limits.check_shape(array.shape, source.label)
    return StoredArray(
        array.load(),
        source.label,
        order="C",
        rewrite=lambda values: [Source(source.name, npy_bytes(values))],
    )


def read_npz(source: Source, options: ReadingOptions, limits: Limits) -> StoredArray:
    def rewrite(name: str, values: npt.NDArray[Any]) -> list[Source]:
        return [archive.with_members(source, {f"{name}.npy": npy_bytes(values)})]

    arrays = npz_arrays(source, limits)
    return read_picked(arrays, source.label, options, limits, order="C", rewrite=rewrite)


def npz_arrays(source: Source, limits: Limits) -> list[NamedArray]:
    """All arrays of the file."""
    members = [member for member in archive.unpack(source, limits) if member.suffix == ".npy"]
    return [_named_array(member, member.name.removesuffix(".npy")) for member in members]


def npy_bytes(values: npt.NDArray[Any]) -> bytes:
    """The contents of a .npy file."""
    stream = io.BytesIO()
    np.save(stream, values, allow_pickle=False)
    return stream.getvalue()


def _named_array(source: Source, name: str) -> NamedArray:
    stream = io.BytesIO(source.data[:MAX_HEADER])
    with foreign_code(f"{name} is not a readable NumPy array"):
        version = np.lib.format.read_magic(stream)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[
            version
        ]
        shape, column_major, dtype = read(stream)
    if dtype.kind not in "biufc":
        raise UnreadableData(f"{name} holds {dtype}: an array of numbers is needed.")
    if len(shape) > MAX_AXES:
        raise UnreadableData(f"{name} has {len(shape)} axes: a matrix has 2, a cube 3.")
    needed = math.prod(shape) * dtype.itemsize
    body = memoryview(source.data)[stream.tell() :]
    if any(size < 0 for size in shape) or needed > len(body):
        raise UnreadableData(
            f"{name} is cut short: {size_text(needed)} bytes are announced and {len(body):,} are there."
        )

    def load() -> npt.NDArray[Any]:
        flat = np.frombuffer(body[:needed], dtype=dtype)
        return flat.reshape(shape, order="F" if column_major else "C")

    return NamedArray(name, tuple(shape), load)
