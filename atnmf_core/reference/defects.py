"""How `restore` and its rivals do on defects that nobody has marked; bundled as CSV."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

MEASURES = ("atnmf", "nmf", "l1", "mask_known", "precision", "recall")


@dataclass(frozen=True)
class UnmarkedDefects:
    """RMSE over the whole matrix against the undamaged data, averaged over `seeds` seeds.

    Attributes
    ----------
    data : name of the data set.
    damage : what was done to it, in words.
    atnmf : of `restore`, which knows neither which entries are wrong nor any setting.
    nmf, l1 : of NMF and L1-NMF, which do not know them either, with the best of three numbers of parts.
    mask_known : of NMF with the wrong entries left out and the best number of parts.
    precision, recall : of the defects that `restore` named.
    """

    data: str
    damage: str
    seeds: int
    atnmf: float
    nmf: float
    l1: float
    mask_known: float
    precision: float
    recall: float


@cache
def unmarked_defects() -> tuple[UnmarkedDefects, ...]:
    """All measurements, made by `python -m tests.benchmarks.restoration --parts unmarked`.

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
            seeds=int(row["seeds"]),
            **{name: float(row[name]) for name in MEASURES},
        )
        for row in csv.DictReader(text.splitlines())
    )
