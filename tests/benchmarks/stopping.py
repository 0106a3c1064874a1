"""The measurement behind the fast solver's stopping rule: ``python -m tests.benchmarks.stopping``.

Where hidden entries are ignored, the error on them falls and then, where few are observed per entry of W and
H, rises again. For each problem, in the order of that number: the hidden error and the sweeps taken at a few
values of tol_outer, each taken as it is, without the factor of `STOP_BELOW`.
"""

from __future__ import annotations

import argparse
from unittest.mock import patch

import numpy as np

from atnmf_core import factorize
from atnmf_core.solvers import fast

from .datasets import hidden_at_random, of_the_paper
from .objective import Objective

SHARES = (0.1, 0.03, 0.01, 0.001)
"""Of the loss: the fit ends when five sweeps lower it by less."""


def problems() -> list[Objective]:
    cubes = [
        of_the_paper(name, a, K) for name in ("moffet", "madonna") for K in (3, 5) for a in (0.3, 0.5, 0.9)
    ]
    faces = [of_the_paper("cbcl", a, 49) for a in (0.3, 0.5, 0.7, 0.9)]
    bundled = [hidden_at_random("lfw", a, K) for K in (9, 25) for a in (0.3, 0.5, 0.7, 0.9)]
    scene = [hidden_at_random("simulated-scene", a, 5) for a in (0.3, 0.5, 0.9)]
    return sorted(cubes + faces + bundled + scene, key=observed_per_unknown, reverse=True)


def observed_per_unknown(objective: Objective) -> float:
    return float(objective.observed.sum() / (objective.K * sum(objective.V.shape)))


def line(objective: Objective, starts: int) -> str:
    cells = []
    for share in SHARES:
        fits = [
            factorize(objective.V, objective.observed, K=objective.K, seed=seed, tol_outer=share)
            for seed in range(starts)
        ]
        error = np.mean([objective.hidden_rmse(fit.W, fit.H) for fit in fits])
        cells.append(f"{error:9.5f} ({np.mean([fit.n_iter for fit in fits]):4.0f})")
    return f"{objective.name:28} K {objective.K:2} {observed_per_unknown(objective):6.1f} " + " ".join(cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--starts", type=int, default=2)
    starts = parser.parse_args().starts
    print(f"{'observed per unknown':>40} " + " ".join(f"{share:>16}" for share in SHARES))
    with patch.object(fast, "STOP_BELOW", dict.fromkeys(fast.STOP_BELOW, 1.0)):
        for objective in problems():
            print(line(objective, starts), flush=True)


if __name__ == "__main__":
    main()
