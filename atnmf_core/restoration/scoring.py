"""Which candidate predicts best what was held out, when some of what was held out may be wrong.

For marked losses the score is the RMSE over the held-out entries. For unmarked ones that would reward models
that follow the defects, so:

1. The candidate with the lowest **quantile** of absolute errors is the reference: defects are in the tail,
   and do not count. A quantile below the median holds while half of the entries are wrong. Entries recorded
   as zero do not count either: many models fit them exactly. It names the suspects among the held-out ones.
2. If what is left looks alike on both sides, the defects are out, and all candidates are compared by their
   RMSE over the entries that are not suspect, the same for all: unlike the quantile it sees how large the
   large errors are.
3. If one side still holds many more large residuals than the other, defects as small as the model's own
   errors are left, and a squared error would reward models that follow them: the quantile decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from .candidates import Candidate
from .defects import BEYOND, NORMAL_QUANTILE, QUANTILE
from .path import Record

__all__ = [
    "Rule",
    "Score",
    "compare",
    "leaving_out_pays",
    "limit_of_equals",
    "simplest_of_the_best",
    "typical_error",
]

Array = npt.NDArray[np.floating]
Rule = Literal["rmse", "rmse without suspects", "quantile"]

TAIL, LOPSIDED = 2.0, 3.0
"""Defects are left when one side has this many times the other's residuals beyond so many deviations."""
TINY = 1e-30
SLACK = 0.05
"""With few replicates the standard error is itself a guess: what is worse by more than this share is not
equal to the best.
"""
WORTH = 0.03
"""By this share an adversary must predict better than a weaker one to be chosen."""
NEAR = 2.0
"""Only candidates whose quantile is within this factor of the lowest are compared by RMSE."""


@dataclass(frozen=True)
class Score:
    """How well a candidate predicted what was held out.

    Attributes
    ----------
    error : mean over replicates, in the data's units: an RMSE or, under the rule "quantile", `typical`.
        Infinite for candidates that are ruled out by it.
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
    records: Iterable[Record], truths: Sequence[Array], *, robust: bool
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
    by_candidate: dict[Candidate, dict[int, Record]] = {}
    for record in records:
        by_candidate.setdefault(record.candidate, {})[record.replicate] = record
    typical = {
        candidate: {r: typical_error(truths[r], record.predictions) for r, record in found.items()}
        for candidate, found in by_candidate.items()
    }
    rule: Rule = "rmse"
    sound = [np.ones(truth.shape, dtype=bool) for truth in truths]
    if robust:
        replicates = {r for found in by_candidate.values() for r in found}
        # Not every candidate has been tried on every hold-out.
        ranked = sorted(typical, key=lambda candidate: _mean(typical[candidate]))
        reference = {r: next(c for c in ranked if r in typical[c]) for r in replicates}
        sure = {r: by_candidate[candidate][r] for r, candidate in reference.items()}
        sound = [~sure[r].wrong if r in sure else mask for r, mask in enumerate(sound)]
        defects_left = _lopsided(sure.values(), truths)
        rule = "quantile" if defects_left else "rmse without suspects"
    scores = []
    lowest = min(_mean(values) for values in typical.values())
    for candidate, found in by_candidate.items():
        errors = (
            typical[candidate]
            if rule == "quantile"
            else {r: _rmse((truths[r] - record.predictions)[sound[r]]) for r, record in found.items()}
        )
        values, middle = np.array(list(errors.values())), _mean(typical[candidate])
        ruled_out = robust and middle > NEAR * lowest
        spread = float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else float("nan")
        error = float("inf") if ruled_out else float(values.mean())
        scores.append(Score(candidate, error, spread, middle, values.size))
    scores.sort(key=lambda score: (score.error, score.typical))
    return scores, rule, 1 - float(np.concatenate(sound).mean())


def simplest_of_the_best(scores: Sequence[Score]) -> tuple[Score, list[Score]]:
    """The simplest candidate within one standard error of the best, at most the share `SLACK` of its error,
    and all that are within it.

    A stronger adversary with as many parts has to predict better by `WORTH` to be preferred. Candidates with
    fewer replicates than the best were given up on the way, and do not count.
    """
    best = scores[0]
    limit = limit_of_equals(best)
    whole = [score for score in scores if score.replicates == best.replicates]
    K = min(score.candidate.K for score in whole if score.error <= limit)
    equal = [
        score
        for score in whole
        if score.error <= limit or (score.candidate.K == K and score.error <= (1 + WORTH) * best.error)
    ]
    return min(equal, key=lambda score: score.candidate.complexity), equal


def leaving_out_pays(leaving_out: Iterable[Record], plain: Iterable[Record], truths: Sequence[Array]) -> bool:
    """Whether a model without its suspects predicts better than plain NMF, suspects counted too.

    What a model leaves out does not disturb its prediction of the rest: compared on that alone it looks
    better also where all suspects are sound. So here they count, with at most `BEYOND` deviations each: sound
    ones in the tail speak for plain NMF, which predicts them better, and defects for neither. Defects that
    are not larger than that speak for plain NMF too, which follows them; but they make the tail lopsided,
    and sound entries do not.
    """
    leaving_out = list(leaving_out)
    if _lopsided(leaving_out, truths, suspects_too=True):
        return True
    pairs = [(a, b) for a in leaving_out for b in plain if a.replicate == b.replicate]
    total = np.zeros(2)
    for pair in pairs:
        truth = truths[pair[0].replicate]
        most = BEYOND * min(typical_error(truth, record.predictions) for record in pair)
        total += [np.mean(np.minimum(np.abs(truth - r.predictions), most) ** 2) for r in pair]
    return not pairs or bool(total[0] < total[1])


def limit_of_equals(best: Score) -> float:
    """The error up to which candidates count as equal to the best."""
    spread = 0.0 if np.isnan(best.standard_error) else best.standard_error
    return best.error + min(spread, SLACK * best.error)


def _lopsided(records: Iterable[Record], truths: Sequence[Array], suspects_too: bool = False) -> bool:
    """Whether one side has many more large residuals than the other."""
    below = above = 0
    for record in records:
        truth = truths[record.replicate]
        deviation = max(typical_error(truth, record.predictions), TINY)
        residual = ((truth - record.predictions) / deviation)[suspects_too | ~record.wrong]
        below += int((residual < -TAIL).sum())
        above += int((residual > TAIL).sum())
    return bool(max(below, above) > LOPSIDED * min(below, above) + 3 * np.sqrt(below + above))


def typical_error(truth: Array, predicted: Array) -> float:
    """A standard deviation from a quantile of |error|, whatever the largest errors are."""
    errors = np.abs(truth - predicted)
    counted = errors[truth > 0] if (truth > 0).any() else errors
    return float(np.quantile(counted, QUANTILE)) / NORMAL_QUANTILE


def _mean(values: dict[int, float]) -> float:
    return float(np.mean(list(values.values())))


def _rmse(errors: Array) -> float:
    return float(np.sqrt(np.mean(np.square(errors, dtype=np.float64)))) if errors.size else float("inf")
