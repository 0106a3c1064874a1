"""How AT-NMF and its rivals cope with unmarked defects; bundled as CSV."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["UnmarkedDefects", "unmarked_defects"]


@dataclass(frozen=True)
class UnmarkedDefects:
    """RMSE over the whole matrix against the undamaged data, averaged over `seeds` seeds.

    Attributes
    ----------
    data : name of the data set.
    damage : what was done to it, in words.
    K, lam : the number of parts, and the price of AT-NMF's adversary.
    atnmf, nmf, l1 : errors of three methods that do not know which entries are wrong.
    mask_known : error of NMF with the wrong entries left out.
    """

    data: str
    damage: str
    K: int
    lam: float
    seeds: int
    atnmf: float
    nmf: float
    l1: float
    mask_known: float


@cache
def unmarked_defects() -> tuple[UnmarkedDefects, ...]:
    """All measurements, made by `python -m tests.benchmarks.unmarked`.

    Examples
    --------
    >>> {row.data for row in unmarked_defects()} >= {"moffet", "lfw"}
    True
    """
    text = (files(__package__) / "unmarked_defects.csv").read_text()
    return tuple(
        UnmarkedDefects(
            data=row["data"],
            damage=row["damage"],
            K=int(row["K"]),
            lam=float(row["lam"]),
            seeds=int(row["seeds"]),
            **{name: float(row[name]) for name in ("atnmf", "nmf", "l1", "mask_known")},
        )
        for row in csv.DictReader(text.splitlines())
    )
