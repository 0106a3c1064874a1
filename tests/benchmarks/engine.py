"""What the sweep engine costs and gains: `python -m tests.benchmarks.engine`, on an otherwise idle machine.

- overhead: wall time per point beyond the fit itself, with fits of almost no work, workers already started;
- speed-up: a CPU-bound grid on one process and on two, best of several rounds;
- sharing: the same grid by two processes of one worker each, on one store.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from atnmf_core import load_dataset
from atnmf_core.sweep import Grid, open_store, run_sweep

ROOT = Path(__file__).parents[2]
TRIVIAL = Grid("synthetic", alphas=(0.3,), Ks=(1,), methods=("nmf",), starts=300, max_inner=1)
HEAVY = Grid(
    "lfw",
    alphas=(0.3,),
    Ks=(20,),
    methods=("nmf",),
    starts=16,
    solver="paper",
    max_outer=1,
    max_inner=600,
    tol_inner=0.0,
)


def timed(grid: Grid, n_jobs: int) -> tuple[float, float]:
    """Wall seconds of a sweep on a new store, and seconds spent in its fits, with workers already started."""
    data = load_dataset(grid.dataset)
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "store.sqlite") as store:
        run_sweep(store, "warm-up", replace(grid, starts=2 * n_jobs, max_inner=1), data, n_jobs=n_jobs)
        began = time.perf_counter()
        run_sweep(store, "timed", grid, data, n_jobs=n_jobs)
        wall = time.perf_counter() - began
        fits = sum(result.measures["seconds"] for result in store.outcomes("timed") if result.measures)
    return wall, fits


def shared() -> float:
    """Wall seconds of two processes on one store, from the first fit to the last: their start-up left out."""
    with tempfile.TemporaryDirectory() as folder:
        grid, at = Path(folder, "grid.json"), Path(folder, "store.sqlite")
        grid.write_text(HEAVY.as_json())
        options = ["--grid", str(grid), "--store", str(at), "--jobs", "1", "--name", "s"]
        words = [sys.executable, "-m", "atnmf_core", "sweep", *options]
        running = [subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL) for _ in range(2)]
        endings = [process.wait() for process in running]
        assert endings == [0, 0], f"the two processes ended with {endings}"
        with open_store(at) as store:
            results = list(store.outcomes("s"))
    assert len(results) == len(HEAVY)
    first = min(result.finished - result.measures["seconds"] for result in results if result.measures)
    return max(result.finished for result in results) - first


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    for n_jobs in (1, 2):
        wall, fits = min(timed(TRIVIAL, n_jobs) for _ in range(rounds))
        print(f"overhead, {n_jobs} worker(s): {1e3 * (wall - fits / n_jobs) / len(TRIVIAL):.1f} ms per point")
    one, two, apart = [], [], []
    for _ in range(rounds):
        one.append(timed(HEAVY, 1)[0])
        two.append(timed(HEAVY, 2)[0])
        apart.append(shared())
    print(f"one worker {min(one):.2f} s, two {min(two):.2f} s: speed-up {min(one) / min(two):.2f}")
    print(f"two processes on one store {min(apart):.2f} s, one with two workers {min(two):.2f} s")


if __name__ == "__main__":
    main()
