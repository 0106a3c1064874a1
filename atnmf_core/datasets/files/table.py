"""Matrices in text files: numbers between commas, semicolons, tabs or spaces; empty cells are missing."""

import codecs
import csv
import io
import itertools
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...model.problem import Array, Values
from .sources import Limits, Source, UnreadableData, foreign_code
from .values import StoredArray, in_nanometres

MISSING = {"", "na", "n/a", "nan", "null", "none", "-", "?", "missing", "#n/a"}
WAVELENGTH_HEADINGS = ("wavelength", "wl", "nm", "um", "µm", "lambda", "band cent")
# In micrometres and in nanometres, from the ultraviolet to the thermal infrared.
WAVELENGTH_RANGES = ((0.2, 30.0), (200.0, 30_000.0))
LEAST_WAVELENGTHS = 8
# As R and other programs name columns: X400, R_400.5, 400nm.
NAMED_WAVELENGTH = re.compile(r"(?:X|R|W|wl|wvl|nm|refl?|rho)?[_.]?(\d{3,5}(?:\.\d+)?)\s?(?:nm)?", re.I)


def read_table(source: Source, limits: Limits) -> StoredArray:
    """A text file as a matrix.

    The separator is the tab, semicolon or comma, whichever occurs in the first line, else spaces. With
    semicolons, a decimal comma is allowed. A first line that is not numbers is a heading; a first column
    under an empty heading, or one that is not numbers, holds names. If the first line (after the name of its
    first column) or the first column holds wavelengths, the others are spectra.
    """
    table = _Table(source, limits)
    values = table.values
    notes = list(table.notes)
    wavelengths, axis = table.heading_numbers, 1
    if wavelengths is None and table.first_column_is_wavelengths:
        wavelengths, axis, values = values[:, 0], 0, values[:, 1:]
    stored = StoredArray(values, source.label, order="C", notes=notes, rewrite=table.rewritten)
    if wavelengths is not None:
        stored.wavelengths, remarks = in_nanometres(wavelengths)
        stored.bands_axis, stored.kind = axis, "matrix"
        stored.spectrum_names = tuple(table.names if axis else table.heading[1:])
        where = "first line" if axis else "first column"
        notes += [
            f"The {where} holds wavelengths; each {'row' if axis else 'column'} is a spectrum.",
            *remarks,
        ]
    return stored


@dataclass
class _Table:
    source: Source
    limits: Limits
    values: Array = field(init=False)
    notes: list[str] = field(default_factory=list)
    heading: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    heading_numbers: Array | None = None

    def __post_init__(self) -> None:
        self.text, self.encoding = _decoded(self.source)
        self.delimiter = _delimiter(self.text)
        lines = self._lines()
        first = next(lines, None)
        if first is not None and not self._is_heading(first[2] or self._cells(first[1])):
            lines = itertools.chain([first], lines)
        named = self.heading_numbers is not None and self.heading_numbers.size < len(self.heading)
        names_first = named or (len(self.heading) > 1 and not self.heading[0])
        whole = None if names_first else self._quickly(lines_after=first[0] if self.heading and first else 0)
        if whole is not None:
            self.values = whole
        else:
            names_first = self._carefully(lines, names_first)
        self._describe(names_first)

    def _quickly(self, lines_after: int) -> Array | None:
        """A file of nothing but numbers, parsed by NumPy; None if it holds anything else."""
        if self.delimiter == ";":
            return None
        lines = self.text.splitlines()[lines_after:]
        longest = max((len(line) for line in lines[:1]), default=0)
        if len(lines) * (longest // 2 + 1) > 4 * self.limits.entries:
            return None  # probably too many; counted one by one below
        separator = None if self.delimiter == " " else self.delimiter
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                values: Array = np.loadtxt(lines, delimiter=separator, comments=None, ndmin=2)
        except (UserWarning, ValueError):
            return None
        return values if 0 < values.size <= self.limits.entries else None

    def _carefully(self, lines: Iterable[tuple[int, str, list[str] | None]], names_first: bool) -> bool:
        """Line by line, with names, empty cells and reasons; returns whether the first column holds names."""
        rows: list[Array] = []
        cells = 0
        for number, line, split in lines:
            row = split or self._cells(line)
            if not rows:
                names_first = names_first or (len(row) > 1 and not self._is_numeric(row[:1]))
            values = self._numbers(row[1:] if names_first else row, number)
            self.names += row[:1] if names_first else []
            cells += values.size
            if cells > self.limits.entries:
                raise UnreadableData(
                    f"{self.source.label} has more than the {self.limits.entries:,} entries that are read."
                )
            if rows and values.size != rows[0].size:
                raise UnreadableData(
                    f"{self.source.label}, line {number}: {values.size} numbers, where the first line has "
                    f"{rows[0].size}."
                )
            rows.append(values)
        if not rows or rows[0].size == 0:
            raise UnreadableData(f"{self.source.label} has no numbers in it.")
        self.values = np.stack(rows)
        return names_first

    def _describe(self, names_first: bool) -> None:
        if self.heading_numbers is not None and self.heading_numbers.size != self.values.shape[1]:
            raise UnreadableData(
                f"{self.source.label} has {self.heading_numbers.size} wavelengths in its first line and "
                f"{self.values.shape[1]} numbers in the others."
            )
        if self.heading and self.heading_numbers is None and not self.first_column_is_wavelengths:
            self.notes.append("The first line is a heading and was left out.")
        if names_first:
            self.notes.append("The first column holds names and was left out.")

    @property
    def first_column_is_wavelengths(self) -> bool:
        named = bool(self.heading) and self.heading[0].strip().lower().startswith(WAVELENGTH_HEADINGS)
        return named and self.values.shape[1] > 1 and _look_like_wavelengths(self.values[:, 0])

    def rewritten(self, values: Values) -> list[Source]:
        shift = self.values.shape[1] - values.shape[1]
        present = self.values[:, shift:]
        changed = ~((values == present) | (np.isnan(values) & np.isnan(present)))
        lines = self.text.splitlines(keepends=True)
        named = int(bool(self.names))
        first = 1 + (bool(self.heading) and next(self._lines())[0])
        numbered = [number for number, _, _ in self._lines() if number >= first]
        for i, number in enumerate(numbered):
            if changed[i].any():
                row = self._cells(lines[number - 1].rstrip("\r\n"))
                for j in np.flatnonzero(changed[i]):
                    row[named + shift + j] = self._spelled(float(values[i, j]))
                end = lines[number - 1][len(lines[number - 1].rstrip("\r\n")) :]
                lines[number - 1] = self._joined(row) + end
        return [Source(self.source.name, "".join(lines).encode(self.encoding))]

    def _is_heading(self, row: list[str]) -> bool:
        beyond_first = row[1:] or row
        if not self._is_numeric(beyond_first):
            self.heading = [cell.strip() for cell in row]
            named = [NAMED_WAVELENGTH.fullmatch(cell) for cell in self.heading]
            numbers = np.array([float(one[1]) for one in named if one])
            if (
                all(named[1:])
                and _look_like_wavelengths(numbers)
                and numbers.min() >= WAVELENGTH_RANGES[1][0]
            ):
                self.heading_numbers = numbers
            return True
        numbers = np.array([self._number(cell) for cell in beyond_first], dtype=np.float64)
        if len(row) > 1 and not self._is_numeric(row[:1]) and _look_like_wavelengths(numbers):
            self.heading, self.heading_numbers = [cell.strip() for cell in row], numbers
            return True
        return False

    def _lines(self) -> Iterator[tuple[int, str, list[str] | None]]:
        """The lines that are not empty, with their numbers; already split if cells are quoted."""
        lines = self.text.splitlines()
        if '"' not in self.text or self.delimiter == " ":
            for number, line in enumerate(lines, 1):
                # A line of separators alone is a row of empty cells.
                if line.strip(" ") and (self.delimiter != " " or line.strip()):
                    yield number, line, None
            return
        parsed = csv.reader(lines, delimiter=self.delimiter)
        while True:
            number = parsed.line_num + 1
            with foreign_code(
                f"{self.source.label}, line {number}: a cell is too long or a quotation mark is missing"
            ):
                row = next(parsed, None)
            if row is None:
                return
            if any(cell.strip() for cell in row) or len(row) > 1:
                yield number, lines[number - 1], row

    def _cells(self, line: str) -> list[str]:
        if self.delimiter == " ":
            return line.split()
        return (
            next(csv.reader([line], delimiter=self.delimiter)) if '"' in line else line.split(self.delimiter)
        )

    def _joined(self, row: Sequence[str]) -> str:
        if self.delimiter == " ":
            return " ".join(row)
        stream = io.StringIO()
        csv.writer(stream, delimiter=self.delimiter, lineterminator="").writerow(row)
        return stream.getvalue()

    def _is_numeric(self, row: list[str]) -> bool:
        return all(self._number(cell) is not None for cell in row)

    def _number(self, cell: str) -> float | None:
        word = cell.strip()
        if word.lower() in MISSING:
            return float("nan")
        if self.delimiter == ";":
            word = word.replace(",", ".")
        try:
            return float(word)
        except ValueError:
            return None

    def _spelled(self, number: float) -> str:
        if np.isnan(number):
            return "" if self.delimiter != " " else "nan"
        text = f"{number:.9g}"
        return text.replace(".", ",") if self.delimiter == ";" and "," in self.text else text

    def _numbers(self, row: list[str], number: int) -> Array:
        values = [self._number(cell) for cell in row]
        if None in values:
            cell = row[values.index(None)].strip()[:40]
            raise UnreadableData(f"{self.source.label}, line {number}: {cell!r} is not a number.")
        return np.array(values, dtype=np.float64)


def _look_like_wavelengths(numbers: Array) -> bool:
    """Whether these are many monotonic numbers in the range of wavelengths."""
    if numbers.size < LEAST_WAVELENGTHS or not np.isfinite(numbers).all():
        return False
    steps = np.diff(numbers)
    monotonic = bool((steps > 0).all() or (steps < 0).all())
    return monotonic and any(low <= numbers.min() and numbers.max() <= top for low, top in WAVELENGTH_RANGES)


def _decoded(source: Source) -> tuple[str, str]:
    data = source.data
    encoding = "utf-8"
    if data.startswith(codecs.BOM_UTF8):
        encoding = "utf-8-sig"
    elif data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        encoding = "latin-1"
        text = data.decode(encoding)
    if "\0" in text:
        raise UnreadableData(f"{source.label} is not a text file.")
    return text, encoding


def _delimiter(text: str) -> str:
    first = text.lstrip()[:10_000].split("\n", 1)[0]
    # Semicolon before comma: if both occur, the comma is the decimal sign.
    return next((sign for sign in "\t;," if sign in first), " ")
