"""What every solver of the benchmark minimises, on which data, and what counts as a second.

With two threads or more that is the wall clock, on a machine that has nothing else to do. With
OPENBLAS_NUM_THREADS=1 it is processor time, which other work on the machine hardly changes.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from atnmf_core import hide_entries, load_dataset, paper_mask

THREADS = int(os.environ.get("OPENBLAS_NUM_THREADS", "0")) or os.cpu_count() or 1

now = time.process_time if THREADS == 1 else time.perf_counter

Array = npt.NDArray[np.floating]


@dataclass(frozen=True)
class Objective:
    """||V - W H||^2 over the observed entries, or over all of them with the hidden ones as zeros.

    Attributes
    ----------
    name : of the data set, with its mask.
    V : F x N in float64; 0 at hidden entries, so that no solver can see what is hidden.
    observed : bool F x N.
    K : number of parts.
    missing : "ignore" or "zero", as in `factorize`.
    """

    name: str
    V: Array
    observed: npt.NDArray[np.bool_]
    K: int
    missing: str

    def __call__(self, W: Array, H: Array) -> float:
        error = W.astype(float) @ H.astype(float) - self.V
        if self.missing == "ignore":
            error *= self.observed
        return float(np.vdot(error, error))

    def start(self, seed: int = 0) -> tuple[Array, Array]:
        """Half-normal factors at the size that suits V, for every solver that can be given a start."""
        rng = np.random.RandomState(seed)
        F, N = self.V.shape
        W, H = np.abs(rng.standard_normal((F, self.K))), np.abs(rng.standard_normal((self.K, N)))
        product = W @ H * (self.observed if self.missing == "ignore" else 1.0)
        root = np.sqrt(np.vdot(self.V, product) / np.vdot(product, product))
        return W * root, H * root


CASES = {
    "moffet": ("moffet", 0.5, 5),
    "madonna": ("madonna", 0.9, 5),
    "cbcl": ("cbcl", 0.5, 49),
    "lfw": ("lfw", 0.5, 25),
    "scene": ("simulated-scene", 0.5, 5),
}
"""Data set, hidden share and K."""
OF_THE_PAPER = ("moffet", "madonna", "cbcl")
"""With its K and the authors' own masks. The others come with the project and need no files."""


def make_objective(case: str) -> Objective:
    name, alpha, K = CASES[case]
    V = load_dataset(name).V
    observed = paper_mask(name, alpha) if case in OF_THE_PAPER else hide_entries(V.shape, alpha)
    return Objective(f"{name}, alpha {alpha}", np.where(observed, V, 0.0), observed, K, "ignore")
