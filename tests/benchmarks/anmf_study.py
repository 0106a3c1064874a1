"""Which target and weights bring ANMF (reconstruction) nearest to the published numbers.

    python -m tests.benchmarks.anmf_study FILE

fits every candidate to the paper's four data sets, under the authors' masks and with hidden entries fitted
as zeros, and writes the error on the hidden entries beside the published one. It is how
`atnmf_core/reference/anmf_study.csv` was made and how the defaults of Z, mu and gamma were chosen: by the
least mean of |log(rmse / published)|, every data set counting alike. Needs the paper's data (ATNMF_DATA_DIR).
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import product

import numpy as np

from atnmf_core import SOLVER_VERSIONS, factorize, load_dataset, paper_mask, rmse
from atnmf_core.reference import published
from atnmf_core.reference.protocol import PROTOCOLS

Target = Callable[[np.ndarray, np.ndarray], np.ndarray]

TARGETS: dict[str, Target] = {
    "zero": lambda V, observed: np.zeros_like(V),
    "mean image": lambda V, observed: np.broadcast_to(V.sum(1) / np.maximum(observed.sum(1), 1), V.T.shape).T,
    "permuted columns": lambda V, observed: V[:, np.random.RandomState(0).permutation(V.shape[1])],
    "plus constant": lambda V, observed: V + V[observed].mean(),
    "reversed": lambda V, observed: V.max() - V,
    "half": lambda V, observed: 0.5 * V,
    "double": lambda V, observed: 2.0 * V,
}
"""From V with zeros at hidden entries: all that a fit with missing="zero" knows of it."""
MUS = (0.01, 0.1, 1.0, 10.0)
GAMMAS = (0.1, 0.5, 0.9)
ALPHAS = {"synthetic": (0.3, 0.5, 0.9), "moffet": (0.3, 0.5, 0.9), "madonna": (0.3, 0.5, 0.9), "cbcl": (0.5,)}
COLUMNS = (
    "data", "alpha", "K", "target", "mu", "gamma", "seed", "rmse", "published", "nmf_published", "sweeps",
    "seconds", "version", "date",
)  # fmt: skip


def measurements() -> Iterator[dict[str, object]]:
    """One fit after the other, as rows of the study."""
    for name, alphas in ALPHAS.items():
        protocol = PROTOCOLS[name]
        V = load_dataset(protocol.dataset).V
        cells = {(row.alpha, row.method): row.mean for row in published(name)}
        for alpha in alphas:
            observed = paper_mask(protocol.dataset, alpha)
            known = np.where(observed, V, 0.0)
            for (target, build), mu, gamma in product(TARGETS.items(), MUS, GAMMAS):
                fit = factorize(
                    V, observed, K=protocol.K, method="anmf", missing="zero", seed=1, max_inner=200,
                    Z=build(known, observed), mu=mu, gamma=gamma,
                )  # fmt: skip
                error = rmse(V, fit.V_hat, ~observed)
                values = (
                    name, alpha, protocol.K, target, mu, gamma, 1, f"{error:.6g}", cells[alpha, "anmf"],
                    cells[alpha, "nmf"], fit.n_iter, f"{fit.seconds:.3g}", SOLVER_VERSIONS["fast"],
                    datetime.now(UTC).date().isoformat(),
                )  # fmt: skip
                yield dict(zip(COLUMNS, values, strict=True))


def distances(rows: list[dict[str, object]]) -> list[tuple[float, tuple[str, float, float]]]:
    """The candidates, nearest first: mean over data sets of the mean of |log(rmse / published)|."""
    logs: dict[tuple[str, float, float], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        candidate = (str(row["target"]), float(str(row["mu"])), float(str(row["gamma"])))
        ratio = float(str(row["rmse"])) / float(str(row["published"]))
        logs[candidate][str(row["data"])].append(abs(np.log(ratio)))
    return sorted(
        (float(np.mean([np.mean(some) for some in by_data.values()])), candidate)
        for candidate, by_data in logs.items()
    )


def main(path: str) -> None:
    rows = []
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for row in measurements():
            writer.writerow(row)
            file.flush()
            rows.append(row)
    for distance, (target, mu, gamma) in distances(rows)[:10]:
        print(f"{distance:.4f}  Z {target}, mu {mu:g}, gamma {gamma:g}")


if __name__ == "__main__":
    main(sys.argv[1])
