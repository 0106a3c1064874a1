"""`python -m tests.benchmarks.restoration`: how well damaged data is restored, and against whom.

A cell is a part, a data set, a kind of damage and a seed. Every cell of `restore` is one row of
results/restore.csv (`--label` names another file), every cell of a rival one of results/rivals.csv, every
cell of the yardstick, NMF told the mask with the best K, one of results/yardstick.csv. Cells that are there
are not measured again, so a run can be stopped and resumed, and `restore` can be measured alone
(`--no-rivals`) or anew (`--again`). `--table` prints what is there; `tests.benchmarks.publish` writes it for
the package.

Seconds are processor seconds of one thread. Nothing is given to `restore` but the data and whether losses are
marked. The data is used whole; the units are tried on a quarter of a scene.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

# Before NumPy is first imported: one thread, so that processor seconds can be compared.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from skimage.metrics import structural_similarity

import atnmf_core
from atnmf_core import Dataset, factorize, restore, rmse
from atnmf_core.restoration.rivals import RIVALS

from . import damage, units
from .damage import (
    BEYOND,
    CUBES,
    FACES,
    GAPS,
    NOTHING,
    SIX_CASES,
    TIMED,
    UNMARKED,
    Array,
    Spoiled,
    undamaged,
)
from .rivals.imputers import IMPUTERS

RESULTS = Path(__file__).parent / "results"
LADDER = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
MANY_ENTRIES, FEW_KS = 2_000_000, (4, 8, 12, 16)
YARDSTICK = "NMF told the mask"
PUBLISHED = {
    # MPSNR in the six cases, means of their authors.
    "LRMR": (36.20, 35.67, 36.40, 35.76, 33.72, 33.42),
    "LRTV": (38.68, 38.04, 39.54, 38.75, 36.54, 36.35),
    "LRTDTV": (40.76, 40.54, 41.08, 40.72, 38.83, 38.63),
    "E-3DTV": (42.33, 41.97, 43.13, 42.68, 40.80, 40.54),
}

PARTS: dict[str, tuple[tuple[str, str], ...]] = {
    "six": tuple((SIX_CASES, f"case{case}") for case in range(1, 7)),
    "unmarked": tuple((name, kind) for kind in UNMARKED for name in CUBES),
    "beyond": tuple((name, kind) for kind in BEYOND for name in CUBES),
    "blocks": tuple(
        (name, f"{kind} + {block}") for kind in UNMARKED for block in damage.BLOCKS for name in CUBES
    ),
    "marked": tuple((name, kind) for kind in GAPS for name in CUBES),
    "faces": tuple((name, kind) for name in FACES for kind in ("dark10", "dark30"))
    + tuple((name, f"random{share}") for name in FACES for share in (10, 30, 50)),
    "undamaged": tuple((name, NOTHING) for name in (*CUBES, *FACES)),
    "units": tuple((name, kind) for name in units.DATA for kind in units.CHANGES),
    "speed": ((TIMED, "dark10"), (TIMED, "blocks")),
}
WITHOUT_RIVALS = ("undamaged", "units", "speed")

KEY = ("part", "data", "damage", "seed")
RIVAL_COLUMNS = (*KEY, "method", "error", "filled", "K", "mpsnr", "mssim", "unpredicted", "seconds")
RESTORE_COLUMNS = (
    *KEY, "error", "denoised", "expected", "made", "made where replaced", "precision", "recall", "called",
    "lines", "changed", "unrestored", "within one", "within two", "denoised within one",
    "denoised within two", "block found", "sound changed", "mpsnr", "mssim", "mpsnr of V", "same choice",
    "difference", "largest difference", "seconds", "first seconds", "chosen", "summary", "note",
)  # fmt: skip
Row = dict[str, object]


class Cell(NamedTuple):
    part: str
    data: str
    damage: str
    seed: int

    @property
    def row(self) -> Row:
        return self._asdict()

    def spoiled(self) -> Spoiled:
        data = undamaged(self.data)
        if self.damage == NOTHING:
            nothing = np.zeros(data.shape, dtype=bool)
            return Spoiled(data, data.V, nothing, nothing)
        if self.part == "six":
            return damage.six_cases(data, self.damage, self.seed)
        if self.damage.partition(" + ")[0] in UNMARKED | BEYOND and self.part != "marked":
            return damage.unmarked(data, self.damage, self.seed)
        return damage.marked(data, self.damage, self.seed)


def cells(parts: list[str], names: list[str] | None, kinds: list[str] | None, seeds: int) -> Iterator[Cell]:
    """Seed by seed, so that the first table is whole early."""
    for seed in range(seeds):
        for part in parts:
            for name, kind in PARTS[part]:
                if (not names or name in names) and (not kinds or kind in kinds):
                    yield Cell(part, name, kind, seed)


# --- restore


def run_restore(data: Dataset, losses: str, seed: int) -> tuple[atnmf_core.Restoration, Row]:
    """The restoration, and what it took in this process alone; and its first answer."""
    began, first = time.process_time(), []

    def note(progress: object) -> None:
        if not first:
            first[:] = [time.process_time() - began]

    r = restore(data, losses, seed=seed, callback=note)
    seconds = time.process_time() - began
    return r, {"seconds": seconds, "first seconds": first[0] if first else seconds}


def restored(cell: Cell) -> Row:
    if cell.part == "units":
        return {**cell.row, **units.measure(cell.data, cell.damage, cell.seed, run_restore)}
    s = cell.spoiled()
    r, took = run_restore(s.data, "marked" if s.marked else "unmarked", cell.seed)
    return {**cell.row, **took, **measured(s, r)}


def measured(s: Spoiled, r: atnmf_core.Restoration) -> Row:
    V, given = filled_in(r.V, s), np.nan_to_num(s.data.V)
    denoised = filled_in(r.denoised, s)
    gone = ~s.data.observed
    where = gone if s.marked else np.ones_like(gone)
    replaced = r.defects | gone
    told = replaced & ~r.unrestorable
    hits = int((r.defects & s.wrong).sum())
    sound = ~s.wrong
    row: Row = {
        "error": rmse(s.truth, V, where),
        "denoised": rmse(s.truth, denoised, where),
        "expected": r.expected_error,
        "made": rmse(s.truth, V, s.wrong | replaced) if (s.wrong | replaced).any() else "",
        "made where replaced": rmse(s.truth, V, told) if told.any() else "",
        "precision": hits / max(int(r.defects.sum()), 1),
        "recall": hits / max(int((s.wrong & ~gone).sum()), 1),
        "called": float(r.defects.mean()),
        "lines": sum(line.last - line.first + 1 for line in r.lines),
        "changed": rmse(s.data.V, V) / rmse(s.data.V, np.zeros_like(V)),
        "unrestored": int(r.unrestorable.sum()),
        "chosen": str(r.choice.chosen) if r.choice else "",
        "summary": r.summary,
    }
    if told.any():
        off = np.abs(s.truth - V)[told] / np.maximum(r.deviation[told], 1e-300)
        row |= {"within one": float((off <= 1).mean()), "within two": float((off <= 2).mean())}
    off = np.abs(s.truth - denoised) / np.maximum(r.deviation, 1e-300)
    row |= {
        "denoised within one": float((off <= 1).mean()),
        "denoised within two": float((off <= 2).mean()),
    }
    if s.block.any():
        row["block found"] = float(r.defects[s.block].mean())
        row["sound changed"] = float((np.abs(V - given) > 3 * r.deviation)[sound].mean())
    if s.data.name == SIX_CASES:
        row |= pictures(s, denoised)
        row["mpsnr of V"] = mpsnr(s, V)
    return row


def filled_in(V: Array, s: Spoiled) -> Array:
    """V, and where it says nothing what one has without any method: the measured value or the row's mean."""
    with np.errstate(invalid="ignore"):
        rows = np.nan_to_num(s.data.V).sum(axis=1) / np.maximum(s.data.observed.sum(axis=1), 1)
    without = np.where(s.data.observed, s.data.V, rows[:, None])
    return np.where(np.isnan(V), without, V)


def pictures(s: Spoiled, V: Array) -> Row:
    pairs = zip(s.data.images(s.truth), s.data.images(V), strict=True)
    similar = [
        structural_similarity(
            255 * image,
            255 * other,
            data_range=255,
            gaussian_weights=True,
            sigma=1.5,
            use_sample_covariance=False,
        )
        for image, other in pairs
    ]
    return {"mpsnr": mpsnr(s, V), "mssim": float(np.mean(similar))}


def mpsnr(s: Spoiled, V: Array) -> float:
    return float(np.mean(-10 * np.log10(np.square(V - s.truth).mean(axis=1))))


# --- the others


def Ks_of(shape: tuple[int, int], observed: int) -> tuple[int, ...]:
    if observed > MANY_ENTRIES:
        return FEW_KS
    return tuple(K for K in LADDER if min(shape) > K and 4 * K * sum(shape) <= observed) or (2,)


def yardstick(cell: Cell, s: Spoiled, method: str) -> Row:
    """NMF told the mask, with the K that is best: of the model everywhere, and of what it fills in."""
    V, known = np.maximum(np.nan_to_num(s.data.V), 0), ~s.wrong
    began, where = time.process_time(), s.wrong if s.marked else None
    errors, models = {}, {}
    for K in Ks_of(s.data.shape, int(known.sum())):
        V_hat = factorize(V, known, K=K, seed=cell.seed).V_hat
        models[K] = rmse(s.truth, V_hat, where)
        errors[K] = rmse(s.truth, np.where(s.wrong, V_hat, s.data.V), where)
        if models[K] == min(models.values()):
            best = V_hat
    row = {"error": min(models.values()), "filled": min(errors.values()), "K": min(errors, key=errors.get)}
    took = {"seconds": time.process_time() - began}
    return {**cell.row, "method": method, **row, **took, **(pictures(s, best) if cell.part == "six" else {})}


def rival(cell: Cell, s: Spoiled, method: str) -> Row:
    """A rival's prediction of everything or, with marked losses, of what is missing; with its best K."""
    V, seen = np.nan_to_num(s.data.V).astype(np.float64), s.data.observed
    began, found = time.process_time(), {}
    if method in IMPUTERS:
        found[0] = IMPUTERS[method](V, seen, s.data.layout)
    elif not RIVALS[method].has_K:
        found[0] = RIVALS[method].run(V, seen, s.data.layout)
    else:
        for K in rival_Ks(s):
            found[K] = RIVALS[method].run(V, seen, s.data.layout, K=K, seed=cell.seed)
    # A method with parts does not know its K: what it costs is one of the fits.
    seconds = (time.process_time() - began) / len(found)
    where = s.wrong if s.marked else np.ones_like(s.wrong)
    unpredicted = {K: float(np.isnan(V_hat[where]).mean()) for K, V_hat in found.items()}
    errors = {
        K: rmse(s.truth, filled_in(V_hat, s), where) if unpredicted[K] < 1 else np.nan
        for K, V_hat in found.items()
    }
    K = min(errors, key=errors.get)
    row = {
        "method": method,
        "error": errors[K],
        "K": K or "",
        "unpredicted": unpredicted[K],
        "seconds": seconds,
    }
    return {**cell.row, **row, **(pictures(s, found[K]) if cell.part == "six" else {})}


def rival_Ks(s: Spoiled) -> tuple[int, ...]:
    Ks = Ks_of(s.data.shape, int(s.data.observed.sum()))
    return tuple(sorted({4, 12, Ks[-1]} & set(Ks) or {Ks[-1]}))


def rivals_of(s: Spoiled) -> list[str]:
    losses = "marked" if s.marked else "unmarked"
    meant = [name for name, rival in RIVALS.items() if losses in rival.losses]
    return [*meant, *IMPUTERS] if s.marked else meant


# --- rows that are kept


class Store:
    """A CSV file with one row per cell, or per cell and method."""

    def __init__(self, file: Path, columns: tuple[str, ...]) -> None:
        self.file, self.columns = file, columns
        self.rows: list[dict[str, str]] = []
        if file.exists():
            with file.open(newline="") as opened:
                self.rows = list(csv.DictReader(opened))
        self._have = {self._key(row) for row in self.rows}

    @staticmethod
    def _key(row: dict[str, object] | dict[str, str]) -> tuple[str, ...]:
        return tuple(str(row.get(name, "")) for name in (*KEY, "method"))

    def has(self, cell: Cell, method: str = "") -> bool:
        return self._key({**cell.row, "method": method}) in self._have

    def add(self, row: Row) -> None:
        self.file.parent.mkdir(exist_ok=True, parents=True)
        fresh = not self.file.exists()
        with self.file.open("a", newline="") as opened:
            writer = csv.DictWriter(opened, self.columns)
            if fresh:
                writer.writeheader()
            writer.writerow(row)
        self.rows.append({name: str(row.get(name, "")) for name in self.columns})
        self._have.add(self._key(row))
        print(", ".join(f"{name} {short(value)}" for name, value in row.items() if value != ""), flush=True)

    def drop(self, gone: set[Cell]) -> None:
        """Forget these cells, to measure them anew."""
        keys = {self._key(cell.row)[: len(KEY)] for cell in gone}
        self.rows = [row for row in self.rows if self._key(row)[: len(KEY)] not in keys]
        self._have = {self._key(row) for row in self.rows}
        if self.file.exists():
            with self.file.open("w", newline="") as opened:
                writer = csv.DictWriter(opened, self.columns)
                writer.writeheader()
                writer.writerows(self.rows)

    def of(self, part: str, name: str, kind: str) -> list[dict[str, str]]:
        return [row for row in self.rows if (row["part"], row["data"], row["damage"]) == (part, name, kind)]


def run(chosen: list[Cell], ours: Store | None, others: Store | None, told: Store | None) -> None:
    for cell in chosen:
        if ours is not None and not ours.has(cell):
            ours.add(restored(cell))
        if others is None or told is None or cell.part in WITHOUT_RIVALS:
            continue
        s = cell.spoiled()
        if not told.has(cell, YARDSTICK):
            told.add(yardstick(cell, s, YARDSTICK))
        for method in rivals_of(s):
            if not others.has(cell, method):
                others.add(rival(cell, s, method))


# --- what is told


class Summary(NamedTuple):
    mean: float
    worst: float


def over_seeds(
    rows: list[dict[str, str]], column: str, worst: Callable[[list[float]], float] = max
) -> Summary:
    values = [float(row[column]) for row in rows if row.get(column, "") not in ("", "nan")]
    return Summary(float(np.mean(values)), worst(values)) if values else Summary(np.nan, np.nan)


def by_method(rows: list[dict[str, str]]) -> dict[str, list[dict[str, str]]]:
    return {
        name: [row for row in rows if row["method"] == name]
        for name in dict.fromkeys(r["method"] for r in rows)
    }


def is_noisy(part: str, kind: str) -> bool:
    return part == "six" or (
        kind.partition(" + ")[0] in UNMARKED and UNMARKED[kind.partition(" + ")[0]].noisy
    )


def table_row(part: str, name: str, kind: str, ours: Store, others: Store, told: Store) -> Row:
    """One line of the table: means over seeds, the worst in brackets."""
    mine, yard = ours.of(part, name, kind), told.of(part, name, kind)
    rivals = {
        method: over_seeds(rows, "error") for method, rows in by_method(others.of(part, name, kind)).items()
    }
    rivals = {method: error for method, error in rivals.items() if not np.isnan(error.mean)}
    best = min(rivals, key=lambda method: rivals[method].mean) if rivals else ""
    noisy = is_noisy(part, kind)
    measure = "denoised" if noisy else "error"
    own = over_seeds(mine, measure)
    limit = over_seeds(yard, "error" if noisy or part == "marked" or kind.startswith("random") else "filled")
    ratios = [float(a[measure]) / b for a in mine if (b := _same_seed(yard, a["seed"], noisy)) is not None]
    honest = [float(a["expected"]) / float(a["made"]) for a in mine if a["made"] and a["expected"]]
    row: Row = {
        "data": name,
        "damage": kind,
        "seeds": f"{len(mine)}/{len(yard)}",
        "V": spread(over_seeds(mine, "error")),
        "denoised": spread(over_seeds(mine, "denoised")),
        "best rival": spread(rivals[best]) if best else "-",
        "its name": best or "-",
        "yardstick": spread(limit),
        "to rival": short(own.mean / rivals[best].mean) if best else "-",
        "to yardstick": f"{short(np.mean(ratios))} ({short(max(ratios))})" if ratios else "-",
        "expected/made": f"{short(np.mean(honest))} ({short(min(honest))}..{short(max(honest))})"
        if honest
        else "-",
        "precision": short(over_seeds(mine, "precision").mean),
        "recall": short(over_seeds(mine, "recall").mean),
        "1/2 dev": "/".join(short(over_seeds(mine, f"within {n}").mean) for n in ("one", "two")),
        "s": short(over_seeds(mine, "seconds").mean),
        "rival s": short(over_seeds(by_method(others.of(part, name, kind))[best], "seconds").mean)
        if best
        else "-",
    }
    extra = {
        "six": ("mpsnr", "mssim", "mpsnr of V"),
        "blocks": ("block found", "sound changed"),
        "undamaged": ("called", "changed", "lines"),
        "units": ("same choice", "difference", "largest difference"),
        "speed": ("first seconds",),
    }.get(part, ())
    row |= {column: spread(over_seeds(mine, column, min if column[0] == "m" else max)) for column in extra}
    if part == "six":
        found = by_method([*others.of(part, name, kind), *yard])
        decibels = {method: over_seeds(rows, "mpsnr").mean for method, rows in found.items()}
        decibels |= {method: figures[int(kind[-1]) - 1] for method, figures in PUBLISHED.items()}
        row["others' mpsnr"] = ", ".join(f"{method} {value:.1f}" for method, value in decibels.items())
    return row


def _same_seed(yard: list[dict[str, str]], seed: str, noisy: bool) -> float | None:
    for row in yard:
        if row["seed"] == seed:
            return float(row["error"] if noisy else row["filled"])
    return None


def spread(summary: Summary) -> str:
    return "-" if np.isnan(summary.mean) else f"{short(summary.mean)} ({short(summary.worst)})"


def print_table(parts: list[str], names: list[str] | None, kinds: list[str] | None, *stores: Store) -> None:
    for part in parts:
        rows = [
            table_row(part, name, kind, *stores)
            for name, kind in PARTS[part]
            if (not names or name in names)
            and (not kinds or kind in kinds)
            and any(store.of(part, name, kind) for store in stores)
        ]
        if not rows:
            continue
        print(f"\n{part}")
        wide = {column: max(len(column), *(len(str(row[column])) for row in rows)) for column in rows[0]}
        for row in ({column: column for column in wide}, *rows):
            print("  ".join(str(row[column]).ljust(width) for column, width in wide.items()))


def print_rivals(parts: list[str], names: list[str] | None, others: Store, told: Store) -> None:
    """Every rival's mean error in every cell, the best one marked."""
    for part in parts:
        print(f"\n{part}: all rivals")
        for name, kind in PARTS[part]:
            found = by_method([*others.of(part, name, kind), *told.of(part, name, kind)])
            if found and (not names or name in names):
                means = {method: over_seeds(rows, "error").mean for method, rows in found.items()}
                best = min(
                    (m for m in means if m != YARDSTICK), key=lambda m: np.nan_to_num(means[m], nan=np.inf)
                )
                told_so = ", ".join(f"{'*' * (m == best)}{m} {short(value)}" for m, value in means.items())
                print(f"{name}, {kind}: {told_so}")


def short(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, (float, np.floating)) else str(value)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.restoration", description=__doc__)
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--data", nargs="+", help="these data sets only")
    parser.add_argument("--damage", nargs="+", help="these kinds of damage only")
    parser.add_argument("--seeds", type=int, default=5)
    switch = argparse.BooleanOptionalAction
    parser.add_argument("--restore", action=switch, default=True, help="measure `restore` itself")
    parser.add_argument("--rivals", action=switch, default=True, help="measure rivals and the yardstick")
    parser.add_argument("--label", default="restore", help="the file for `restore`, to compare versions")
    parser.add_argument("--again", action="store_true", help="measure cells of `restore` that are there anew")
    parser.add_argument("--table", action="store_true", help="only print what has been measured")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the files")
    options = parser.parse_args()
    ours = Store(options.results / f"{options.label}.csv", RESTORE_COLUMNS)
    others = Store(options.results / "rivals.csv", RIVAL_COLUMNS)
    told = Store(options.results / "yardstick.csv", RIVAL_COLUMNS)
    if not options.table:
        chosen = list(cells(options.part, options.data, options.damage, options.seeds))
        if options.again:
            ours.drop(set(chosen))
        run(
            chosen,
            ours if options.restore else None,
            others if options.rivals else None,
            told if options.rivals else None,
        )
    print_table(options.part, options.data, options.damage, ours, others, told)
    if options.rivals and options.table:
        print_rivals(options.part, options.data, others, told)


if __name__ == "__main__":
    main()
