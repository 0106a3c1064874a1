"""Tables 1 to 4 of the paper and their reproduction, kept beside this file as CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass, fields
from importlib.resources import files
from typing import IO

from ..problem import InputError

__all__ = [
    "NAMES",
    "Measured",
    "Published",
    "measured",
    "merged",
    "published",
    "read_measured",
    "write_measured",
]

NAMES = ("synthetic", "cbcl", "moffet", "madonna")
"""The four tables, in the paper's order."""


@dataclass(frozen=True)
class Published:
    """One cell of a table in the paper: RMSE on hidden entries, mean and deviation over ten starts.

    `lam` is None for NMF and ANMF.
    """

    alpha: float
    method: str
    lam: float | None
    mean: float
    deviation: float


@dataclass(frozen=True)
class Measured:
    """The same cell as measured here.

    Attributes
    ----------
    deviation : standard deviation over the starts (n - 1), None for a single start.
    starts : how many of the authors' ten starts went in.
    max_outer : outer iterations after which Algorithm 1 was ended; the authors allowed 100.
    seconds : mean time of one fit.
    version, date : of the solver, and when the last fit was finished (UTC).
    """

    alpha: float
    method: str
    lam: float | None
    K: int
    missing: str
    solver: str
    dtype: str
    mean: float
    deviation: float | None
    starts: int
    max_outer: int
    seconds: float
    version: str
    date: str


def published(name: str) -> tuple[Published, ...]:
    """The cells of the paper's table "synthetic", "cbcl", "moffet" or "madonna".

    Examples
    --------
    >>> published("cbcl")[0]
    Published(alpha=0.3, method='nmf', lam=None, mean=0.204, deviation=0.001)
    """
    return tuple(
        Published(
            alpha=float(row["alpha"]),
            method=row["method"],
            lam=_optional(row["lam"]),
            mean=float(row["mean"]),
            deviation=float(row["deviation"]),
        )
        for row in _rows(name, "published")
    )


def measured(name: str) -> tuple[Measured, ...]:
    """What was measured for a table and is kept with the program; empty where nothing is.

    Made by `python -m atnmf_core reproduce NAME --csv FILE`; each cell says from how many starts and with
    which `--max-outer`.
    """
    return read_measured(_rows(name, "measured"))


def read_measured(rows: Iterable[dict[str, str]]) -> tuple[Measured, ...]:
    """Cells from the rows of a CSV file that `write_measured` wrote."""
    return tuple(
        Measured(
            alpha=float(row["alpha"]),
            method=row["method"],
            lam=_optional(row["lam"]),
            K=int(row["K"]),
            missing=row["missing"],
            solver=row["solver"],
            dtype=row["dtype"],
            mean=float(row["mean"]),
            deviation=_optional(row["deviation"]),
            starts=int(row["starts"]),
            max_outer=int(row["max_outer"]),
            seconds=float(row["seconds"]),
            version=row["version"],
            date=row["date"],
        )
        for row in rows
    )


def merged(old: Iterable[Measured], new: Iterable[Measured]) -> tuple[Measured, ...]:
    """The better measurement of each cell: that of longer runs, and among equals that of more starts."""
    best: dict[tuple[object, ...], Measured] = {}
    for cell in (*old, *new):
        place = (cell.alpha, cell.K, cell.missing != "zero", cell.method, cell.lam or 0.0)
        rival = best.get(place)
        if rival is None or (cell.max_outer, cell.starts) >= (rival.max_outer, rival.starts):
            best[place] = cell
    return tuple(best[place] for place in sorted(best, key=repr))


def write_measured(cells: Iterable[Measured], file: IO[str]) -> None:
    """Write cells as CSV, with six significant digits."""
    columns = [field.name for field in fields(Measured)]
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    for cell in cells:
        values = (getattr(cell, column) for column in columns)
        writer.writerow(f"{value:.6g}" if isinstance(value, float) else value for value in values)


def _rows(name: str, kind: str) -> list[dict[str, str]]:
    if name not in NAMES:
        raise InputError(f"name={name!r}: the paper's tables are {', '.join(NAMES)}.")
    file = files(__package__) / f"{kind}_{name}.csv"
    if not file.is_file():
        return []
    return list(csv.DictReader(file.read_text().splitlines()))


def _optional(text: str) -> float | None:
    return float(text) if text else None
