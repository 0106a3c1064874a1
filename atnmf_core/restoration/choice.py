"""K and the adversary, chosen by how well each entry is predicted from the others.

A candidate is a first prediction and a number of dimensions. From each first prediction spans are learned
with more and more dimensions (`span`), and the density that they give each entry, given the other entries of
its column, is what they are compared by: a wrong entry has the same low density in all of them, so defects
do not count, and an entry that is predicted to within its noise counts most.

The first prediction is what decides which entries look wrong at first. That every column is the average one,
brighter or darker, holds while fewer than half of the entries of each row and column are wrong. Where half
of them are too dark, AT-NMF with a low price holds: its adversary explains dark entries away.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..model.problem import Array, InputError, Mask
from ..solvers.factorization import factorize, transform
from .odds import Odds, Shares
from .span import (
    NORMAL_QUANTILE,
    RUNGS,
    Columns,
    Floats,
    Rung,
    Span,
    brighter_or_darker,
    climb,
    floored,
    median_column,
    possible_Ks,
    quantile_of,
    row_noise,
)

Losses = Literal["marked", "unmarked"]

ENTRIES, FEWEST_COLUMNS = 250_000, 600
"""Spans are learned from so many entries, but from so many columns at least."""
EQUAL = 0.005
"""Log densities are equal up to this. K is the smallest of equal ones."""
PATIENCE, GAP_PATIENCE = 2, 5
"""The climb ends where so many rungs in a row are no better; errors at held-out gaps rise and fall again."""
WORTH, WORTH_IN_CUBES = 0.01, 0.1
"""By so much an adversary must predict better to be chosen. In cubes it may let the span learn a block of
wrong entries, which is worth about half of the second; where half of the entries are dark it is far better.
"""
COMPARED, GIVEN_UP = 6, 0.09
"""With so many parts a first prediction that falls so far short of what is asked of it is given up."""
PARTS = 4
"""Of the factorization whose adversary makes a first prediction."""
STRONG = 1.02
"""The price of that adversary: a dark entry weighs 51 times less than others."""


@dataclass(frozen=True)
class Treatment:
    """What decides at first which entries may be wrong.

    Attributes
    ----------
    lam, leash : the adversary's price and leash, as in `factorize`; no adversary if lam is None.
    leave_out : whether wrong entries are left out of the fit.
    """

    lam: float | None = None
    leash: float | None = None
    leave_out: bool = True

    @property
    def options(self) -> dict[str, Any]:
        """The adversary as arguments of `factorize`."""
        return {} if self.lam is None else {"method": "atnmf", "lam": self.lam, "leash": self.leash}

    def __str__(self) -> str:
        if self.lam is None:
            return "without an adversary" if self.leave_out else "all entries count"
        return f"an adversary with λ = {self.lam:g}" + (
            "" if self.leash is None else f" and leash {self.leash:g}"
        )


PLAIN = Treatment(leave_out=False)
"""All observed entries count."""


@dataclass(frozen=True)
class Candidate:
    """A model that can be chosen."""

    K: int
    treatment: Treatment

    def __str__(self) -> str:
        return f"K = {self.K}, {self.treatment}"


@dataclass(frozen=True)
class Score:
    """How well a candidate predicts entries from the others.

    Attributes
    ----------
    error : root mean square error over entries that look sound, in the data's units.
    log_density : of all entries, on average; the higher the better. Where gaps were held out, -log(error).
    """

    candidate: Candidate
    error: float
    log_density: float


@dataclass(frozen=True)
class Choice:
    """What was tried, and what was chosen.

    Attributes
    ----------
    chosen : the candidate that predicts best; of equal ones that with the fewest parts.
    scores : of all candidates, best first.
    error : of the chosen one.
    suspects : share of the entries that looked wrong to it.
    verdict : all that in a sentence.
    complete : False where the callback ended it early.
    seconds, first_seconds : until it was made, and until there was a first answer.
    """

    chosen: Candidate
    scores: tuple[Score, ...] = field(repr=False)
    error: float
    suspects: float
    verdict: str
    complete: bool
    seconds: float
    first_seconds: float


@dataclass(frozen=True)
class ChoiceProgress:
    """Where a running restoration stands.

    Attributes
    ----------
    stage : "choice" while spans are learned, then "fit".
    done, total : rungs, and how many there are at most.
    best : the best candidate so far, None before there is one.
    seconds : since it began.
    so_far : what would be chosen now; None while there is nothing to choose.
    """

    stage: str
    done: int
    total: int
    best: Candidate | None
    seconds: float
    so_far: Choice | None = field(default=None, repr=False)


ChoiceCallback = Callable[[ChoiceProgress], bool | None]


@dataclass(frozen=True, eq=False)
class Ladder:
    """The way up that was chosen: what other columns begin with, and the spans that follow.

    Attributes
    ----------
    treatment : which first prediction.
    first : F, what the first prediction is made from: the median column, or F x K, the parts of AT-NMF.
    noise : F, around the first prediction.
    odds : of sound and wrong entries around it; None where what is seen is sound.
    rungs : up to the chosen K.
    """

    treatment: Treatment
    first: Array
    noise: Array
    odds: Shares | None
    rungs: list[Rung]

    def columns(self, V: Floats, seen: Mask, *, alone: bool = False) -> Columns:
        """Other columns, at the foot of the ladder. With `alone`, no column depends on the others."""
        odds = None if self.odds is None else Odds(V, seen, self.odds)
        prediction = _first_prediction(_within(V, odds), seen, self.first, self.treatment)
        return Columns.start(V, seen, odds, prediction, self.noise, alone)

    @property
    def fields(self) -> dict[str, Any]:
        """All of it, as arrays and what JSON can hold."""
        spans = [rung.span for rung in self.rungs]
        told = [[rung.log_density, rung.error, rung.wrong, rung.usual] for rung in self.rungs]
        shares = {} if self.odds is None else self.odds._asdict()
        return {
            "treatment": asdict(self.treatment),
            "first": self.first,
            "noise": self.noise,
            "told": np.array(told),
            "means": np.stack([span.mean for span in spans]),
            "noises": np.stack([span.noise for span in spans]),
            "bases": np.concatenate([span.basis for span in spans], axis=1),
            "spreads": np.concatenate([span.spread for span in spans]),
            "ends": np.cumsum([span.K for span in spans]),
            **{f"odds {name}": values for name, values in shares.items()},
        }

    @classmethod
    def from_fields(cls, fields: dict[str, Any]) -> Ladder:
        """The ladder that has these `fields`, among others."""
        bases, spreads = (
            np.split(fields[name], fields["ends"][:-1], axis=-1) for name in ("bases", "spreads")
        )
        parts = zip(fields["means"], fields["noises"], bases, spreads, fields["told"], strict=True)
        rungs = [Rung(Span(mean, noise, *span), *map(float, told)) for mean, noise, *span, told in parts]
        shares = [fields[f"odds {name}"] for name in Shares._fields] if "odds low" in fields else None
        return cls(
            Treatment(**fields["treatment"]),
            fields["first"],
            fields["noise"],
            None if shares is None else Shares(*shares),
            rungs,
        )


def _first_prediction(V: Array, seen: Mask, first: Array, treatment: Treatment) -> Array:
    if first.ndim == 1:
        return brighter_or_darker(V, seen, first)
    return np.asarray(first @ _amounts(V, seen, first, treatment))


def _within(V: Array, odds: Odds | None) -> Array:
    """V without huge entries, which squares would follow."""
    return V if odds is None else np.minimum(V, odds.high)


def _amounts(V: Array, seen: Mask, W: Array, treatment: Treatment) -> Array:
    shown = seen | ~seen.any(axis=0)
    H = transform(np.maximum(V, 0), W, shown, lam=treatment.lam, leash=treatment.leash)
    return np.nan_to_num(H)


def choose(
    V: Floats,
    seen: Mask,
    losses: Losses,
    *,
    K: int | Sequence[int] | None = None,
    treatments: Sequence[Treatment] | None = None,
    held: Mask | None = None,
    worth: float = WORTH,
    scale: float = 1.0,
    seed: int = 0,
    callback: ChoiceCallback | None = None,
) -> tuple[Ladder, Choice]:
    """Learn spans from some of the columns, and choose one.

    Parameters
    ----------
    V, seen : F x N.
    losses : "marked": what is seen is sound; "unmarked": some of it may be wrong.
    K : the number of parts, or those to choose from; by default what the data supports.
    treatments : first predictions to choose from.
    held : bool F x N, entries that are not shown to the spans and that these are compared by, instead of by
        all entries given the others.
    worth : by how much an adversary must predict better.
    scale : of V: what errors are told in multiples of.
    callback : called with a `ChoiceProgress` after every rung; returning True ends the choice there.
    """
    some = _some_columns((V.shape[0], V.shape[1]), seed)
    V, seen = np.ascontiguousarray(V[:, some]), np.ascontiguousarray(seen[:, some])
    at_gaps = None if held is None or not held[:, some].any() else np.ascontiguousarray(held[:, some])
    if at_gaps is not None:
        seen &= ~at_gaps
    if treatments is None:
        treatments = (Treatment(), Treatment(STRONG)) if losses == "unmarked" else (PLAIN,)
    allowed = _allowed((V.shape[0], V.shape[1]), K)
    search = _Search(allowed, K is None, worth, scale, callback)
    for treatment in treatments:
        ladder, columns, prediction, Ks = _foot(V, seen, losses, treatment, allowed, seed)
        search.climb(ladder, columns, prediction, Ks, at_gaps)
        if not search.going and search.scores:
            break
    return search.chosen()


class _Search:
    """What was tried so far."""

    def __init__(
        self,
        allowed: tuple[int, ...],
        ends_early: bool,
        worth: float,
        scale: float,
        callback: ChoiceCallback | None,
    ) -> None:
        self.allowed, self.ends_early = allowed, ends_early
        self.worth, self.scale, self.callback = worth, scale, callback
        self.began = time.perf_counter()
        self.first_seconds = 0.0
        self.scores: list[Score] = []
        self.ladders: dict[Treatment, Ladder] = {}
        self.done = 0
        self.going = True

    def climb(
        self,
        ladder: Ladder,
        columns: Columns,
        prediction: Array,
        Ks: tuple[int, ...],
        at_gaps: Mask | None,
    ) -> None:
        """Try all Ks from one first prediction, or until further ones are no better."""
        self.ladders[ladder.treatment] = ladder
        best, no_better = -np.inf, 0

        def on_rung(rung: Rung) -> bool:
            nonlocal best, no_better
            if at_gaps is not None:
                assert columns.explained is not None
                missed = np.square(columns.V - columns.explained.predicted)[at_gaps]
                error = float(np.sqrt(missed.mean(dtype=np.float64)))
                rung = replace(rung, log_density=-float(np.log(max(error, 1e-30))), error=error)
            ladder.rungs.append(rung)
            self._note(rung, ladder.treatment, len(Ks))
            no_better = 0 if rung.log_density > best + EQUAL else no_better + 1
            best = max(best, rung.log_density)
            patience = PATIENCE if at_gaps is None else GAP_PATIENCE
            if not self.going and self.scores:
                return True
            return self.ends_early and (no_better >= patience or self._falls_short(rung, ladder.treatment))

        climb(columns, prediction, Ks, on_rung, most_are_sound=ladder.treatment.lam is None)
        self.first_seconds = self.first_seconds or time.perf_counter() - self.began

    def _note(self, rung: Rung, treatment: Treatment, Ks: int) -> None:
        self.done += 1
        if rung.K in self.allowed:
            self.scores.append(Score(Candidate(rung.K, treatment), rung.error * self.scale, rung.log_density))
        if self.callback is not None and self.scores:
            choice = self.chosen()[1]
            total = max(len(self.ladders) * Ks, self.done)
            now = ChoiceProgress("choice", self.done, total, choice.chosen, choice.seconds, choice)
            self.going = self.going and not self.callback(now)

    def _falls_short(self, rung: Rung, treatment: Treatment) -> bool:
        """Whether a further first prediction is far from what would make it better than the first one."""
        first = next(iter(self.ladders.values()))
        if first.treatment == treatment or rung.K < COMPARED:
            return False
        known = {other.K: other.log_density for other in first.rungs}
        return rung.log_density < known.get(rung.K, -np.inf) + self.worth - GIVEN_UP

    def chosen(self) -> tuple[Ladder, Choice]:
        ranked = sorted(self.scores, key=lambda score: -score.log_density)
        best = ranked[0]
        without = [score for score in ranked if score.candidate.treatment.lam is None]
        if without and without[0].log_density > best.log_density - self.worth:
            best = without[0]
        treatment = best.candidate.treatment
        equal = [
            score
            for score in ranked
            if score.candidate.treatment == treatment and score.log_density > best.log_density - EQUAL
        ]
        score = min(equal, key=lambda score: score.candidate.K)
        ladder = self.ladders[treatment]
        place = next(n for n, rung in enumerate(ladder.rungs) if score.candidate.K == rung.K)
        seconds = time.perf_counter() - self.began
        choice = Choice(
            chosen=score.candidate,
            scores=tuple(ranked),
            error=score.error,
            suspects=ladder.rungs[place].wrong,
            verdict=f"{score.candidate}: entries are predicted from others to within {score.error:.3g}.",
            complete=self.going,
            seconds=seconds,
            first_seconds=self.first_seconds or seconds,
        )
        return replace(ladder, rungs=ladder.rungs[: place + 1]), choice


def _foot(
    V: Floats, seen: Mask, losses: Losses, treatment: Treatment, allowed: tuple[int, ...], seed: int
) -> tuple[Ladder, Columns, Array, tuple[int, ...]]:
    """The ladder without rungs, the columns at its foot, their first prediction, and the Ks to come."""
    leave_out = losses == "unmarked" and treatment.leave_out
    odds = Odds(V, seen) if leave_out else None
    Ks = tuple(sorted({*(k for k in RUNGS if k < max(allowed)), *allowed}))
    if treatment.lam is None:
        first: Array = median_column(V, seen)
    else:
        parts = min(PARTS, *V.shape)
        shown = seen | ~seen.any(axis=0)
        first = factorize(np.maximum(_within(V, odds), 0), shown, K=parts, seed=seed, **treatment.options).W
        Ks = tuple(k for k in Ks if k >= min(parts, max(allowed)))
    prediction = _first_prediction(_within(V, odds), seen, first, treatment)
    one_sided = treatment.lam is not None and treatment.leash is None
    noise = (_noise_above if one_sided else row_noise)(V - prediction, seen)
    columns = Columns.start(V, seen, odds, prediction, noise)
    shares = None if odds is None else odds.shares
    return Ladder(treatment, first, noise, shares, []), columns, prediction, Ks


def _noise_above(residual: Array, seen: Mask) -> Array:
    """The noise of rows from entries above their prediction: what an adversary explains away lies below."""
    return floored(np.nan_to_num(quantile_of(residual, seen & (residual > 0), 1)) / NORMAL_QUANTILE)


def _allowed(shape: tuple[int, int], K: int | Sequence[int] | None) -> tuple[int, ...]:
    if K is None:
        return possible_Ks(shape)
    Ks = tuple(sorted({int(k) for k in K})) if isinstance(K, Sequence) else (int(K),)
    if not Ks:
        raise InputError("K: no number of parts to choose from; leave it out to have it chosen.")
    if Ks[0] < 1 or Ks[-1] > min(shape):
        raise InputError(f"K={K!r}: from 1 to {min(shape)} parts are possible for data of {shape}.")
    return Ks


def _some_columns(shape: tuple[int, int], seed: int) -> npt.NDArray[np.intp]:
    F, N = shape
    most = max(FEWEST_COLUMNS, ENTRIES // F)
    if most >= N:
        return np.arange(N)
    return np.sort(np.random.default_rng(seed).choice(N, most, replace=False))
