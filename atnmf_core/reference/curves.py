"""A finished sweep that comes with the program, so that the first view of a curve needs no computing.

Made by

    python -m atnmf_core sweep --data lfw --K 25 --alpha 0.3 --missing ignore zero --starts 5
        --out lfw_curve.csv --lam 1.05 1.1 1.2 1.3 1.5 1.75 2 2.5 3 4 5 7 10 20 50 100
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files

__all__ = ["CurvePoint", "lfw_curve"]


@dataclass(frozen=True)
class CurvePoint:
    """RMSE on hidden entries of one method, lambda (None for NMF) and treatment of hidden entries."""

    alpha: float
    K: int
    method: str
    lam: float | None
    missing: str
    starts: int
    mean: float
    deviation: float
    version: str


def lfw_curve() -> tuple[CurvePoint, ...]:
    """The bundled faces at alpha = 0.3 and K = 25, seeded mask 0, by the fast solver."""
    rows = csv.DictReader((files(__package__) / "lfw_curve.csv").read_text().splitlines())
    return tuple(
        CurvePoint(
            alpha=float(row["alpha"]),
            K=int(row["K"]),
            method=row["method"],
            lam=float(row["lam"]) if row["lam"] else None,
            missing=row["missing"],
            starts=int(row["starts"]),
            mean=float(row["rmse_hidden"]),
            deviation=float(row["rmse_hidden_sd"]),
            version=row["version"],
        )
        for row in rows
    )
