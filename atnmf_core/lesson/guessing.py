"""How good a guess of the best lambda is, judged by a measured curve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile

import numpy as np


@dataclass(frozen=True)
class Verdict:
    """A guess beside the truth.

    Attributes
    ----------
    best_lam, best : the measured lambda with the lowest error, and that error.
    at_guess : the error at the guess, read off the curve.
    excess : how far at_guess is above best, as a share of best.
    flat_from : the lambda from which on all measured errors are within one standard deviation of the best, so
        that an adversary does not help; None if not even the last is.
    hit : whether the guess is as good as the best, as far as the measurement can tell.
    """

    best_lam: float
    best: float
    at_guess: float
    excess: float
    flat_from: float | None
    hit: bool


def judge(guess: float, errors: Mapping[float, float], deviations: Mapping[float, float]) -> Verdict:
    """Compare a guessed lambda with measured errors (mean and standard deviation by lambda).

    Examples
    --------
    >>> verdict = judge(3.0, {1.5: 0.3, 2.0: 0.1, 5.0: 0.2}, {1.5: 0.01, 2.0: 0.02, 5.0: 0.01})
    >>> verdict.best_lam, verdict.hit
    (2.0, False)
    >>> round(verdict.at_guess, 3)
    0.15
    """
    lams = sorted(errors)
    best_lam = min(lams, key=lambda lam: errors[lam])
    best = errors[best_lam]
    strength = np.log(np.array(lams) - 1)
    at_guess = float(np.interp(np.log(guess - 1), strength, [errors[lam] for lam in lams]))
    limit = best + deviations[best_lam]
    return Verdict(
        best_lam=best_lam,
        best=best,
        at_guess=at_guess,
        excess=at_guess / best - 1,
        flat_from=_flat_from(lams, errors, limit),
        hit=at_guess <= limit,
    )


def _flat_from(lams: list[float], errors: Mapping[float, float], limit: float) -> float | None:
    tail = list(takewhile(lambda lam: errors[lam] <= limit, reversed(lams)))
    return tail[-1] if tail else None
