"""The measurement behind the constants of the fast solver: which block step, and how many rounds of it.

    python -m tests.benchmarks.choices [--cases cbcl lfw cube sparse] [--starts 2]

For each shape, K and share of hidden entries, every variant runs from the same starts, to the losses that
one of them has after 10, 30 and 100 sweeps. What that takes is the number of sweeps, which does not depend on
the machine's other work, times a low quantile of the time per sweep, which hardly does (not at all with
OPENBLAS_NUM_THREADS=1: then processor time is counted). Beside it stands the final error on hidden entries.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
from scipy import sparse

from atnmf_core import Progress, factorize
from atnmf_core.problem import Problem
from atnmf_core.solvers import fast
from atnmf_core.solvers.surrogate import DenseSurrogate, ObservedSurrogate, Surrogate

from .clock import THREADS, now
from .datasets import hidden_at_random, of_the_paper
from .objective import Objective

SURROGATES: dict[str, Callable[[Problem], Surrogate]] = {
    "masked": lambda problem: DenseSurrogate(problem, filled=False),
    "filled": lambda problem: DenseSurrogate(problem, filled=True),
    "observed": ObservedSurrogate,
}
VARIANTS = [
    ("masked", 1),
    ("masked", 2),
    ("masked", 4),
    ("filled", 1),
    ("filled", 2),
    ("filled", 3),
    ("filled", 5),
    ("observed", 2),
    ("observed", 4),
]
YARDSTICK = ("filled", 2)
SWEEPS = (10, 30, 100)
"""The losses to reach are those of the yardstick after so many sweeps."""
SECONDS = 5.0
"""A run longer than this is cut off."""

CASES: dict[str, Callable[[], Iterator[Objective]]] = {
    "cbcl": lambda: (of_the_paper("cbcl", a, K) for K in (49, 25, 10) for a in (0.5, 0.9, 0.3, 0.7)),
    "lfw": lambda: (hidden_at_random("lfw", a, 25) for a in (0.3, 0.5, 0.9)),
    "cube": lambda: (of_the_paper("moffet", a, K) for K in (5, 15) for a in (0.5, 0.9)),
    "sparse": lambda: (hidden_at_random("simulated-scene", 0.99, K) for K in (5, 15)),
}


@dataclass(frozen=True)
class Run:
    losses: np.ndarray
    per_sweep: float
    hidden_rmse: float

    def seconds_to(self, target: float, per_sweep: float) -> float:
        reached = np.flatnonzero(self.losses <= target)
        return reached[0] * per_sweep if reached.size else np.inf


def run(objective: Objective, kind: str, rounds: int, seed: int) -> Run:
    """So many sweeps of one variant as the last target takes, twice."""
    stamps, losses = [], []

    def note(progress: Progress) -> bool:
        stamps.append(now())
        losses.append(progress.loss)
        return stamps[-1] - stamps[0] > SECONDS

    limits = {"tol_outer": 0.0, "max_inner": 2 * SWEEPS[-1]}
    with (
        patch.object(fast, "_surrogate", SURROGATES[kind]),
        patch.object(fast, "ROUNDS", rounds),
    ):
        fit = factorize(objective.V, objective.observed, K=objective.K, seed=seed, callback=note, **limits)
    per_sweep = float(np.quantile(np.diff(stamps), 0.1))
    return Run(np.array(losses), per_sweep, objective.hidden_rmse(fit.W, fit.H))


def compare(objective: Objective, starts: int) -> None:
    runs = {variant: [run(objective, *variant, seed) for seed in range(starts)] for variant in VARIANTS}
    F, N = objective.V.shape
    print(f"\n{objective.name}: {F} x {N}, K {objective.K}", flush=True)
    columns = " ".join(f"{f'to {n}':>9}" for n in SWEEPS)
    print(f"{'step':8} {'rounds':>6} {'ms/sweep':>9} {columns} {'hidden RMSE':>12}")
    for (kind, rounds), measured in runs.items():
        per_sweep = min(run.per_sweep for run in measured)
        needed = []
        for n in SWEEPS:
            targets = [run.losses[min(n, len(run.losses) - 1)] for run in runs[YARDSTICK]]
            each = [run.seconds_to(t, per_sweep) for t, run in zip(targets, measured, strict=True)]
            needed.append(np.median(each))
        hidden = np.median([run.hidden_rmse for run in measured])
        columns = " ".join(f"{t:8.3f}s" for t in needed)
        print(f"{kind:8} {rounds:6} {1e3 * per_sweep:9.2f} {columns} {hidden:12.5f}", flush=True)


def compare_gram_products(repeats: int = 5) -> None:
    """The product behind the masked Gram matrices, (a_i * a_j)' D, with D dense and with D sparse."""
    print("\n(a_i * a_j)' D, milliseconds: F 200, N 10000")
    print(f"{'K':>3} {'observed':>9} {'dense':>8} {'sparse':>8}")
    rng = np.random.default_rng(0)
    for K in (5, 15, 30, 49):
        A = rng.random((200, K), dtype=np.float32)
        i, j = np.triu_indices(K)
        pairs = np.ascontiguousarray((A[:, i] * A[:, j]).T)
        for density in (0.002, 0.01, 0.03, 0.1, 0.3):
            D = (rng.random((200, 10_000)) < density).astype(np.float32)
            by_column = sparse.csr_array(D.T)
            dense = min(_timed(lambda p=pairs, d=D: p @ d) for _ in range(repeats))
            thin = min(_timed(lambda p=pairs, d=by_column: d @ p.T) for _ in range(repeats))
            print(f"{K:3} {density:9.3f} {1e3 * dense:8.2f} {1e3 * thin:8.2f}", flush=True)


def _timed(call: object) -> float:
    began = now()
    call()  # type: ignore[operator]
    return now() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--starts", type=int, default=2)
    options = parser.parse_args()
    print(f"threads {THREADS}, load {os.getloadavg()[0]:.1f}")
    compare_gram_products()
    for name in options.cases:
        for objective in CASES[name]():
            compare(objective, options.starts)


if __name__ == "__main__":
    main()
