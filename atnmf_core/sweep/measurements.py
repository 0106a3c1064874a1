"""Errors averaged over starts: one record for a store, a bundled table and a curve, and its form as CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any

from ..problem import InputError

__all__ = ["Measurement", "best", "csv_text", "gain", "level", "read_csv"]


@dataclass(frozen=True)
class Measurement:
    """RMSE on hidden entries of one combination of parameters, over its starts.

    Attributes
    ----------
    lam : None for NMF and ANMF.
    mean, deviation : over the starts; the standard deviation (n - 1) is None for a single start.
    max_outer : outer iterations that Algorithm 1 was allowed.
    seconds : mean time of a fit; None where it was not taken on a quiet machine.
    version, date : the solver's version, and the day (UTC) on which the last fit finished.
    dataset, rmse_observed, n_iter : empty or None in tables written without them.
    """

    alpha: float
    method: str
    lam: float | None
    K: int
    missing: str
    solver: str
    dtype: str
    mean: float
    deviation: float | None = None
    starts: int = 1
    max_outer: int = 100
    seconds: float | None = None
    version: str = ""
    date: str = ""
    dataset: str = ""
    rmse_observed: float | None = None
    n_iter: float | None = None


_PARSERS: dict[str, Callable[[str], Any]] = {
    "str": str,
    "int": int,
    "float": float,
    "float | None": lambda text: float(text) if text else None,
}
_COLUMNS = {field.name: _PARSERS[str(field.type)] for field in fields(Measurement)}
_REQUIRED = {field.name for field in fields(Measurement) if field.default is MISSING}


def csv_text(rows: Iterable[Measurement]) -> str:
    """A header and one line per measurement, numbers with six significant digits."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in rows:
        values = (getattr(row, column) for column in _COLUMNS)
        writer.writerow(f"{value:.6g}" if isinstance(value, float) else value for value in values)
    return file.getvalue()


def read_csv(text: str) -> tuple[Measurement, ...]:
    """The measurements that `csv_text` wrote; columns with a default may be absent.

    Raises
    ------
    InputError : the text is another kind of table.
    """
    table = csv.DictReader(text.splitlines())
    header = set(table.fieldnames or ())
    if not _REQUIRED <= header <= set(_COLUMNS):
        raise InputError(
            f"not a table of measurements: its columns are {', '.join(sorted(header)) or 'none'}."
        )
    try:
        return tuple(Measurement(**{name: _COLUMNS[name](row[name]) for name in header}) for row in table)
    except (ValueError, TypeError) as error:
        raise InputError(f"not a table of measurements: line {table.line_num}: {error}.") from error


def best(points: Iterable[Measurement]) -> Measurement | None:
    """AT-NMF's point of lowest error; None where AT-NMF has no point."""
    curve = [point for point in points if point.lam is not None and math.isfinite(point.mean)]
    return min(curve, key=lambda point: point.mean, default=None)


def level(points: Sequence[Measurement], method: str, like: Measurement | None = None) -> Measurement | None:
    """The point of a method without lambda; if several solvers made one, that by the solver of `like`."""
    found = [point for point in points if point.method == method]
    same = [point for point in found if like is None or point.solver == like.solver]
    return next(iter(same or found), None)


def gain(point: Measurement, nmf: Measurement) -> float:
    """How far a point's error lies below NMF's, as a share of NMF's; negative where it lies above."""
    return 1.0 - point.mean / nmf.mean if nmf.mean else 0.0
