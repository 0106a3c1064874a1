"""What every solver of the benchmark minimises, and how far it has come."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from atnmf_core import rmse

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
    truth : F x N, what was hidden included; for `hidden_rmse` alone.
    """

    name: str
    V: Array
    observed: npt.NDArray[np.bool_]
    K: int
    missing: str
    truth: Array

    def __call__(self, W: Array, H: Array) -> float:
        error = W.astype(float) @ H.astype(float) - self.V
        if self.missing == "ignore":
            error *= self.observed
        return float(np.vdot(error, error))

    def hidden_rmse(self, W: Array, H: Array) -> float:
        return rmse(self.truth, W @ H, ~self.observed)

    def start(self, seed: int = 0) -> tuple[Array, Array]:
        """Half-normal factors at the size that suits V, for every solver that can be given a start."""
        rng = np.random.RandomState(seed)
        F, N = self.V.shape
        W, H = np.abs(rng.standard_normal((F, self.K))), np.abs(rng.standard_normal((self.K, N)))
        product = W @ H * (self.observed if self.missing == "ignore" else 1.0)
        root = np.sqrt(np.vdot(self.V, product) / np.vdot(product, product))
        return W * root, H * root
