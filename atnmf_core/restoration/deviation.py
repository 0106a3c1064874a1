"""How far a prediction may be off: a standard deviation for each entry.

Two parts of it follow from the fit: what the shown entries of the column leave open, and the noise of the row
(`prediction`). The third is what the other columns leave open about W: two fits that did not see some entries
differ in their predictions of these. Together they are scaled by one factor, so that about 68 % of entries
that were held out lie within one deviation and 95 % within two.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..factorization import factorize
from ..problem import Array, Mask
from ..result import Fit
from .candidates import Candidate
from .holdout import hold_out_entries
from .prediction import columns_of, with_likely_amounts

WITHIN_ONE, WITHIN_TWO = 0.683, 0.954


def deviations(
    V: Array, use: Mask, fit: Fit, candidate: Candidate, held_out: Sequence[Mask], seed: int
) -> Array:
    """The standard deviation of each entry's prediction, F x N.

    Parameters
    ----------
    V : F x N.
    use : bool F x N, the entries that the final fit saw.
    fit : the final fit, of the candidate.
    held_out : parts of `use`; two fits are made without each of them.
    seed : of the final fit; the next ones are those of the others.
    """
    between, ratios = np.zeros(V.shape), []
    for number, held in enumerate(held_out):
        shown = use & ~held
        pair = [_another(V, shown, candidate, seed + 1 + 2 * number + second) for second in (0, 1)]
        difference = np.square(pair[0].V_hat - pair[1].V_hat, dtype=np.float64)
        between += difference / len(held_out)
        for other in pair:
            variance = difference + np.square(columns_of(other, V, shown, keep_W=True).deviation())
            ratios.append((np.abs(V - other.V_hat) / np.sqrt(variance))[held])
    variance = between + np.square(columns_of(fit, V, use, keep_W=True).deviation())
    return np.asarray(calibration(np.concatenate(ratios)) * np.sqrt(variance), dtype=fit.V_hat.dtype)


def _another(V: Array, shown: Mask, candidate: Candidate, seed: int) -> Fit:
    """A fit from another start that does not see a further tenth of the entries."""
    shown = shown & ~hold_out_entries(shown, seed=seed)
    fit = factorize(V, shown, K=candidate.K, seed=seed, **candidate.treatment.options)
    return with_likely_amounts(fit, V, shown)


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
