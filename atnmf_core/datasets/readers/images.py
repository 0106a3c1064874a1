"""Photographs: a set of image files of one size, each a column of V."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageOps

from .errors import UnreadableData, foreign_code
from .limits import Limits
from .sources import Source
from .stored import StoredArray
from .tiff import is_tiff, tiff_picture

__all__ = ["FORMATS", "IMAGE_SUFFIXES", "is_image", "open_picture", "read_images"]

IMAGE_SUFFIXES = {".pgm", ".ppm", ".pnm", ".pbm", ".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff"}
FORMATS = ("PPM", "PNG", "JPEG", "BMP")
_BEGINNINGS = (b"P1", b"P2", b"P3", b"P4", b"P5", b"P6", b"Pf", b"\x89PNG", b"\xff\xd8\xff", b"BM")
GREY_MODES = {"1", "L", "I", "F", "I;16", "I;16B", "I;16L", "I;16N"}


def is_image(data: bytes) -> bool:
    return data.startswith(_BEGINNINGS) or is_tiff(data)


def read_images(sources: list[Source], limits: Limits) -> StoredArray:
    """Images in natural order of their names (img2 before img10), grey levels divided by the largest possible
    one.

    One image alone is taken as a matrix: its rows and columns are those of V.
    """
    ordered = sorted(sources, key=lambda source: _natural(source.name))
    notes: list[str] = []
    stack = _stacked(ordered, limits, notes)
    if len(ordered) == 1:
        notes.append("One image alone is read as a matrix: its rows and columns are those of V.")
        return StoredArray(stack[0], ordered[0].label, kind="matrix", notes=notes)
    return StoredArray(stack, f"the {len(ordered)} images", kind="faces", bands_axis=0, notes=notes)


def _stacked(sources: list[Source], limits: Limits, notes: list[str]) -> npt.NDArray[Any]:
    stack: npt.NDArray[Any] | None = None
    coloured = 0
    for i, source in enumerate(sources):
        grey, was_coloured = _grey(source, limits)
        coloured += was_coloured
        if stack is None:
            entries = limits.check_shape((len(sources), *grey.shape), f"The set of {len(sources)} images")
            stack = np.empty(
                (len(sources), *grey.shape), np.float32 if entries > limits.float32_above else np.float64
            )
        if grey.shape != stack.shape[1:]:
            raise UnreadableData(
                f"{source.label} has {grey.shape[0]} x {grey.shape[1]} pixels and {sources[0].label} has "
                f"{stack.shape[1]} x {stack.shape[2]}: all images must have one size."
            )
        stack[i] = grey
    if coloured:
        notes.append(f"{coloured} of {len(sources)} images were in colour and were turned to grey.")
    assert stack is not None  # there is at least one source
    return stack


def _grey(source: Source, limits: Limits) -> tuple[npt.NDArray[Any], bool]:
    """Grey levels, rows x cols, in [0, 1] where the file has whole numbers, and whether it had colours."""
    if is_tiff(source.data):
        values, coloured = tiff_picture(source, limits)
    else:
        values, coloured = open_picture(source, limits, FORMATS)
    if values.dtype.kind in "iu":
        return values / np.iinfo(values.dtype).max, coloured
    return values, coloured


def open_picture(source: Source, limits: Limits, formats: tuple[str, ...]) -> tuple[npt.NDArray[Any], bool]:
    """Decode with Pillow, after a look at the size that the header states."""
    with foreign_code(f"{source.label} is not a readable image"):
        try:
            picture = Image.open(io.BytesIO(source.data), formats=formats)
        except Image.DecompressionBombError as error:
            raise UnreadableData(
                f"{source.label} has too many pixels: this looks like a decompression bomb."
            ) from error
        width, height = picture.size
    limits.check_shape((height, width), source.label)
    coloured = picture.mode not in GREY_MODES
    with foreign_code(f"{source.label} is damaged or cut short"), picture:
        upright = ImageOps.exif_transpose(picture)
        values = np.asarray(upright.convert("L") if coloured else upright)
    if values.dtype.kind == "b":
        values = values.astype(np.uint8) * 255
    if values.dtype == np.int32:
        # Pillow keeps 16-bit greys of some formats in 32-bit numbers.
        values = (
            values.astype(np.uint16) if values.min() >= 0 and values.max() <= 0xFFFF else values.astype(float)
        )
    return values, coloured


def _natural(name: str) -> list[tuple[int, int | str]]:
    """A key by which numbers inside names are ordered by value."""
    parts = re.split(r"([0-9]{1,18})", name)
    return [(0, int(part)) if i % 2 else (1, part) for i, part in enumerate(parts)]
