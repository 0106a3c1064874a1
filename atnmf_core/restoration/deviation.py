"""How far a prediction may be off: a standard deviation for each entry, from fits that saw less.

Two fits that did not see some entries differ in their predictions of these: that is the part of the error due
to limited data. The residuals of the entry's row and column are the part due to the model. Together they are
scaled by one factor, so that about 68 % of the held-out entries lie within one deviation and 95 % within two.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..factorization import factorize
from .candidates import Candidate
from .defects import entry_scale
from .holdout import hold_out_entries

__all__ = ["calibration", "deviations"]

Array = npt.NDArray[np.floating]
Mask = npt.NDArray[np.bool_]

WITHIN_ONE, WITHIN_TWO = 0.683, 0.954


def deviations(
    V: Array, use: Mask, V_hat: Array, candidate: Candidate, held_out: Sequence[Mask], seed: int
) -> tuple[Array, float]:
    """The standard deviation of each entry's prediction, F x N, and its scaling factor.

    Parameters
    ----------
    V, V_hat : the data and what the final fit predicts.
    use : bool F x N, the entries that the final fit saw.
    held_out : parts of `use`; two fits are made without each of them.
    seed : of the first start.
    """
    between, ratios = np.zeros(V.shape), []
    scale = entry_scale(np.where(use, V, V_hat) - V_hat, use)
    for number, held in enumerate(held_out):
        pair = [_without(V, use & ~held, candidate, seed + 1 + 2 * number + second) for second in (0, 1)]
        difference = (pair[0] - pair[1]).astype(np.float64) ** 2
        between += difference / len(held_out)
        there = np.sqrt(difference[held] + scale[held] ** 2)
        ratios += [np.abs(V - predicted)[held] / there for predicted in pair]
    factor = calibration(np.concatenate(ratios))
    return (factor * np.sqrt(between + scale**2)).astype(V_hat.dtype), factor


def _without(V: Array, shown: Mask, candidate: Candidate, seed: int) -> Array:
    """The prediction of a fit from another start that does not see a further tenth of the entries."""
    shown = shown & ~hold_out_entries(shown, seed=seed)
    return factorize(V, shown, K=candidate.K, seed=seed, **candidate.treatment.options).V_hat


def calibration(ratios: Array) -> float:
    """The factor with which |error| / scale comes closest to the shares of a normal within one and two
    deviations.

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
