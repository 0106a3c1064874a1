"""Pixels as an address has them: "row.column", counted from 1."""

from __future__ import annotations

from atnmf_core import Dataset

__all__ = ["PIXEL", "Place", "inside", "place_of", "spelled_place"]

Place = tuple[int, int]
"""Row and column of a pixel, counted from 1."""
COUNT = r"[1-9]\d{0,5}"
PIXEL = rf"{COUNT}\.{COUNT}"


def place_of(text: str) -> Place:
    """The pixel that the text names; (0, 0) for none."""
    row, _, col = text.partition(".")
    return (int(row), int(col)) if col else (0, 0)


def spelled_place(place: Place) -> str:
    return f"{place[0]}.{place[1]}"


def inside(place: Place, data: Dataset) -> Place:
    """The place brought inside the image; the middle for none."""
    rows, cols = data.image_shape
    if place == (0, 0):
        return (rows + 1) // 2, (cols + 1) // 2
    return min(place[0], rows), min(place[1], cols)
