"""`python -m tests.benchmarks`: every solver on every data set, as tables and as plots in results/."""

from __future__ import annotations

import argparse
import dataclasses
import os

# Before NumPy is first imported: the comparisons are made with two threads each.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")

PARTS = ("ignore", "zero", "adversary", "paper")


def main() -> None:
    from atnmf_core.datasets import DataUnavailable

    from .objective import CASES, make_objective
    from .run import cost_of_the_adversary, gain_of_the_papers_solver
    from .solvers import SOLVERS

    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="what to measure (all)")
    parser.add_argument("--datasets", nargs="+", choices=CASES, default=["moffet", "madonna", "cbcl"])
    parser.add_argument("--solvers", nargs="+", choices=SOLVERS, default=list(SOLVERS))
    parser.add_argument("--budget", type=float, default=60.0, help="seconds of a solver for a data set")
    parser.add_argument("--repeats", type=int, default=5, help="runs of which the best counts")
    options = parser.parse_args()
    try:
        objectives = [make_objective(name) for name in options.datasets]
    except DataUnavailable as absent:
        parser.error(f"{absent}\nOr choose --datasets lfw scene, which come with the project.")
    for part in options.parts:
        print(f"\n{part}", flush=True)
        for objective in objectives:
            if part in ("ignore", "zero"):
                compare(dataclasses.replace(objective, missing=part), options)
            else:
                ratio = {"adversary": cost_of_the_adversary, "paper": gain_of_the_papers_solver}[part]
                print(ratio(objective, options.repeats), flush=True)


def compare(objective: object, options: argparse.Namespace) -> None:
    from .run import measure, table, targets, time_against_loss
    from .solvers import SOLVERS

    goals, measured = targets(objective), []
    for solver in (SOLVERS[name] for name in options.solvers):
        if objective.missing not in solver.missing:
            continue
        try:
            measured.append(measure(solver, objective, goals, options.budget, options.repeats))
        except ModuleNotFoundError as absent:
            print(f"{solver.name} is left out: {absent}")
    print(table(objective, goals, measured, options.budget), flush=True)
    print(f"plot: {time_against_loss(objective, goals, measured)}", flush=True)


if __name__ == "__main__":
    main()
