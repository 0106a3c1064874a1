"""NumPy's .npy and .npz, read without pickle and without trusting a header, and MATLAB's .mat."""

import io
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.lib import format as npy

from ...model.problem import Values
from .decoder import Decoder, replace_array
from .pick_array import read_picked
from .sources import (
    MAX_AXES,
    Limits,
    ReadingOptions,
    Source,
    UnreadableData,
    foreign_code,
    size_text,
    unpack,
    with_members,
)
from .values import NamedArray, StoredArray

# MATLAB .mat files: version 7.3 is HDF5, earlier versions have their own format.

NUMERIC = re.compile(r"double|single|logical|u?int(8|16|32|64)")


def is_matlab_hdf5(data: bytes) -> bool:
    return data.startswith(b"MATLAB 7.3 MAT-file")


def read_matlab(source: Source, form: str, options: ReadingOptions, limits: Limits) -> StoredArray:
    """The data of a .mat file, decoded by the module `form` of the decoding process."""

    def rewrite(name: str, values: Values) -> list[Source]:
        return replace_array(form, source, name, limits, values.T if form == "hdf5" else values)

    with matlab_arrays(source, form, limits) as arrays:
        return read_picked(arrays, source.label, options, limits, order="F", rewrite=rewrite)


@contextmanager
def matlab_arrays(source: Source, form: str, limits: Limits) -> Iterator[list[NamedArray]]:
    with Decoder(form, source, limits) as decoder:
        described = decoder.description["arrays"]
        arrays = [_matlab_array(decoder, form, one, source, limits) for one in described if _is_numeric(one)]
        sparse = [one["name"].split("/")[0] for one in described if "/ir" in one["name"]]
        if sparse and not any(array.long_axes >= 2 for array in arrays):
            raise UnreadableData(
                f"{sparse[0]} in {source.label} is a sparse matrix in MATLAB's version 7.3 format: "
                f"save it with -v7, or as full({sparse[0]})."
            )
        yield arrays


def _is_numeric(entry: dict[str, Any]) -> bool:
    known = entry.get("attributes", {}).get("MATLAB_class", "double")
    return "/" not in entry["name"] and isinstance(known, str) and bool(NUMERIC.fullmatch(known))


def _matlab_array(
    decoder: Decoder, form: str, entry: dict[str, Any], source: Source, limits: Limits
) -> NamedArray:
    stored = tuple(int(size) for size in entry["shape"])
    # MATLAB is column-major: in HDF5 the axes of its arrays are reversed.
    name, shape = str(entry["name"]), stored[::-1] if form == "hdf5" else stored
    sparse = bool(entry.get("sparse"))

    def load() -> Values:
        if "values" in entry:
            return np.array(entry["values"]).reshape(shape)
        label = f"{name} in {source.label}"
        entries = limits.check_shape(shape, label)
        if not sparse:
            limits.check_growth(len(source.data), entry["itemsize"] * entries, label)
        values = decoder.read(name, stored)
        return values.T if form == "hdf5" else values

    return NamedArray(name, shape, load, sparse)


NPY_MAGIC = b"\x93NUMPY"
MAX_HEADER = 1 << 17


def read_npy(source: Source, limits: Limits) -> StoredArray:
    array = _named_array(source, source.label)
    limits.check_shape(array.shape, source.label)
    return StoredArray(
        array.load(), source.label, order="C", rewrite=lambda values: [Source(source.name, npy_bytes(values))]
    )


def read_npz(source: Source, options: ReadingOptions, limits: Limits) -> StoredArray:
    def rewrite(name: str, values: Values) -> list[Source]:
        return [with_members(source, {f"{name}.npy": npy_bytes(values)})]

    arrays = npz_arrays(source, limits)
    return read_picked(arrays, source.label, options, limits, order="C", rewrite=rewrite)


def npz_arrays(source: Source, limits: Limits) -> list[NamedArray]:
    members = [member for member in unpack(source, limits) if member.suffix == ".npy"]
    return [_named_array(member, member.name.removesuffix(".npy")) for member in members]


def npy_bytes(values: Values) -> bytes:
    stream = io.BytesIO()
    np.save(stream, values, allow_pickle=False)
    return stream.getvalue()


def _named_array(source: Source, name: str) -> NamedArray:
    stream = io.BytesIO(source.data[:MAX_HEADER])
    with foreign_code(f"{name} is not a readable NumPy array"):
        versions = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
        shape, column_major, dtype = versions[npy.read_magic(stream)](stream)
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

    def load() -> Values:
        flat = np.frombuffer(body[:needed], dtype=dtype)
        return flat.reshape(shape, order="F" if column_major else "C")

    return NamedArray(name, tuple(shape), load)
