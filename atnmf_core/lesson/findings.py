"""What the paper's tables say, published and measured, at one hidden share; and a guess of the best lambda
beside measured errors.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from ..reference import NAMES, Published, measured, published
from ..sweep.measurements import Measurement

PUBLISHED_STARTS = 10


@dataclass(frozen=True)
class Error:
    """RMSE on hidden entries, averaged over `starts` starts; `lam` is None for NMF."""

    mean: float
    lam: float | None
    starts: int


@dataclass(frozen=True)
class Finding:
    """One data set and hidden share: published, measured alike ("zero"), and with hidden entries left out."""

    name: str
    alpha: float
    published_nmf: Error
    published_atnmf: Error
    zero_nmf: Error | None
    zero_atnmf: Error | None
    ignore_nmf: Error | None
    ignore_atnmf: Error | None

    @property
    def published_gain(self) -> float:
        """By what share AT-NMF's published error is below NMF's."""
        return 1 - self.published_atnmf.mean / self.published_nmf.mean

    @property
    def repeated_within(self) -> float | None:
        """The largest relative difference between published and rerun errors."""
        pairs = ((self.zero_nmf, self.published_nmf), (self.zero_atnmf, self.published_atnmf))
        apart = [abs(ours.mean / theirs.mean - 1) for ours, theirs in pairs if ours is not None]
        return max(apart, default=None)

    @property
    def ignored_share(self) -> float | None:
        """NMF's error with hidden entries left out, as a share of its published one."""
        return None if self.ignore_nmf is None else self.ignore_nmf.mean / self.published_nmf.mean

    @property
    def ignored_gain(self) -> float | None:
        """By what share AT-NMF's error is below NMF's where both leave hidden entries out."""
        if self.ignore_nmf is None or self.ignore_atnmf is None:
            return None
        return 1 - self.ignore_atnmf.mean / self.ignore_nmf.mean


def findings(alpha: float) -> tuple[Finding, ...]:
    """All four data sets at one of the paper's hidden shares (0.3 to 0.9).

    >>> [finding.name for finding in findings(0.5)]
    ['synthetic', 'cbcl', 'moffet', 'madonna']
    """
    return tuple(_finding(name, alpha) for name in NAMES)


def _finding(name: str, alpha: float) -> Finding:
    here = [cell for cell in published(name) if cell.alpha == alpha]
    ours = [cell for cell in measured(name) if cell.alpha == alpha]
    published_nmf, published_atnmf = _best(here, "nmf"), _best(here, "atnmf")
    assert published_nmf is not None
    assert published_atnmf is not None
    zero = [cell for cell in ours if cell.missing == "zero"]
    ignore = [cell for cell in ours if cell.missing == "ignore"]
    return Finding(
        name=name,
        alpha=alpha,
        published_nmf=published_nmf,
        published_atnmf=published_atnmf,
        zero_nmf=_best(zero, "nmf"),
        zero_atnmf=_best((cell for cell in zero if cell.lam == published_atnmf.lam), "atnmf"),
        ignore_nmf=_best(ignore, "nmf"),
        ignore_atnmf=_best(ignore, "atnmf"),
    )


def _best(cells: Iterable[Published | Measurement], method: str) -> Error | None:
    found = [
        Error(cell.mean, cell.lam, cell.starts if isinstance(cell, Measurement) else PUBLISHED_STARTS)
        for cell in cells
        if cell.method == method
    ]
    return min(found, key=lambda error: error.mean, default=None)


@dataclass(frozen=True)
class Verdict:
    """A guess beside the truth.

    at_guess, excess : the error at the guess, read off the curve, and by what share it is above the best.
    flat_from : from this lambda on all errors are within one deviation of the best: no adversary helps.
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
    excess, flat_from = at_guess / best - 1, _flat_from(lams, errors, limit)
    return Verdict(best_lam, best, at_guess, excess, flat_from, hit=at_guess <= limit)


def _flat_from(lams: list[float], errors: Mapping[float, float], limit: float) -> float | None:
    tail = list(takewhile(lambda lam: errors[lam] <= limit, reversed(lams)))
    return tail[-1] if tail else None
