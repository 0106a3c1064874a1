"""Defects that nobody has marked: AT-NMF beside NMF, L1-NMF, and NMF that knows where the defects are.

    python -m tests.benchmarks.unmarked > atnmf_core/reference/unmarked_defects.csv

Entries at random places are recorded far too dark, as v U(0, 0.6). No method but the last is told which. The
error is the RMSE over the whole matrix against the undamaged data, the mean over the seeds, each of which is
one set of defects and one random start.
"""

import csv
import sys

import numpy as np

from atnmf_core import factorize, load_dataset, rmse

CASES = (("moffet", 4, 1.05), ("lfw", 25, 1.1))
SHARES = (0.05, 0.15, 0.30)
SEEDS = (0, 1, 2)
COLUMNS = ("data", "damage", "K", "lam", "seeds", "atnmf", "nmf", "l1", "mask_known")
L1_STEPS = 250
SMALL, FIRST_SMALL, SHRINK = 1e-4, 0.1, 0.97
"""Residuals, as a share of the largest entry, below which L1's weight stops growing: lowered step by step,
since with the last from the beginning it ends far from its optimum.
"""


def damaged(V: np.ndarray, share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """V with a share of its entries too dark, and which are sound."""
    random = np.random.default_rng(seed)
    wrong = random.random(V.shape) < share
    return np.where(wrong, V * random.uniform(0, 0.6, V.shape), V), ~wrong


def l1_nmf(V: np.ndarray, W: np.ndarray, H: np.ndarray) -> np.ndarray:
    """L1-NMF's prediction, from NMF's factors: multiplicative steps on squares weighted by 1/|residual|."""
    W, H = (np.maximum(factor, 1e-6).astype(float) for factor in (W, H))
    for number in range(L1_STEPS):
        least = max(SMALL, FIRST_SMALL * SHRINK**number) * V.max()
        for step in (_step_W, _step_H):
            P = W @ H
            D = 1 / np.maximum(np.abs(V - P), least)
            W, H = step(W, H, D * V, D * P)
    return W @ H


def _step_W(W: np.ndarray, H: np.ndarray, A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return W * (A @ H.T) / np.maximum(B @ H.T, 1e-12), H


def _step_H(W: np.ndarray, H: np.ndarray, A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return W, H * (W.T @ A) / np.maximum(W.T @ B, 1e-12)


def errors(V: np.ndarray, K: int, lam: float, share: float, seed: int) -> tuple[float, ...]:
    """Of AT-NMF, NMF, L1-NMF and NMF with the defects left out."""
    D, sound = damaged(V, share, seed)
    nmf = factorize(D, K=K, seed=seed)
    predictions = (
        factorize(D, K=K, method="atnmf", lam=lam, seed=seed).V_hat,
        nmf.V_hat,
        l1_nmf(D, nmf.W, nmf.H),
        factorize(D, sound, K=K, seed=seed).V_hat,
    )
    return tuple(rmse(V, V_hat) for V_hat in predictions)


def main() -> None:
    lines = csv.writer(sys.stdout, lineterminator="\n")
    lines.writerow(COLUMNS)
    for name, K, lam in CASES:
        V = np.asarray(load_dataset(name).V, dtype=float)
        for share in SHARES:
            means = np.mean([errors(V, K, lam, share, seed) for seed in SEEDS], axis=0)
            damage = f"{100 * share:g} % dark"
            lines.writerow((name, damage, K, lam, len(SEEDS), *(f"{mean:.4g}" for mean in means)))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
