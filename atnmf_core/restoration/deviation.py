"""How far a prediction may be off: one standard deviation for each entry, from fits that were shown less.

Each replicate holds out other entries and starts from other factors. What its predictions differ by is the
part of the error that comes from the data being few; the residuals of the entry's row and column are the part
that comes from the model. Together they are scaled by one factor, so that of the held-out entries about 68 %
lie within one deviation and 95 % within two.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..factorization import factorize
from .candidates import Candidate
from .defects import entry_scale

__all__ = ["calibration", "deviations"]

Array = npt.NDArray[np.floating]
Mask = npt.NDArray[np.bool_]

WITHIN_ONE, WITHIN_TWO = 0.683, 0.954


def deviations(
    V: Array, use: Mask, V_hat: Array, candidate: Candidate, held_out: Sequence[Mask], seed: int
) -> tuple[Array, float]:
    """The standard deviation of each entry's prediction, F x N, and the factor that it was scaled by.

    Parameters
    ----------
    V, V_hat : the data and what the final fit predicts.
    use : bool F x N, the entries that the final fit was shown.
    held_out : one part of `use` for each replicate.
    seed : of the first replicate's start.
    """
    total, squares = np.zeros(V.shape), np.zeros(V.shape)
    misses = []
    for number, held in enumerate(held_out):
        fit = factorize(V, use & ~held, K=candidate.K, seed=seed + 1 + number, **candidate.treatment.options)
        difference = (fit.V_hat - V_hat).astype(np.float64)
        total += difference
        squares += difference**2
        misses.append((held, np.abs(V - fit.V_hat)[held]))
    count = len(held_out)
    # About the final fit, not about their mean: it is the final fit whose error is wanted.
    variance = squares / count
    scale = np.sqrt(variance + entry_scale(np.where(use, V, V_hat) - V_hat, use) ** 2)
    factor = calibration(np.concatenate([miss / scale[held] for held, miss in misses]))
    return (factor * scale).astype(V_hat.dtype), factor


def calibration(ratios: Array) -> float:
    """The factor that brings |error| / scale nearest to the shares within one and two deviations of a normal.

    Examples
    --------
    >>> errors = 3 * np.abs(np.random.default_rng(0).normal(size=100_000))
    >>> round(calibration(errors), 1)
    3.0
    """
    found = np.sort(ratios[np.isfinite(ratios)])
    if found.size == 0:
        return 1.0
    candidates = np.unique(np.quantile(found, np.linspace(0.5, 0.85, 141)))
    one = np.searchsorted(found, candidates, side="right") / found.size
    two = np.searchsorted(found, 2 * candidates, side="right") / found.size
    return float(candidates[np.argmin((one - WITHIN_ONE) ** 2 + (two - WITHIN_TWO) ** 2)])
