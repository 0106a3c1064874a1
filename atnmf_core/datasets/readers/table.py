"""Matrices in text files: comma, semicolon, tab or blank between numbers, empty cells for missing entries."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from .errors import UnreadableData, foreign_code
from .limits import Limits
from .options import Options
from .sources import Source
from .stored import StoredArray

__all__ = ["read_table"]

MISSING = {"", "na", "n/a", "nan", "null", "none", "-", "?", "missing", "#n/a"}


def read_table(source: Source, options: Options, limits: Limits) -> StoredArray:
    """A text file as a matrix.

    The separator is the tab, semicolon or comma, whichever occurs in the first line, else blanks. With
    semicolons a decimal comma is understood. A first line that is not made of numbers is a heading; a first
    column under an empty heading, or one that is not made of numbers, holds names. Both are left out, with a
    note.
    """
    text = _decoded(source)
    delimiter = _delimiter(text)
    rows: list[npt.NDArray[np.float64]] = []
    notes: list[str] = []
    names_first = False
    cells = 0
    for number, row in _lines(text, delimiter, source):
        if not rows and not notes and not _is_numeric(row[1:] or row, delimiter):
            notes.append("The first line is a heading and was left out.")
            names_first = len(row) > 1 and not row[0].strip()
            continue
        if not rows:
            names_first = names_first or (len(row) > 1 and not _is_numeric(row[:1], delimiter))
        values = _numbers(row[1:] if names_first else row, delimiter, source, number)
        cells += values.size
        if cells > limits.entries:
            raise UnreadableData(
                f"{source.label} has more than the {limits.entries:,} entries that are read."
            )
        if rows and values.size != rows[0].size:
            raise UnreadableData(
                f"{source.label}, line {number}: {values.size} numbers, where the first line has "
                f"{rows[0].size}."
            )
        rows.append(values)
    if not rows or rows[0].size == 0:
        raise UnreadableData(f"{source.label} has no numbers in it.")
    if names_first:
        notes.append("The first column holds names and was left out.")
    return StoredArray(np.stack(rows), source.label, image_shape=options.image_shape, order="C", notes=notes)


def _decoded(source: Source) -> str:
    data = source.data
    encoding = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    if "\0" in text:
        raise UnreadableData(f"{source.label} is not a text file.")
    return text


def _delimiter(text: str) -> str:
    first = text.lstrip()[:10_000].split("\n", 1)[0]
    # A semicolon before the comma: where both occur the comma is the decimal sign.
    return next((sign for sign in "\t;," if sign in first), " ")


def _lines(text: str, delimiter: str, source: Source) -> Iterator[tuple[int, list[str]]]:
    lines = text.splitlines()
    if delimiter == " ":
        parsed: Iterator[list[str]] = (line.split() for line in lines)
    else:
        parsed = csv.reader(lines, delimiter=delimiter)
    number = 0
    while True:
        with foreign_code(
            f"{source.label}, line {number + 1}: a cell is too long or a quotation mark is missing"
        ):
            row = next(parsed, None)
        if row is None:
            return
        number += 1
        if any(cell.strip() for cell in row) or (len(row) > 1 and delimiter != " "):
            yield number, row


def _is_numeric(row: list[str], delimiter: str) -> bool:
    return all(_number(cell, delimiter) is not None for cell in row)


def _number(cell: str, delimiter: str) -> float | None:
    word = cell.strip()
    if word.lower() in MISSING:
        return float("nan")
    if delimiter == ";":
        word = word.replace(",", ".")
    try:
        return float(word)
    except ValueError:
        return None


def _numbers(row: list[str], delimiter: str, source: Source, number: int) -> npt.NDArray[np.float64]:
    values = [_number(cell, delimiter) for cell in row]
    if None in values:
        cell = row[values.index(None)].strip()[:40]
        raise UnreadableData(f"{source.label}, line {number}: {cell!r} is not a number.")
    return np.array(values, dtype=np.float64)
