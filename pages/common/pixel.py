"""Pixels in an address: "row.column", counted from 1."""

from __future__ import annotations

from atnmf_core import Dataset

Pixel = tuple[int, int]
"""Row and column of a pixel, counted from 1."""
COUNT = r"[1-9]\d{0,5}"
PIXEL = rf"{COUNT}\.{COUNT}"


def parse_pixel(text: str) -> Pixel:
    """The pixel that the text names; (0, 0) for none."""
    row, _, col = text.partition(".")
    return (int(row), int(col)) if col else (0, 0)


def spell_pixel(pixel: Pixel) -> str:
    return f"{pixel[0]}.{pixel[1]}"


def clip_pixel(pixel: Pixel, data: Dataset) -> Pixel:
    """The nearest pixel of the image; the centre for none."""
    rows, cols = data.image_shape
    if pixel == (0, 0):
        return (rows + 1) // 2, (cols + 1) // 2
    return min(pixel[0], rows), min(pixel[1], cols)
