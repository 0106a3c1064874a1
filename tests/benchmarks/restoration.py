"""`python -m tests.benchmarks.restoration`: how well damaged data is restored, and against whom.

Every cell (part, data, damage, seed) is one row of results/restoration_<part>.csv; cells that are there
already are not measured again, so a run can be stopped and resumed. With --publish means over seeds go into
the package's reference tables.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

# Before NumPy is first imported: seconds are processor seconds of one thread.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

import atnmf_core
from atnmf_core import Dataset, factorize, load_dataset, restore, rmse
from atnmf_core.restoration import choose, hold_out_entries
from atnmf_core.restoration.candidates import default_Ks
from atnmf_core.restoration.prediction import with_likely_amounts
from atnmf_core.restoration.robust_nmf import LOSSES, robust_nmf

from .damage import IN_WORDS, SHARES, damaged, gaps
from .rivals import imputers

RESULTS = Path(__file__).parent / "results"
CUBES, FACES = ("moffet", "madonna"), ("cbcl", "lfw")
GAP_KINDS = ("stripes", "blocks", "bands")
GAP_CUBES = (*CUBES, "simulated-scene")
Row = dict[str, object]


def one_by_one(function, V, observed, held_out, trials):
    """Trials in this process, so that processor time can be compared."""
    for trial in trials:
        yield function(V, observed, held_out[trial.replicate], trial)


def unmarked(data: Dataset, kind: str, seed: int) -> Row:
    """`restore` without a mask or a setting, against NMF told the mask and rivals that are not."""
    V = data.V.astype(np.float32)
    broken, wrong = damaged(V, kind, seed)
    Ks = [K for K in default_Ks(data.shape, V.size) if K > 1]
    rival_Ks = (4, 12, Ks[-1])
    told = {K: factorize(broken, ~wrong if wrong.any() else None, K=K, seed=seed).V_hat for K in Ks}
    known = {K: rmse(V, V_hat) for K, V_hat in told.items()}
    best = min(known, key=lambda K: known[K])
    began = time.process_time()
    r = restore(broken, "unmarked", seed=seed, map_trials=one_by_one)
    seconds = time.process_time() - began
    hits = int((r.defects & wrong).sum())
    error = rmse(V, r.fit.V_hat)
    rivals = {
        f"{loss}-NMF": min(
            rmse(V, np.matmul(*robust_nmf(broken, K=K, loss=loss, seed=seed))) for K in rival_Ks
        )
        for loss in LOSSES
    }
    same_K = rmse(V, factorize(broken, K=r.choice.chosen.K, seed=seed).V_hat)
    return {
        "mask known": known[best],
        "best K": best,
        "restore": error,
        "ratio": error / known[best],
        "restored V": rmse(V, np.where(r.unrestorable, broken, r.V)),
        "restored V, mask known": rmse(V, np.where(wrong, told[best], V)),
        "NMF": min(rmse(V, factorize(broken, K=K, seed=seed).V_hat) for K in rival_Ks),
        "NMF, same K": same_K,
        **rivals,
        "chosen": str(r.choice.chosen),
        "expected": r.choice.error,
        "precision": hits / max(int(r.defects.sum()), 1),
        "recall": hits / max(int(wrong.sum()), 1),
        "called": float(r.defects.mean()),
        "seconds": seconds,
    }


def marked(data: Dataset, kind: str, seed: int) -> Row:
    """K by gap-shaped and by single-entry hold-outs, against the best K and the imputers."""
    V, lost = data.V.astype(np.float32), gaps(data, kind, seed)
    layout = data.layout
    Ks = [K for K in default_Ks(data.shape, int((~lost).sum())) if K > 1]
    fits = {K: factorize(V, ~lost, K=K, seed=seed) for K in Ks}
    true = {K: rmse(V, with_likely_amounts(fit, V, ~lost).V_hat, lost) for K, fit in fits.items()}
    holed = np.where(lost, np.nan, V)
    began = time.process_time()
    r = restore(
        holed,
        seed=seed,
        map_trials=one_by_one,
        kind=data.kind,
        image_shape=data.image_shape,
        order=data.order,
    )
    seconds = time.process_time() - began
    single = _by_single_entries(holed, seed)
    told = lost & ~r.unrestorable
    row: Row = {
        "best K": min(true, key=lambda K: true[K]),
        "best": min(true.values()),
        "NMF, best K": min(rmse(V, fit.V_hat, lost) for fit in fits.values()),
        "chosen": str(r.choice.chosen),
        "chosen K": true[r.choice.chosen.K],
        "ratio": true[r.choice.chosen.K] / min(true.values()),
        "restore": rmse(V, r.V, told),
        "unrestorable": int(r.unrestorable.sum()),
        "expected": r.choice.error,
        "expected / made": r.choice.error / rmse(V, r.V, told),
        "single entries: K": single.chosen.K,
        "single entries: ratio": true[single.chosen.K] / min(true.values()),
        "single entries: expected / made": single.error / true[single.chosen.K],
        "seconds": seconds,
    }
    for name, fill in imputers.IMPUTERS.items():
        try:
            began = time.process_time()
            row[name] = rmse(V, fill(np.where(lost, 0, V), ~lost, layout), lost)
            row[f"{name}, seconds"] = time.process_time() - began
        except ModuleNotFoundError:
            row[name] = row[f"{name}, seconds"] = None
    return row


def _by_single_entries(holed: np.ndarray, seed: int):
    """The same choice with single entries held out: what one would do without thinking of gaps."""
    from unittest.mock import patch

    def single(observed, _, seed):
        return hold_out_entries(observed, seed=seed)

    seen = ~np.isnan(holed)
    with patch("atnmf_core.restoration.search.hold_out_gaps", single):
        return choose(np.where(seen, holed, 0), seen, "marked", seed=seed, map_trials=one_by_one)


def deviation(data: Dataset, kind: str, seed: int) -> Row:
    """The share of true values within one and two deviations, over gaps that were not held out."""
    V, lost = data.V.astype(np.float32), gaps(data, kind, seed)
    r = restore(
        np.where(lost, np.nan, V),
        K=6,
        lam=np.inf,
        seed=seed,
        kind=data.kind,
        image_shape=data.image_shape,
        order=data.order,
    )
    told = lost & ~r.unrestorable
    off = np.abs(V - r.V)[told] / r.deviation[told]
    return {"within one": float((off <= 1).mean()), "within two": float((off <= 2).mean())}


def speed(data: Dataset, kind: str, seed: int) -> Row:
    """The whole choice against a plain loop over `factorize`: 8 Ks, 6 lambdas, 3 leashes, 3 replicates."""
    broken, _ = damaged(data.V.astype(np.float32), kind, seed)
    seen = np.ones(data.shape, dtype=bool)
    began = time.process_time()
    marks: list[float] = []

    def note(progress) -> None:
        marks.append(time.process_time() - began)
        if progress.stage == "coarse":
            note.first = marks[-1]

    choose(broken, seen, "unmarked", seed=seed, map_trials=one_by_one, callback=note)
    whole = time.process_time() - began
    began = time.process_time()
    lams = (None, 1.02, 1.05, 1.1, 1.3, 2.0)
    fits = 0
    for K in (2, 3, 4, 6, 8, 12, 16, 24):
        for lam in lams:
            # One leash and one replicate of three each: the others cost the same.
            options = {} if lam is None else {"method": "atnmf", "lam": lam, "leash": 0.5}
            factorize(broken, ~hold_out_entries(seen, seed=seed), K=K, **options)
            fits += 1
    loop = (time.process_time() - began) * 9
    return {
        "first answer": note.first,
        "final answer": whole,
        "plain loop": loop,
        "first / loop": note.first / loop,
        "final / loop": whole / loop,
    }


PARTS: dict[str, tuple[Callable[[Dataset, str, int], Row], tuple[tuple[str, str], ...]]] = {
    "unmarked": (
        unmarked,
        tuple((name, kind) for name in FACES for kind in ("none", "dark10", "dark30"))
        + tuple((name, kind) for name in CUBES for kind in SHARES),
    ),
    "marked": (marked, tuple((name, kind) for name in GAP_CUBES for kind in GAP_KINDS)),
    "deviation": (deviation, tuple((name, kind) for name in GAP_CUBES for kind in GAP_KINDS)),
    "speed": (speed, (("moffet", "dark10"),)),
}


def cells(part: str, seeds: int) -> Iterator[tuple[str, str, int]]:
    """Seed by seed, so that the first table is whole early."""
    for seed in range(seeds):
        for name, kind in PARTS[part][1]:
            yield name, kind, seed


def measured(file: Path) -> list[dict[str, str]]:
    if not file.exists():
        return []
    with file.open(newline="") as opened:
        return list(csv.DictReader(opened))


def run(part: str, seeds: int, only: str | None) -> None:
    file = RESULTS / f"restoration_{part}.csv"
    have = {(row["data"], row["damage"], int(row["seed"])) for row in measured(file)}
    for name, kind, seed in cells(part, seeds):
        if (name, kind, seed) in have or (only and name != only):
            continue
        row = {"data": name, "damage": kind, "seed": seed, **PARTS[part][0](load_dataset(name), kind, seed)}
        RESULTS.mkdir(exist_ok=True)
        fresh = not file.exists()
        with file.open("a", newline="") as opened:
            writer = csv.DictWriter(opened, row)
            if fresh:
                writer.writeheader()
            writer.writerow(row)
        print(", ".join(f"{key} {_short(value)}" for key, value in row.items()), flush=True)


def means(part: str) -> list[Row]:
    """One row per data and damage: the means over seeds."""
    rows = measured(RESULTS / f"restoration_{part}.csv")
    found: list[Row] = []
    for name, kind in PARTS[part][1]:
        same = [row for row in rows if (row["data"], row["damage"]) == (name, kind)]
        if same:
            numbers = {key: [_number(row[key]) for row in same] for key in same[0] if key not in TEXT}
            averages = {key: float(np.mean(v)) for key, v in numbers.items() if None not in v}
            found.append({"data": name, "damage": kind, "seeds": len(same), **averages})
    return found


TEXT = ("data", "damage", "seed", "chosen")


def publish() -> None:
    """What the README and the lesson tell of defects that nobody marked."""
    columns = {
        "atnmf": "restore",
        "nmf": "NMF",
        "l1": "L1-NMF",
        "mask_known": "mask known",
        "precision": "precision",
        "recall": "recall",
    }
    target = Path(atnmf_core.__file__).parent / "reference" / "unmarked_defects.csv"
    with target.open("w", newline="") as opened:
        writer = csv.writer(opened, lineterminator="\n")
        writer.writerow(("data", "damage", "seeds", *columns))
        for row in means("unmarked"):
            if row["damage"] == "none":
                continue
            measures = [f"{row[name]:.4g}" for name in columns.values()]
            writer.writerow((row["data"], IN_WORDS[row["damage"]], row["seeds"], *measures))
    print(target)


def _number(text: str) -> float | None:
    return float(text) if text else None


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.restoration", description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--data", help="this data set only")
    parser.add_argument(
        "--publish", action="store_true", help="write the means of unmarked losses into the package"
    )
    options = parser.parse_args()
    for part in options.parts:
        run(part, options.seeds, options.data)
        for row in means(part):
            print("  ".join(f"{key} {_short(value)}" for key, value in row.items()))
    if options.publish:
        publish()


if __name__ == "__main__":
    main()
