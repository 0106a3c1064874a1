"""What restorations were measured on, of which damage, and what other methods made of the same."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

MEASURES = ("restored", "nmf", "l1", "pcp", "mask_known", "precision", "recall")


@dataclass(frozen=True)
class UnmarkedDefects:
    """RMSE over the whole matrix against the undamaged data, averaged over `seeds` seeds.

    restored : of `restore`, which is told nothing; with noise, of its denoised data.
    nmf, l1, pcp : of NMF and L1-NMF (best of three K) and principal component pursuit, told nothing either.
    mask_known : of NMF that is told which entries are wrong, with the best K.
    precision, recall : of the defects that `restore` named.
    """

    data: str
    damage: str
    seeds: int
    restored: float
    nmf: float
    l1: float
    pcp: float
    mask_known: float
    precision: float
    recall: float


@cache
def unmarked_defects() -> tuple[UnmarkedDefects, ...]:
    """All measurements, made by `python -m tests.benchmarks.restoration --publish`.

    >>> {row.data for row in unmarked_defects()} >= {"moffet", "lfw"}
    True
    """
    text = (files(__package__) / "unmarked_defects.csv").read_text()
    return tuple(
        UnmarkedDefects(
            row["data"], row["damage"], int(row["seeds"]), *(float(row[name]) for name in MEASURES)
        )
        for row in csv.DictReader(text.splitlines())
    )


LEAGUE_DATA = {
    "simulated-scene": "Simulated scene", "moffet": "Moffett Field", "madonna": "Madonna",
    "enmap": "EnMAP, Potsdam", "gamsberg": "Gamsberg", "corn": "Corn kernels", "lfw": "Bundled faces",
    "cbcl": "CBCL faces", "sixcases": "Six cases",
}  # fmt: skip
"""What restorations were measured on."""
OURS, YARDSTICK = "restore", "NMF told the mask"
DECIBELS = "MPSNR"
PARTS = {
    "unmarked": "Wrong entries, none marked",
    "beyond": "What nobody can tell from another scene",
    "blocks": "And a block of 12 × 12 pixels in a sixth of the bands",
    "marked": "Missing entries, marked",
    "faces": "Faces",
    "six": "Mixed noise, the field's six cases",
}
"""Of the league."""


@dataclass(frozen=True)
class LeagueRow:
    """What was made of one data set, damaged in one way.

    measure : "RMSE" against the undamaged data, or "MPSNR" in decibels, of which more is better.
    means, seconds : by method. `OURS` is `restore`, denoised where there is noise; `YARDSTICK` knows more.
    adversaries : in how many draws `restore` chose an adversary; None where that was not noted.
    """

    part: str
    data: str
    damage: str
    measure: str
    means: Mapping[str, float]
    seconds: Mapping[str, float]
    seeds: int
    adversaries: int | None

    @property
    def rivals(self) -> dict[str, float]:
        return {name: mean for name, mean in self.means.items() if name not in (OURS, YARDSTICK)}

    @property
    def best(self) -> str:
        """The method with the best mean, the yardstick left out."""
        others = self.rivals | {OURS: self.means[OURS]}
        return (max if self.measure == DECIBELS else min)(others, key=lambda name: others[name])


@cache
def league() -> tuple[LeagueRow, ...]:
    """All measurements of restorations, made by `python -m tests.benchmarks.restoration --publish`.

    >>> {row.part for row in league()} <= set(PARTS)
    True
    """
    cells: dict[tuple[str, str, str], list[dict[str, str]]] = {}
    text = (files(__package__) / "restoration.csv").read_text()
    for line in csv.DictReader(text.splitlines()):
        cells.setdefault((line["part"], line["data"], line["damage"]), []).append(line)
    return tuple(_league_row(*cell, lines) for cell, lines in cells.items())


def compared() -> tuple[LeagueRow, ...]:
    """The rows of the league in which others were measured, too."""
    return tuple(row for row in league() if row.rivals)


def _league_row(part: str, data: str, damage: str, lines: list[dict[str, str]]) -> LeagueRow:
    has_noise = part == "six" or "noise" in damage or "everything" in damage
    counts = f"{OURS}, denoised" if has_noise else OURS
    other = OURS if counts != OURS else f"{OURS}, denoised"
    kept = {
        OURS if line["method"] == counts else line["method"]: line
        for line in lines
        if line["method"] != other
    }
    ours = kept[OURS]
    return LeagueRow(
        part,
        data,
        damage,
        ours["measure"],
        {name: float(line["mean"]) for name, line in kept.items()},
        {name: float(line["seconds"]) for name, line in kept.items() if line["seconds"]},
        int(ours["seeds"]),
        int(ours["adversary"]) if ours["adversary"] else None,
    )
