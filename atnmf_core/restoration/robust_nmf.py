"""NMF with losses in which large residuals weigh little: the usual remedy for unknown wrong entries.

Each loss is majorised by weighted least squares, and each step is a multiplicative update with the weights of
the current residuals: L1 (Ke and Kanade 2005), Cauchy (Guan et al. 2017) and L2,1 (Kong, Ding and Huang
2011).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from ..factorization import factorize
from ..problem import Array, Mask, check_one_of

Loss = Literal["L1", "Cauchy", "L2,1"]

SWEEPS = 200
EPS = 1e-9


def robust_nmf(
    V: Array,
    observed: Mask | None = None,
    *,
    K: int,
    loss: Loss = "L1",
    seed: int = 0,
    callback: Callable[[float], None] | None = None,
) -> tuple[Array, Array]:
    """W and H after `SWEEPS` reweighted steps on the observed entries, from where standard NMF ends.

    `callback` is called after each step with the share of the steps that are done.

    Examples
    --------
    >>> sound = np.outer(np.arange(1.0, 21), np.ones(30))
    >>> damaged = sound.copy()
    >>> damaged[4, 7] = 0
    >>> W, H = robust_nmf(damaged, K=1)
    >>> bool(abs((W @ H)[4, 7] - sound[4, 7]) < 0.1)
    True
    """
    check_one_of("loss", loss, tuple(LOSSES))
    seen = np.ones(V.shape, dtype=bool) if observed is None else observed
    V = np.where(seen, V, 0).astype(np.float32)
    start = factorize(V, seen, K=K, seed=seed)
    W, H = start.W + np.float32(EPS), start.H + np.float32(EPS)
    for step in range(SWEEPS):
        weights = LOSSES[loss](V - W @ H, seen).astype(np.float32)
        weights /= weights.max()
        target = weights * V
        W *= (target @ H.T) / ((weights * (W @ H)) @ H.T + EPS)
        H *= (W.T @ target) / (W.T @ (weights * (W @ H)) + EPS)
        if callback is not None:
            callback((step + 1) / SWEEPS)
    return W, H


def _l1(E: Array, seen: Mask) -> Array:
    size = np.abs(E)
    return np.asarray(seen / np.maximum(size, 0.1 * np.median(size[seen]) + EPS))


def _cauchy(E: Array, seen: Mask) -> Array:
    scale = 1.4826 * np.median(np.abs(E[seen])) + EPS
    return np.asarray(seen / (1 + (E / scale) ** 2))


def _l21(E: Array, seen: Mask) -> Array:
    return np.asarray(seen / (np.sqrt((seen * E**2).sum(axis=0)) + EPS))


LOSSES: dict[Loss, Callable[[Array, Mask], Array]] = {"L1": _l1, "Cauchy": _cauchy, "L2,1": _l21}
"""The weights of the entries, from their residuals."""
