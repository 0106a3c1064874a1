"""Robust NMF by reweighted multiplicative updates: L1 (Ke and Kanade 2005), Cauchy (Guan et al. 2017) and
L2,1 (Kong, Ding and Huang 2011). Each loss is majorised by weighted least squares with the weights below.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from atnmf_core import factorize

Array = npt.NDArray[np.floating]

SWEEPS = 200
EPS = 1e-9


def _l1(E: Array) -> Array:
    size = np.abs(E)
    return 1 / np.maximum(size, 0.1 * np.median(size) + EPS)


def _cauchy(E: Array) -> Array:
    scale = 1.4826 * np.median(np.abs(E)) + EPS
    return 1 / (1 + (E / scale) ** 2)


def _l21(E: Array) -> Array:
    return np.broadcast_to(1 / (np.sqrt((E**2).sum(axis=0)) + EPS), E.shape)


WEIGHTS: dict[str, Callable[[Array], Array]] = {"L1-NMF": _l1, "Cauchy-NMF": _cauchy, "L2,1-NMF": _l21}


def robust(V: Array, K: int, seed: int, name: str) -> Array:
    """The prediction W H after `SWEEPS` reweighted steps, from where standard NMF ends."""
    V = V.astype(np.float32)
    start = factorize(V, K=K, seed=seed)
    W, H = start.W + np.float32(EPS), start.H + np.float32(EPS)
    for _ in range(SWEEPS):
        weights = WEIGHTS[name](V - W @ H).astype(np.float32)
        weights /= weights.max()
        target = weights * V
        W *= (target @ H.T) / ((weights * (W @ H)) @ H.T + EPS)
        H *= (W.T @ target) / (W.T @ (weights * (W @ H)) + EPS)
    return W @ H
