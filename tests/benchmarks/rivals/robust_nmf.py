"""Robust NMF by reweighted multiplicative updates: L1 (Ke and Kanade 2005), Cauchy (Guan et al. 2017) and
L2,1 (Kong, Ding and Huang 2011). Each loss is majorised by weighted least squares with the weights below.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.floating]

SWEEPS = 150
EPS = 1e-9


def _l1(E: Array) -> Array:
    size = np.abs(E)
    return 1 / np.maximum(size, 1e-3 * np.median(size) + EPS)


def _cauchy(E: Array) -> Array:
    scale = 1.4826 * np.median(np.abs(E)) + EPS
    return 1 / (1 + (E / scale) ** 2)


def _l21(E: Array) -> Array:
    return np.broadcast_to(1 / (np.sqrt((E**2).sum(axis=0)) + EPS), E.shape)


WEIGHTS: dict[str, Callable[[Array], Array]] = {"L1-NMF": _l1, "Cauchy-NMF": _cauchy, "L2,1-NMF": _l21}


def robust(V: Array, K: int, seed: int, name: str) -> Array:
    """The prediction W H after `SWEEPS` reweighted steps from half-normal factors."""
    rng = np.random.default_rng(seed)
    V = V.astype(np.float32)
    root = np.sqrt(V.mean() / K)
    W = (np.abs(rng.normal(size=(V.shape[0], K))) * root).astype(np.float32)
    H = (np.abs(rng.normal(size=(K, V.shape[1]))) * root).astype(np.float32)
    for _ in range(SWEEPS):
        weights = WEIGHTS[name](V - W @ H).astype(np.float32)
        target = weights * V
        W *= (target @ H.T) / ((weights * (W @ H)) @ H.T + EPS)
        H *= (W.T @ target) / (W.T @ (weights * (W @ H)) + EPS)
    return W @ H
