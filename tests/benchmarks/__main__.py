"""`python -m tests.benchmarks`: every solver on every data set, as tables and as plots in results/."""

from __future__ import annotations

import argparse
import dataclasses
import os

# Before NumPy is first imported: the comparisons are made with two threads each.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")

PARTS = ("ignore", "zero", "adversary", "paper", "growth")


def main() -> None:
    from atnmf_core.datasets import DataUnavailable

    from . import solvers
    from .datasets import DATASETS

    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="what to measure (all)")
    parser.add_argument("--datasets", nargs="+", choices=DATASETS, default=["moffet", "madonna", "cbcl"])
    parser.add_argument(
        "--solvers", nargs="+", choices=solvers.FILES, help="all that are installed by default"
    )
    parser.add_argument(
        "--budget", type=float, default=60.0, help="seconds that a solver gets for a data set"
    )
    parser.add_argument("--repeats", type=int, default=5, help="runs of which the best counts")
    options = parser.parse_args()
    try:
        objectives = [DATASETS[name]() for name in options.datasets]
    except DataUnavailable as absent:
        parser.error(f"{absent}\nOr choose --datasets lfw scene, which come with the project.")
    for part in ("ignore", "zero"):
        if part in options.parts:
            compare(objectives, part, solvers.load(options.solvers), options.budget, options.repeats)
    if {"adversary", "paper"} & set(options.parts):
        ratios(objectives, options.parts, options.repeats)
    if "growth" in options.parts:
        fit_growing()


def compare(objectives: list, missing: str, chosen: list, budget: float, repeats: int) -> None:
    from . import plots
    from .run import measure, table, targets
    from .solvers import this_fast

    for objective in objectives:
        objective = dataclasses.replace(objective, missing=missing)
        goals = targets(objective, this_fast)
        able = [solver for solver in chosen if missing in solver.MISSING]
        measured = [measure(solver, objective, goals, budget, repeats) for solver in able]
        print(table(objective, goals, measured, budget), flush=True)
        print(f"plot: {plots.time_against_loss(objective, goals, measured)}", flush=True)


def ratios(objectives: list, parts: list[str], repeats: int) -> None:
    from .ratios import cost_of_the_adversary, gain_of_the_papers_solver

    if "adversary" in parts:
        print("\nthe adversary's cost in the fast solver", flush=True)
        for objective in objectives:
            print(cost_of_the_adversary(objective, repeats), flush=True)
    if "paper" in parts:
        print("\nthe paper's solver, hidden entries as zeros", flush=True)
        for objective in objectives:
            print(gain_of_the_papers_solver(objective, repeats), flush=True)


def fit_growing() -> None:
    from . import growth, plots

    sizes = [growth.measure(size, method) for method in ("nmf", "atnmf") for size in growth.SIZES]
    print(growth.table(sizes), flush=True)
    print(f"plot: {plots.growth(sizes)}", flush=True)


if __name__ == "__main__":
    main()
