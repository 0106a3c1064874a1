"""Damage of the kinds that files suffer, and of the kinds that attackers do."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from random import Random
from typing import Any

import h5py
import numpy as np

from .seeds import File, zipped

EXTREMES = (0, 1, 2**16, 2**31, 2**40, *(2**bits - 1 for bits in (7, 8, 15, 16, 31, 32, 63, 64)))

ATTRIBUTES = (
    *(
        "_FillValue",
        "missing_value",
        "scale_factor",
        "add_offset",
        "Scale_Factor",
        "valid_range",
        "valid_min",
    ),
    *("units", "wavelength", "good_wavelengths", "List_Cw_Vnir", "List_Cw_Vnir_Flags", "L2ScaleVnirMin"),
    *("L2ScaleVnirMax", "ScaleFactor_Vnir", "Offset_Vnir", "MATLAB_class", "MATLAB_sparse"),
)
"""Attributes that readers look at."""
NUMBERS = (0, -1, 0.0, 5e-324, 1e308, 2**64 - 1, np.nan, np.inf, np.float16(2), True, 1j)
TEXTS = ("", "0", "nan", "abc", np.bytes_(b"\xff\xfe"), ["low", "high"], ["450", "550", "650", "850"])
LISTS = ([], [0.0], [0.0, 0.0], [5.0, -5.0], [450.0, np.nan, np.inf, -1.0])
ARRAYS = (np.ones((2, 2)), np.zeros((1, 4)), np.zeros(4, "u1"), np.zeros(3, [("a", "f8"), ("b", "i4")]))
VALUES: tuple[Any, ...] = (*NUMBERS, *TEXTS, *LISTS, *ARRAYS, h5py.Empty("f8"))
"""Of every type that an attribute can have; four are as many as there are bands."""


def flip(data: bytearray, random: Random) -> None:
    for _ in range(random.choice((1, 1, 2, 8, 32))):
        data[_place(data, random)] ^= 1 << random.randrange(8)


def truncate(data: bytearray, random: Random) -> None:
    del data[random.randrange(len(data)) :]


def delete(data: bytearray, random: Random) -> None:
    start = _place(data, random)
    del data[start : start + random.choice((1, 2, 4, 16, 200))]


def repeat(data: bytearray, random: Random) -> None:
    start = _place(data, random)
    data[start:start] = data[start : start + random.choice((1, 4, 64, 1000))] * random.choice((1, 2, 20))


def enlarge(data: bytearray, random: Random) -> None:
    """Overwrite a number of 1 to 8 bytes by an extreme one: sizes, counts and offsets are such numbers."""
    width = random.choice((1, 2, 4, 8))
    start = _place(data, random)
    value = random.choice(EXTREMES) & (1 << 8 * width) - 1
    data[start : start + width] = value.to_bytes(width, random.choice(("little", "big")))


def enlarge_text(data: bytearray, random: Random) -> None:
    """Replace a decimal number in a text header."""
    numbers = list(re.finditer(rb"\d+", bytes(data[:4000])))
    if numbers:
        number = random.choice(numbers)
        new = random.choice(
            (b"0", b"-1", b"99999999", b"4294967296", b"1e999", b"nan", b"9" * 400, b"", b"{")
        )
        data[number.start() : number.end()] = new


def splice(data: bytearray, random: Random, other: bytes) -> None:
    start, length = random.randrange(len(other)), random.choice((4, 32, 256, 4096))
    place = _place(data, random)
    data[place : place + random.choice((0, length))] = other[start : start + length]


def _place(data: bytearray, random: Random) -> int:
    """Somewhere in the file, half of the time near its beginning, where headers are."""
    return random.randrange(min(len(data), 200) if random.random() < 0.5 else len(data))


MUTATIONS = (flip, truncate, delete, repeat, enlarge, enlarge, enlarge_text)


def mutated(files: list[File], random: Random, other: bytes) -> list[File]:
    """One of the files damaged, inside its compression where it has one and the dice say so."""
    victim = random.randrange(len(files))
    name, data = files[victim]
    if random.random() < 0.5 and name.endswith((".zip", ".npz")):
        damaged = _inside_zip(data, random, other)
    elif random.random() < 0.5 and data[126:128] == b"IM":
        damaged = _inside_matlab(data, random, other)
    elif random.random() < 0.5 and b"\x89HDF" in (data[:4], data[512:516]):
        damaged = _other_attributes(data, random)
    else:
        damaged = _damaged(data, random, other)
    if random.random() < 0.03:
        name = random.choice(
            ("x.mat", "x.npy", "x.npz", "x.zip", "x.png", "x.tif", "x.csv", "x.hdr", "x", "x.pgm", "x.nc")
        )
    return [*files[:victim], (name, damaged), *files[victim + 1 :]]


def _damaged(data: bytes, random: Random, other: bytes) -> bytes:
    work = bytearray(data)
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        if not work:
            break
        if random.random() < 0.12:
            splice(work, random, other)
        else:
            random.choice(MUTATIONS)(work, random)
    return bytes(work)


def _inside_zip(data: bytes, random: Random, other: bytes) -> bytes:
    """The archive packed again around a damaged member, so that its checksums are right."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    victim = random.randrange(len(members))
    members[victim] = (members[victim][0], _damaged(members[victim][1], random, other))
    return zipped(members)


def _inside_matlab(data: bytes, random: Random, other: bytes) -> bytes:
    """A MATLAB file of version 5 with one element damaged and packed again."""
    elements, position = [], 128
    while position < len(data):
        kind, size = struct.unpack_from("<II", data, position)
        body = data[position + 8 : position + 8 + size]
        elements.append(zlib.decompress(body) if kind == 15 else data[position : position + 8 + size])
        position += 8 + size
    victim = random.randrange(len(elements))
    elements[victim] = _damaged(elements[victim], random, other)
    packed = [zlib.compress(element) for element in elements]
    return data[:128] + b"".join(struct.pack("<II", 15, len(body)) + body for body in packed)


def _other_attributes(data: bytes, random: Random) -> bytes:
    """An HDF5 file with some attributes of other values and types than anybody would expect."""
    stream = io.BytesIO(data)
    with h5py.File(stream, "r+") as file:
        owners: list[Any] = [file]
        file.visititems(lambda _, item: owners.append(item))
        for _ in range(random.choice((1, 1, 2, 4))):
            owner = random.choice((file, random.choice(owners)))
            owner.attrs[random.choice(ATTRIBUTES)] = random.choice(VALUES)
    return stream.getvalue()
