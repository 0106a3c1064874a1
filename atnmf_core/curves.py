"""Points of a curve, RMSE against lambda or alpha, from whatever source, and what they say."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime

from .sweep import Summary

__all__ = ["COLUMNS", "CurvePoint", "best", "csv_text", "from_csv", "from_summary", "gain", "level"]

COLUMNS = [*(field.name for field in fields(Summary) if field.name not in ("sweep", "finished")), "date"]
"""Of the table in which a curve is written down."""


@dataclass(frozen=True)
class CurvePoint:
    """RMSE on hidden entries, mean and deviation over the starts of one combination.

    Attributes
    ----------
    lam : None for NMF and ANMF.
    deviation : standard deviation over the starts (n - 1), None for a single start.
    version, date : of the solver, and when the last fit was finished (UTC).
    """

    alpha: float
    K: int
    method: str
    lam: float | None
    missing: str
    solver: str
    starts: int
    mean: float
    deviation: float | None
    version: str
    date: str


def from_summary(rows: Iterable[Summary]) -> tuple[CurvePoint, ...]:
    """The points of a sweep as far as it is, without those whose error is no number."""
    return tuple(
        CurvePoint(
            alpha=row.alpha,
            K=row.K,
            method=row.method,
            lam=row.lam,
            missing=row.missing,
            solver=row.solver,
            starts=row.starts,
            mean=row.rmse_hidden,
            deviation=row.rmse_hidden_sd,
            version=row.version,
            date=_date(row.finished),
        )
        for row in rows
        if math.isfinite(row.rmse_hidden)
    )


def csv_text(rows: Iterable[Summary]) -> str:
    """One line per combination, with the mean and standard deviation over its starts to six digits."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        values = (getattr(row, column) for column in COLUMNS[:-1])
        rounded = [f"{value:.6g}" if isinstance(value, float) else value for value in values]
        writer.writerow([*rounded, _date(row.finished)])
    return file.getvalue()


def from_csv(text: str) -> tuple[CurvePoint, ...]:
    """The points of a table that `csv_text` wrote."""
    return tuple(
        CurvePoint(
            alpha=float(row["alpha"]),
            K=int(row["K"]),
            method=row["method"],
            lam=_optional(row["lam"]),
            missing=row["missing"],
            solver=row["solver"],
            starts=int(row["starts"]),
            mean=float(row["rmse_hidden"]),
            deviation=_optional(row["rmse_hidden_sd"]),
            version=row["version"],
            date=row["date"],
        )
        for row in csv.DictReader(text.splitlines())
    )


def best(points: Iterable[CurvePoint]) -> CurvePoint | None:
    """AT-NMF's point of least error; None where there is no point of AT-NMF."""
    curve = [point for point in points if point.lam is not None]
    return min(curve, key=lambda point: point.mean, default=None)


def level(points: Sequence[CurvePoint], method: str, like: CurvePoint | None = None) -> CurvePoint | None:
    """The point of a method without lambda; of several, that by the solver of the point `like`."""
    found = [point for point in points if point.method == method]
    same = [point for point in found if like is None or point.solver == like.solver]
    return next(iter(same or found), None)


def gain(point: CurvePoint, nmf: CurvePoint) -> float:
    """By what share of NMF's error a point's is lower; negative where it is higher."""
    return 1.0 - point.mean / nmf.mean if nmf.mean else 0.0


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()


def _optional(text: str) -> float | None:
    return float(text) if text else None
