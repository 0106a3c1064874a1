"""`python -m tests.benchmarks.publish`: what was measured of restorations, for the package and the README."""

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import atnmf_core

from .damage import BEYOND, FACES, GAPS, UNMARKED
from .league import write_readme
from .restoration import (
    PARTS,
    PUBLISHED,
    RESTORE_COLUMNS,
    RESULTS,
    RIVAL_COLUMNS,
    WITHOUT_RIVALS,
    YARDSTICK,
    Store,
    by_method,
    is_noisy,
    over_seeds,
)

PUBLISHED_COLUMNS = (
    "part", "data", "damage", "method", "measure", "mean", "worst", "seeds", "seconds", "adversary",
)  # fmt: skip


def publish(*stores: Store) -> None:
    """Write the package's tables and the README's; cells that were not measured here stay as they were."""
    folder = Path(atnmf_core.__file__).parent / "reference"
    measured = [row for part in PARTS for cell in PARTS[part] for row in published_rows(part, *cell, *stores)]
    keep_others(folder / "restoration.csv", PUBLISHED_COLUMNS, ("part", "data", "damage", "method"), measured)
    publish_defects(folder / "unmarked_defects.csv", *stores)
    write_readme()


def published_rows(
    part: str, name: str, kind: str, ours: Store, others: Store, told: Store
) -> Iterator[dict[str, str]]:
    if part in WITHOUT_RIVALS:
        return
    cell = {"part": part, "data": name, "damage": in_words(part, kind)}
    for method, rows, column in entries(part, name, kind, ours, others, told):
        summary = over_seeds(rows, column, min if column == "mpsnr" else max)
        if not np.isnan(summary.mean):
            yield cell | {
                "method": method,
                "measure": "MPSNR" if column == "mpsnr" else "RMSE",
                "mean": f"{summary.mean:.4g}",
                "worst": f"{summary.worst:.4g}",
                "seeds": str(len(rows)),
                "seconds": f"{over_seeds(rows, 'seconds').mean:.3g}",
                "adversary": str(sum("an adversary with" in row["chosen"] for row in rows))
                if "chosen" in rows[0]
                else "",
            }
    for method, figures in PUBLISHED.items() if part == "six" else ():
        mean = str(figures[int(kind[-1]) - 1])
        yield cell | {"method": method, "measure": "MPSNR", "mean": mean}


def keep_others(
    file: Path, columns: tuple[str, ...], key: tuple[str, ...], measured: list[dict[str, str]]
) -> None:
    """Rows that are there are replaced in their places, others stay, new ones go to the end."""
    with file.open(newline="") as opened:
        rows = {tuple(row[name] for name in key): row for row in csv.DictReader(opened)}
    fresh = {tuple(row[name] for name in key): row for row in measured}
    print(f"{file}: {len(fresh)} rows measured, {len(rows.keys() - fresh.keys())} left as they were")
    with file.open("w", newline="") as opened:
        writer = csv.DictWriter(opened, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows((rows | fresh).values())


def entries(
    part: str, name: str, kind: str, ours: Store, others: Store, told: Store
) -> Iterator[tuple[str, list[dict[str, str]], str]]:
    """Method, rows and the column that counts, for each method in a cell of the league.

    `restore` and the others are compared on the draws that both were measured on.
    """
    six, mine = part == "six", ours.of(part, name, kind)
    theirs = [*others.of(part, name, kind), *told.of(part, name, kind)]
    both = {row["seed"] for row in mine} & {row["seed"] for row in theirs}
    mine, theirs = ([row for row in rows if not both or row["seed"] in both] for rows in (mine, theirs))
    if not six:
        yield "restore", mine, "error"
    yield "restore, denoised", mine, "mpsnr" if six else "denoised"
    for method, rows in by_method(theirs).items():
        filled = method == YARDSTICK and not six and not is_noisy(part, kind)
        yield method, rows, "mpsnr" if six else "filled" if filled else "error"


def in_words(part: str, kind: str) -> str:
    """A kind of damage, as people read it."""
    if part in ("six", "undamaged", "units", "speed"):
        return kind
    first, _, block = kind.partition(" + ")
    if first.startswith("random"):
        words = f"{first.removeprefix('random')} % at random"
    else:
        words = GAPS[first] if part == "marked" else (UNMARKED | BEYOND)[first].words
    return f"{words}, and a {block} block" if block else words


DEFECT_COLUMNS = (
    "data", "damage", "seeds", "restored", "nmf", "l1", "pcp", "mask_known", "precision", "recall",
)  # fmt: skip


def publish_defects(target: Path, ours: Store, others: Store, told: Store) -> None:
    """What the lesson tells of defects that nobody marked."""
    shown = [("faces", name, kind) for name in FACES for kind in ("dark10", "dark30")]
    shown += [("unmarked", name, kind) for name in ("moffet", "madonna") for kind in UNMARKED]
    measured = []
    for cell in shown:
        mine, rivals = ours.of(*cell), by_method(others.of(*cell))
        if not (mine and rivals):
            continue
        noisy = is_noisy(cell[0], cell[2])
        figures = [
            over_seeds(mine, "denoised" if noisy else "error"),
            *(over_seeds(rivals.get(name, []), "error") for name in ("NMF", "L1-NMF", "PCP")),
            over_seeds(told.of(*cell), "error" if noisy else "filled"),
            over_seeds(mine, "precision"),
            over_seeds(mine, "recall"),
        ]
        values = (
            cell[1],
            in_words(cell[0], cell[2]),
            str(len(mine)),
            *(f"{one.mean:.4g}" for one in figures),
        )
        measured.append(dict(zip(DEFECT_COLUMNS, values, strict=True)))
    keep_others(target, DEFECT_COLUMNS, ("data", "damage"), measured)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.publish", description=__doc__)
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the files")
    folder = parser.parse_args().results
    publish(
        Store(folder / "restore.csv", RESTORE_COLUMNS),
        Store(folder / "rivals.csv", RIVAL_COLUMNS),
        Store(folder / "yardstick.csv", RIVAL_COLUMNS),
    )
