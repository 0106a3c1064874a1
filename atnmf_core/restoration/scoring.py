"""Which candidate predicts best what was held out, when some of what was held out may be wrong.

For marked losses the score is the RMSE over the held-out entries. For unmarked ones that would reward models
that follow the defects, so held-out entries count with a weight, the same for all candidates:

1. The candidate with the lowest **quantile** of absolute errors is the reference: defects are in the tail,
   and do not count. A quantile below the median holds while half of the entries are wrong. Entries recorded
   as zero do not count either: many models fit them exactly.
2. What the reference suspects and misses by more than `FAR` deviations is wrong, and has no weight.
3. Nearer residuals may be the tail of what is sound. Sound ones lie on both sides alike; where one side has
   more than the other, at the same distance, only as many of them count.

Undamaged data keeps its weight, however heavy the tails are, if they are alike on both sides; defects as
small as the model's own errors lose most of theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..problem import Array
from .candidates import PLAIN, Candidate
from .defects import FAR, NORMAL_QUANTILE, QUANTILE
from .path import HeldOutResult

Rule = Literal["rmse", "rmse of sound entries"]

DISTANCES = np.array([1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, np.inf])
"""Both sides are compared between these distances, in deviations."""
TINY = 1e-30
SLACK = 0.05
"""With few replicates the standard error is itself a guess: what is worse by more than this share is not
equal to the best.
"""
WORTH, WORTH_LEAVING_NMF = 0.03, 0.06
"""By these shares an adversary must predict better than a weaker one, and than plain NMF, to be chosen: a
strong one is better protected, but describes undamaged data worse. On undamaged faces and cubes the best one
is ahead by up to 4 %, with a tenth of dark entries in faces by 7 to 17 %, in cubes by far more.
"""
NEAR = 2.0
"""Only candidates whose quantile is within this factor of the lowest are compared by RMSE."""


@dataclass(frozen=True)
class Score:
    """How well a candidate predicted what was held out.

    Attributes
    ----------
    error : mean over replicates of the RMSE, in the data's units. Infinite for candidates whose `typical`
        rules them out.
    standard_error : of that mean; NaN with one replicate.
    typical : mean over replicates of the quantile of absolute errors, scaled to the standard deviation that
        normal errors with this quantile have.
    replicates : how many there were.
    """

    candidate: Candidate
    error: float
    standard_error: float
    typical: float
    replicates: int


def compare(
    records: Iterable[HeldOutResult], truths: Sequence[Array], *, robust: bool
) -> tuple[list[Score], Rule, float]:
    """Score all candidates, best first.

    Parameters
    ----------
    records : of any number of candidates and replicates.
    truths : for each replicate, the data at its held-out entries.
    robust : whether some of these may be wrong (unmarked losses).

    Returns
    -------
    scores : best first.
    rule : by which the errors are measured.
    suspects : share of the held-out entries that are suspect.
    """
    by_candidate: dict[Candidate, dict[int, HeldOutResult]] = {}
    for record in records:
        by_candidate.setdefault(record.candidate, {})[record.replicate] = record
    typical = {
        candidate: {r: typical_error(truths[r], record.predictions) for r, record in found.items()}
        for candidate, found in by_candidate.items()
    }
    rule: Rule = "rmse"
    weights = [np.ones(truth.shape) for truth in truths]
    wrong = 0.0
    if robust:
        rule = "rmse of sound entries"
        # Not every candidate has been tried on every hold-out.
        ranked = sorted(typical, key=lambda candidate: _mean(typical[candidate]))
        replicates = {r for found in by_candidate.values() for r in found}
        best = {r: next(candidate for candidate in ranked if r in typical[candidate]) for r in replicates}
        reference = [by_candidate[candidate][r] for r, candidate in best.items()]
        for record, weight in zip(reference, _weights(reference, truths), strict=True):
            weights[record.replicate] = weight
        wrong = float(np.concatenate([record.wrong for record in reference]).mean())
    scores = []
    lowest = min(_mean(values) for values in typical.values())
    for candidate, found in by_candidate.items():
        values = np.array([_rmse(truths[r] - record.predictions, weights[r]) for r, record in found.items()])
        middle = _mean(typical[candidate])
        ruled_out = robust and middle > NEAR * lowest
        spread = float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else float("nan")
        error = float("inf") if ruled_out else float(values.mean())
        scores.append(Score(candidate, error, spread, middle, values.size))
    scores.sort(key=lambda score: (score.error, score.typical))
    return scores, rule, wrong


def simplest_of_the_best(scores: Sequence[Score]) -> tuple[Score, list[Score]]:
    """The simplest candidate within one standard error of the best, at most the share `SLACK` of its error,
    and all that are within it.

    A stronger adversary with as many parts has to predict better by `WORTH` to be preferred, and one must
    predict better by `WORTH_LEAVING_NMF` than plain NMF with at most twice its parts. Candidates with fewer
    replicates than the best were given up on the way, and do not count.
    """
    best = scores[0]
    plain = [score for score in scores if score.candidate.treatment == PLAIN]
    plain = [s for s in plain if s.replicates == best.replicates and s.candidate.K <= 2 * best.candidate.K]
    if plain and plain[0].error <= (1 + WORTH_LEAVING_NMF) * best.error:
        scores, best = plain, plain[0]
    limit = limit_of_equals(best)
    whole = [score for score in scores if score.replicates == best.replicates]
    K = min(score.candidate.K for score in whole if score.error <= limit)
    equal = [
        score
        for score in whole
        if score.error <= limit or (score.candidate.K == K and score.error <= (1 + WORTH) * best.error)
    ]
    return min(equal, key=lambda score: score.candidate.complexity), equal


def limit_of_equals(best: Score) -> float:
    """The error up to which candidates count as equal to the best."""
    spread = 0.0 if np.isnan(best.standard_error) else best.standard_error
    return best.error + min(spread, SLACK * best.error)


def _weights(reference: Sequence[HeldOutResult], truths: Sequence[Array]) -> list[npt.NDArray[np.float64]]:
    """For each record, how much each of its held-out entries counts: about the chance that it is sound."""
    residuals = []
    for record in reference:
        truth = truths[record.replicate]
        errors = (truth - record.predictions).astype(np.float64)
        residuals.append(errors / max(typical_error(truth, record.predictions), TINY))
    together = np.concatenate(residuals)
    below, above = (np.histogram(side[side > 0], DISTANCES)[0] for side in (-together, together))
    sound_below, sound_above = _share(above, below), _share(below, above)
    found = []
    for record, residual in zip(reference, residuals, strict=True):
        distance = np.abs(residual)
        place = np.minimum(np.searchsorted(DISTANCES, distance, side="right") - 1, DISTANCES.size - 2)
        weight = np.where(residual < 0, sound_below[place], sound_above[place])
        weight[place < 0] = 1.0
        weight[record.wrong & (distance > FAR)] = 0.0
        found.append(weight)
    return found


def _share(other: npt.NDArray[np.intp], this: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    """Of the entries on this side, those that the other side has too, or may have but for chance."""
    share: npt.NDArray[np.float64] = (other + 2 * np.sqrt(other) + 3) / np.maximum(this, 1)
    return np.minimum(1, share)


def typical_error(truth: Array, predicted: Array) -> float:
    """A standard deviation from a quantile of |error|, whatever the largest errors are."""
    errors = np.abs(truth - predicted)
    counted = errors[truth > 0] if (truth > 0).any() else errors
    return float(np.quantile(counted, QUANTILE)) / NORMAL_QUANTILE


def _mean(values: dict[int, float]) -> float:
    return float(np.mean(list(values.values())))


def _rmse(errors: Array, weights: npt.NDArray[np.float64]) -> float:
    total = float(weights.sum())
    return float(np.sqrt(weights @ np.square(errors, dtype=np.float64) / total)) if total else float("inf")
