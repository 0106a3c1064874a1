"""MATLAB .mat files of version 5 to 7: the file is taken apart here, its numbers are decoded by SciPy.

The compressed elements of such a file are unpacked by this module, to the size that they declare and no
further, and only plain numeric arrays of a checked size are handed to SciPy: structs, objects and functions
are never decoded.
"""

from __future__ import annotations

import io
import math
import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.io import loadmat

from .choose import chosen
from .errors import UnreadableData, foreign_code
from .limits import Limits
from .options import Options
from .raw import RawData, Variable
from .sources import Source

__all__ = ["is_matlab5", "read_matlab5"]

HEADER = 128
MI_INT32, MI_UINT32, MI_MATRIX, MI_COMPRESSED = 5, 6, 14, 15
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
    variables = [Variable(array.name, array.shape, partial(_load, array, source, limits)) for array in arrays]
    return chosen(variables, source.label, options, limits, order="F")


@dataclass(frozen=True)
class _Element:
    """A top-level part of the file, as stored; `beginning` is the unpacked start of a compressed one."""

    stored: memoryview
    compressed: bool
    beginning: bytes


@dataclass(frozen=True)
class _NumericArray:
    name: str
    shape: tuple[int, ...]
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
        _, name, _ = _sub_element(start, position, endian)
        shape = struct.unpack(f"{endian}{len(dims) // 4}i", dims)
    except struct.error:
        return None
    text = name.decode("latin-1")
    plain = (flags & 0xFF) in NUMERIC_CLASSES and not flags & COMPLEX and dims_kind == MI_INT32
    if not plain or min(shape, default=-1) < 0 or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", text):
        return None
    return _NumericArray(text, shape, 8 + size, element)


def _sub_element(data: bytes, position: int, endian: str) -> tuple[int, bytes, int]:
    """Type, contents and end of a part, in its usual or its short form (up to four bytes beside the type)."""
    (first,) = struct.unpack_from(f"{endian}I", data, position)
    if first >> 16:
        kind, size, start, end = first & 0xFFFF, first >> 16, position + 4, position + 8
    else:
        (size,) = struct.unpack_from(f"{endian}I", data, position + 4)
        kind, start, end = first, position + 8, position + 8 + (size + 7) // 8 * 8
    if start + size > len(data):
        raise struct.error("part is longer than the beginning of its array")
    return kind, data[start : start + size], end


def _load(array: _NumericArray, source: Source, limits: Limits) -> npt.NDArray[Any]:
    limits.check_shape(array.shape, f"{array.name} in {source.label}")
    if array.size < math.prod(array.shape):
        raise UnreadableData(
            f"{array.name} in {source.label} is damaged: it has fewer numbers than its size says."
        )
    stored = array.element.stored
    with foreign_code(f"{array.name} in {source.label} is damaged"):
        if array.element.compressed:
            limits.check_growth(len(stored), array.size, f"{array.name} in {source.label}")
            stored = memoryview(zlib.decompressobj().decompress(stored, array.size))
        alone = io.BytesIO(source.data[:HEADER] + stored)
        values = np.asarray(loadmat(alone, variable_names=[array.name])[array.name])
    if values.shape != array.shape or values.dtype.kind not in "biuf":
        raise UnreadableData(f"{array.name} in {source.label} is damaged: its numbers do not fit its size.")
    return values
