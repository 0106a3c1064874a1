"""MATLAB .mat files of version 5 to 7, decoded here down to the last byte.

SciPy's reader is not used on files of unknown origin: a damaged array can crash it, and the whole server with
it. Compressed elements are unpacked to the size that they declare and no further, and only plain numeric
arrays are looked at: structs, objects and functions are never decoded.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from .choose import chosen
from .errors import UnreadableData, foreign_code
from .limits import Limits
from .options import Options
from .raw import RawData, Variable
from .sources import Source

__all__ = ["is_matlab5", "read_matlab5"]

HEADER = 128
MI_INT32, MI_UINT32, MI_MATRIX, MI_COMPRESSED = 5, 6, 14, 15
# How numbers are stored; MATLAB shortens whole numbers to the smallest type that holds them.
NUMBER_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
NUMERIC_CLASSES = range(6, 16)
COMPLEX = 0x0800
# Flags, dimensions and name of an array; a longer beginning is no file that MATLAB wrote.
BEGINNING = 4096
MOST_ELEMENTS = 10_000


def is_matlab5(data: bytes) -> bool:
    return len(data) >= HEADER and data[126:128] in (b"IM", b"MI")


def read_matlab5(source: Source, options: Options, limits: Limits) -> RawData:
    endian = "<" if source.data[126:128] == b"IM" else ">"
    arrays = [
        array for element in _elements(source, endian) if (array := _described(element, endian)) is not None
    ]
    names = [array.name for array in arrays]
    if len(set(names)) < len(names):
        raise UnreadableData(f"{source.label} is damaged: it has two arrays of the same name.")
    variables = [
        Variable(array.name, array.shape, partial(_load, array, source, endian, limits)) for array in arrays
    ]
    return chosen(variables, source.label, options, limits, order="F")


@dataclass(frozen=True)
class _Element:
    """A top-level part of the file, as stored; `beginning` is the unpacked start of a compressed one."""

    stored: memoryview
    compressed: bool
    beginning: bytes


@dataclass(frozen=True)
class _NumericArray:
    """Name and shape of an array; its numbers begin at `numbers` in an unpacked element of `size` bytes."""

    name: str
    shape: tuple[int, ...]
    numbers: int
    size: int
    element: _Element


def _elements(source: Source, endian: str) -> Iterator[_Element]:
    view = memoryview(source.data)
    position = HEADER
    for _ in range(MOST_ELEMENTS):
        if position + 8 > len(view):
            return
        kind, size = struct.unpack_from(f"{endian}II", view, position)
        end = position + 8 + size
        if end > len(view):
            raise UnreadableData(f"{source.label} is cut short or damaged.")
        if kind == MI_COMPRESSED:
            with foreign_code(f"{source.label} is damaged: an array in it cannot be unpacked"):
                beginning = zlib.decompressobj().decompress(view[position + 8 : end], BEGINNING)
            yield _Element(view[position + 8 : end], True, beginning)
        elif kind == MI_MATRIX:
            yield _Element(view[position:end], False, bytes(view[position : position + BEGINNING]))
        position = end


def _described(element: _Element, endian: str) -> _NumericArray | None:
    """Name and shape of a plain numeric array, None for anything else."""
    start = element.beginning
    try:
        kind, size, flags_kind, flags_size, flags = struct.unpack_from(f"{endian}5I", start)
        if (kind, flags_kind, flags_size) != (MI_MATRIX, MI_UINT32, 8):
            return None
        dims_kind, dims, position = _sub_element(start, 24, endian)
        _, name, numbers = _sub_element(start, position, endian)
        shape = struct.unpack(f"{endian}{len(dims) // 4}i", dims)
    except struct.error:
        return None
    text = name.decode("latin-1")
    plain = (flags & 0xFF) in NUMERIC_CLASSES and not flags & COMPLEX and dims_kind == MI_INT32
    if not plain or min(shape, default=-1) < 0 or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", text):
        return None
    return _NumericArray(text, shape, numbers, 8 + size, element)


def _sub_element(data: bytes, position: int, endian: str) -> tuple[int, bytes, int]:
    """Type, contents and end of a part."""
    kind, size, start = _part(data, position, endian)
    if start + size > len(data):
        raise struct.error("part is longer than the beginning of its array")
    return kind, data[start : start + size], start + size + -(start + size) % 8


def _part(data: memoryview | bytes, position: int, endian: str) -> tuple[int, int, int]:
    """Type, size and beginning of a part, in its usual or its short form (contents beside the type)."""
    first, size = struct.unpack_from(f"{endian}2I", data, position)
    return (first & 0xFFFF, first >> 16, position + 4) if first >> 16 else (first, size, position + 8)


def _load(array: _NumericArray, source: Source, endian: str, limits: Limits) -> npt.NDArray[Any]:
    label = f"{array.name} in {source.label}"
    count = limits.check_shape(array.shape, label)
    data: memoryview | bytes = array.element.stored
    if array.element.compressed:
        limits.check_growth(len(data), array.size, label)
        with foreign_code(f"{label} is damaged: it cannot be unpacked"):
            data = zlib.decompressobj().decompress(data, array.size)
    try:
        code, size, start = _part(data, array.numbers, endian)
        dtype = np.dtype(endian + NUMBER_TYPES[code])
    except (struct.error, KeyError) as error:
        raise UnreadableData(f"{label} is damaged: its numbers are of no known type.") from error
    if size != count * dtype.itemsize or start + size > len(data):
        raise UnreadableData(f"{label} is damaged: it does not have as many numbers as its size says.")
    return np.frombuffer(data, dtype=dtype, count=count, offset=start).reshape(array.shape, order="F")
