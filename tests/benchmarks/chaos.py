"""How far Algorithm 1 at lambda 2 moves from a start that differs by a millionth.

    python -m tests.benchmarks.chaos TABLE DRAWS ALPHA ... >> atnmf_core/reference/disturbed_starts.csv

runs a cell of the paper's tables from the authors' first start as it is (draw 0), and DRAWS times from that
start with every entry of W and H changed by 1e-6 of itself, times a standard normal number. Hidden entries
are unmarked. Needs the paper's data (ATNMF_DATA_DIR).
"""

from __future__ import annotations

import csv
import sys

import numpy as np

from atnmf_core import SOLVER_VERSIONS, factorize, load_dataset, paper_mask, rmse
from atnmf_core.reference.protocol import PROTOCOLS
from atnmf_core.sweep import paper_start

LAM, NOISE = 2.0, 1e-6


def disturbed(factor: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """The factor with every entry changed by about a millionth of itself."""
    return np.abs(factor * (1 + NOISE * random.standard_normal(factor.shape)))


def error(table: str, alpha: float, draw: int) -> float:
    """RMSE on the hidden entries."""
    protocol = PROTOCOLS[table]
    V, observed = load_dataset(protocol.dataset).V, paper_mask(protocol.dataset, alpha)
    W, H = paper_start(V.shape, protocol.K, alpha, 0)
    if draw:
        random = np.random.default_rng(draw)
        W, H = disturbed(W, random), disturbed(H, random)
    fit = factorize(
        V, observed, K=protocol.K, method="atnmf", lam=LAM, missing="zero", solver="paper", init=(W, H)
    )
    return rmse(V, fit.V_hat, ~observed)


def main(table: str, draws: str, *alphas: str) -> None:
    lines = csv.writer(sys.stdout, lineterminator="\n")
    for alpha in map(float, alphas):
        for draw in range(int(draws) + 1):
            found = f"{error(table, alpha, draw):.6g}"
            lines.writerow((table, alpha, f"{LAM:g}", draw, found, SOLVER_VERSIONS["paper"]))
            sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
