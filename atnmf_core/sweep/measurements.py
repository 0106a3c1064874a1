"""The outcome of each point, and errors averaged over starts, for stores, bundled tables and curves."""

from __future__ import annotations

import csv
import io
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, dataclass, fields
from datetime import UTC, datetime
from typing import Any, get_args

from ..model.problem import InputError, Method


@dataclass(frozen=True)
class FinishedPoint:
    """A finished or failed point: its fields, version and data's hash; its `Measures`, None if it failed."""

    key: str
    identity: dict[str, Any]
    measures: dict[str, Any] | None
    finished: float
    error: str | None


@dataclass(frozen=True)
class Measurement:
    """RMSE on hidden entries of one combination of parameters, over its starts.

    lam : None for NMF and ANMF.
    mean, deviation : over the starts; the standard deviation (n - 1) is None for a single start.
    max_outer : limit on the outer iterations of Algorithm 1.
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


_COMBINATION = ("alpha", "K", "missing", "method", "lam", "solver", "dtype", "version", "max_outer")
"""What fits that differ only in their start have in common."""


def summarise(outcomes: Iterable[FinishedPoint], dataset: str) -> list[Measurement]:
    starts: dict[tuple[Any, ...], list[FinishedPoint]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.measures is not None:
            starts[tuple(outcome.identity[name] for name in _COMBINATION)].append(outcome)
    rows = [
        Measurement(**dict(zip(_COMBINATION, combination, strict=True)), dataset=dataset, **_means(found))
        for combination, found in starts.items()
    ]
    order = get_args(Method)
    return sorted(
        rows, key=lambda row: (row.alpha, row.K, row.missing, order.index(row.method), row.lam or 0)
    )


def _means(outcomes: list[FinishedPoint]) -> dict[str, Any]:
    measures = [outcome.measures for outcome in outcomes if outcome.measures is not None]
    count = len(measures)
    means = {name: sum(one[name] for one in measures) / count for name in measures[0]}
    squares = sum((one["rmse_hidden"] - means["rmse_hidden"]) ** 2 for one in measures)
    spread = math.sqrt(squares / (count - 1)) if count > 1 else math.nan
    finished = max(outcome.finished for outcome in outcomes)
    return {
        "mean": means["rmse_hidden"],
        "deviation": None if math.isnan(spread) else spread,
        "starts": count,
        "date": datetime.fromtimestamp(finished, UTC).date().isoformat(),
        **{name: means[name] for name in ("seconds", "rmse_observed", "n_iter")},
    }


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
    values = ([getattr(row, column) for column in _COLUMNS] for row in rows)
    return csv_table(
        _COLUMNS, ([f"{one:.6g}" if isinstance(one, float) else one for one in line] for line in values)
    )


def csv_table(header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return file.getvalue()


def read_csv(text: str) -> tuple[Measurement, ...]:
    """The measurements that `csv_text` wrote; columns with a default may be absent."""
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


def baseline(
    points: Sequence[Measurement], method: str, like: Measurement | None = None
) -> Measurement | None:
    """The point of a method without lambda; if several solvers have one, that of the solver of `like`."""
    found = [point for point in points if point.method == method]
    same = [point for point in found if like is None or point.solver == like.solver]
    return next(iter(same or found), None)


def gain(point: Measurement, nmf: Measurement) -> float:
    """How far a point's error lies below NMF's, as a share of NMF's; negative where it lies above."""
    return 1.0 - point.mean / nmf.mean if nmf.mean else 0.0
