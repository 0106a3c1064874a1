"""Tables 1 to 4 of the paper and their reproduction, bundled beside this file as CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ..factorization import SOLVER_VERSIONS
from ..problem import InputError
from ..sweep.measurements import Measurement, read_csv
from .protocol import PROTOCOLS

TITLES = {
    "synthetic": "Synthetic",
    "cbcl": "CBCL faces",
    "moffet": "Moffett Field",
    "madonna": "Madonna",
}
"""The four tables, in the paper's order."""
NAMES = tuple(TITLES)


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
            lam=float(row["lam"]) if row["lam"] else None,
            mean=float(row["mean"]),
            deviation=float(row["deviation"]),
        )
        for row in csv.DictReader(_text(name, "published").splitlines())
    )


def measured(name: str) -> tuple[Measurement, ...]:
    """What was measured for a table and is bundled with the program.

    Made by `python -m atnmf_core reproduce NAME --csv FILE`; each measurement says from how many starts and
    with which `--max-outer`.
    """
    return read_csv(_text(name, "measured"))


@cache
def tuned(name: str) -> dict[float, Measurement]:
    """What AT-NMF by the exact (fast) solver reaches on the unmarked entries of a table, for each alpha, with
    the lambda that predicts held-out entries best; made by `python -m tests.benchmarks.tuned NAME`.

    Examples
    --------
    >>> tuned("moffet")[0.5].lam
    1.02
    """
    rows = read_csv((files(__package__) / "tuned.csv").read_text())
    return {row.alpha: row for row in rows if row.dataset == PROTOCOLS[name].dataset}


def best_of_each(rows: Iterable[Measurement]) -> tuple[Measurement, ...]:
    """Of several measurements of one combination, the most trustworthy: that of the longer run, then of the
    current solver version, of more starts, and the last in order.
    """
    best: dict[tuple[object, ...], Measurement] = {}
    for row in rows:
        combination = (row.alpha, row.K, row.missing != "zero", row.method, row.lam or 0.0)
        rival = best.get(combination)
        if rival is None or _trust(row) >= _trust(rival):
            best[combination] = row
    return tuple(best[combination] for combination in sorted(best))


def is_current(row: Measurement) -> bool:
    """Whether the current solver gives the same numbers."""
    return row.version == SOLVER_VERSIONS.get(row.solver)


def _trust(row: Measurement) -> tuple[int, bool, int]:
    return row.max_outer, is_current(row), row.starts


def _text(name: str, kind: str) -> str:
    if name not in NAMES:
        raise InputError(f"name={name!r}: the paper's tables are {', '.join(NAMES)}.")
    return (files(__package__) / f"{kind}_{name}.csv").read_text()
