"""A small picture with unmarked defects, and what the adversary makes of it.

The picture is a simulated scene of three materials, so three parts describe it up to noise. Some of its
entries are recorded wrongly: dead ones as 0, bright ones three times too high.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

import numpy as np

from ..adversary import at_wall
from ..datasets import Dataset
from ..datasets.scene import simulated_scene
from ..factorization import factorize
from ..metrics import rmse
from ..problem import Array, Mask
from ..restoration.robust_nmf import robust_nmf

DefectKind = Literal["dead", "bright", "both"]

DEFECTS: tuple[DefectKind, ...] = ("dead", "bright", "both")
SIDE, BANDS, SCENE_K = 24, 60, 3
TOO_BRIGHT = 3.0
remembered = lru_cache(maxsize=200)
"""Each picture and fit is made once: a reader asks for the same few again and again."""


@dataclass(frozen=True, eq=False)
class Recorded:
    """V as recorded by a faulty camera, and where that is wrong."""

    truth: Array
    V: Array
    wrong: Mask


@dataclass(frozen=True, eq=False)
class Mended:
    """A fit of the recorded data.

    Attributes
    ----------
    V_hat : the predictions.
    error : RMSE over all entries, against the truth.
    walls : the entries on which the adversary has given up.
    """

    V_hat: Array
    error: float
    walls: Mask


@cache
def small_scene() -> Dataset:
    """24 x 24 pixels at 60 wavelengths."""
    return simulated_scene(rows=SIDE, cols=SIDE, bands=BANDS, materials=SCENE_K)


@remembered
def recorded(kind: DefectKind, share: float, seed: int = 0) -> Recorded:
    """The small scene with a share of its entries wrong; "both" is half dead, half bright.

    Examples
    --------
    >>> round(float(recorded("dead", 0.2).wrong.mean()), 3)
    0.2
    """
    truth = np.asarray(small_scene().V, dtype=float)
    count = round(share * truth.size)
    chosen = np.random.default_rng(seed).permutation(truth.size)[:count]
    dead = {"dead": count, "bright": 0, "both": count // 2}[kind]
    V = truth.copy()
    V.flat[chosen[:dead]] = 0.0
    V.flat[chosen[dead:]] *= TOO_BRIGHT
    wrong = np.zeros(truth.shape, dtype=bool)
    wrong.flat[chosen] = True
    return Recorded(truth, V, wrong)


@remembered
def mend(given: Recorded, lam: float, leash: float | None = None) -> Mended:
    """AT-NMF of the recorded data; NMF for infinite lam. Neither knows which entries are wrong.

    Examples
    --------
    >>> damaged = recorded("dead", 0.2)
    >>> mend(damaged, 1.02).error < 0.1 * mend(damaged, np.inf).error
    True
    """
    if np.isinf(lam):
        return _measured(given, factorize(given.V, K=SCENE_K, method="nmf").V_hat, lam, None)
    fit = factorize(given.V, K=SCENE_K, method="atnmf", lam=lam, leash=leash)
    return _measured(given, fit.V_hat, lam, leash)


@remembered
def mend_known(given: Recorded) -> Mended:
    """NMF with the wrong entries marked and left out: as good as it can get."""
    V_hat = factorize(given.V, ~given.wrong, K=SCENE_K, method="nmf").V_hat
    return _measured(given, V_hat, np.inf, None)


@remembered
def mend_robust(given: Recorded) -> Mended:
    """L1-NMF, the usual remedy, which does not know either which entries are wrong."""
    W, H = robust_nmf(given.V, K=SCENE_K, loss="L1")
    return _measured(given, W @ H, np.inf, None)


def _measured(given: Recorded, V_hat: Array, lam: float, leash: float | None) -> Mended:
    return Mended(V_hat, rmse(given.truth, V_hat), at_wall(given.V, V_hat, lam, leash=leash))
