"""What was tried to choose K, lambda and leash by, what was chosen, and where a running choice stands."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from .candidates import PLAIN, Candidate
from .scoring import WORTH_LEAVING_NMF, Rule, Score

Losses = Literal["marked", "unmarked"]


@dataclass(frozen=True)
class ChoiceProgress:
    """Where a running choice stands.

    Attributes
    ----------
    stage : "coarse", "fine" or "fit".
    done, total : paths fitted, and known so far to be needed.
    best : the best candidate so far, None before there is one.
    seconds : since the choice began.
    so_far : what would be chosen now; None while there is nothing to choose.
    """

    stage: str
    done: int
    total: int
    best: Candidate | None
    seconds: float
    so_far: Choice | None = field(default=None, repr=False)


ChoiceCallback = Callable[[ChoiceProgress], bool | None]


@dataclass(frozen=True)
class Choice:
    """What was tried, and what was chosen.

    Attributes
    ----------
    chosen : the simplest candidate within one standard error of the best; plain NMF unless another is clearly
        better (`simplest_of_the_best`).
    W : F x K, the parts of the chosen model as learned from what was not held out: what `restore` begins
        with. None in a choice that was stored.
    scores : of all candidates, best first; see `Score`.
    rule : how errors were measured; see `scoring`.
    error : the error to expect of a predicted entry.
    suspects : share of the held-out entries that look wrong.
    verdict : all that in a sentence.
    complete : False where the callback ended it early.
    seconds, first_seconds : until it was made, and until the coarse round gave a first answer.
    """

    chosen: Candidate
    scores: tuple[Score, ...] = field(repr=False)
    rule: Rule
    error: float
    suspects: float
    verdict: str
    complete: bool
    seconds: float
    first_seconds: float
    W: npt.NDArray[np.floating] | None = field(default=None, repr=False, compare=False)


def verdict(chosen: Score, equal: Sequence[Score], scores: Sequence[Score]) -> str:
    """The choice in a sentence: how good, whether others are as good, and what plain NMF would do."""
    said = f"{chosen.candidate} is expected to be off by {chosen.error:.3g}"
    if len(equal) > 1:
        said += f", the simplest of {len(equal)} that predict equally well"
    if chosen.candidate.treatment == PLAIN:
        return said + f"; no adversary predicts better by {WORTH_LEAVING_NMF:.0%} or more."
    plain = [score for score in scores if score.candidate.treatment == PLAIN]
    compared = [score.error for score in plain if math.isfinite(score.error)]
    if compared:
        said += f"; plain NMF by {min(compared):.3g}"
    elif plain:
        said += f"; plain NMF by {min(score.typical for score in plain):.3g} or more"
    return said + "."
