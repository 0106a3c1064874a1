"""The best of the exact solver on the paper's unmarked entries, with lambda chosen by held-out entries.

    python -m tests.benchmarks.tuned TABLE >> atnmf_core/reference/tuned.csv

Hidden entries stay unmarked: to the solver they are zeros like any other. For each lambda it is fitted
without a tenth of the entries that are not zero; the lambda with the lowest RMSE over these, the mean over
three such hold-outs, is taken. Nothing lost is among them, since what is lost reads zero. With that lambda it
is fitted to all entries, from the authors' first three starts. K, masks and starts are those of the table.
Needs the paper's data (ATNMF_DATA_DIR).
"""

from __future__ import annotations

import statistics
import sys
from datetime import UTC, datetime

import numpy as np

from atnmf_core import SOLVER_VERSIONS, factorize, load_dataset, paper_mask, rmse
from atnmf_core.datasets import PAPER_ALPHAS
from atnmf_core.reference.protocol import PROTOCOLS
from atnmf_core.restoration.holdout import hold_out_entries
from atnmf_core.sweep import Measurement, paper_start
from atnmf_core.sweep.measurements import csv_text

LAMS = (1.001, 1.002, 1.005, 1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0)
REPLICATES = 3


def held_out_error(recorded: np.ndarray, lam: float, seed: int, K: int, alpha: float) -> float:
    """RMSE over a tenth of the recorded entries that are not zero, after a fit without them."""
    held = hold_out_entries(recorded > 0, seed=seed)
    start = paper_start(recorded.shape, K, alpha, seed)
    fit = factorize(recorded, ~held, K=K, method="atnmf", lam=lam, init=start)
    return rmse(recorded, fit.V_hat, held)


def tuned(table: str, alpha: float) -> Measurement:
    """AT-NMF at the lambda that the hold-outs choose."""
    protocol = PROTOCOLS[table]
    V, observed = load_dataset(protocol.dataset).V, paper_mask(protocol.dataset, alpha)
    recorded, K, seeds = np.where(observed, V, 0), protocol.K, range(REPLICATES)
    errors = {
        lam: statistics.mean(held_out_error(recorded, lam, seed, K, alpha) for seed in seeds) for lam in LAMS
    }
    lam = min(errors, key=lambda one: errors[one])
    fits = [
        factorize(recorded, K=K, method="atnmf", lam=lam, init=paper_start(V.shape, K, alpha, seed))
        for seed in seeds
    ]
    found = [rmse(V, fit.V_hat, ~observed) for fit in fits]
    return Measurement(
        alpha, "atnmf", lam, K, "zero", "fast", "float32",
        mean=statistics.mean(found),
        deviation=statistics.stdev(found),
        starts=REPLICATES,
        version=SOLVER_VERSIONS["fast"],
        date=datetime.now(UTC).date().isoformat(),
        dataset=protocol.dataset,
        rmse_observed=statistics.mean(rmse(V, fit.V_hat, observed) for fit in fits),
        n_iter=statistics.mean(fit.n_iter for fit in fits),
    )  # fmt: skip


if __name__ == "__main__":
    for share in PAPER_ALPHAS:
        print(csv_text([tuned(sys.argv[1], share)]).splitlines()[1], flush=True)
