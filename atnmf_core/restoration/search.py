"""K, lambda and leash by what was held out: coarse first, then finer around the best.

The coarse round fits one path per adversary on one hold-out, over every second K, and gives up early those
that are hopeless. The fine round tries adversaries a little stronger and weaker, then a few parts more and
less, on all hold-outs, beginning with the suspects of the best so far.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..datasets.dataset import Layout
from ..problem import Array, InputError, Mask
from .candidates import (
    PLAIN,
    Candidate,
    Treatment,
    coarse,
    default_Ks,
    first_treatments,
    neighbours,
    treatments_around,
)
from .choice import Choice, ChoiceCallback, ChoiceProgress, Losses, verdict
from .holdout import hold_out_entries, hold_out_gaps
from .path import HeldOutResult, MapTrials, Trial, fit_path
from .scoring import Rule, Score, compare, simplest_of_the_best, typical_error
from .workers import trials_on_workers

REPLICATES = 3
FEW, HOPELESS, BEST = 2, 1.5, 2
"""Adversaries whose typical error with the first `FEW` Ks is this many times the lowest are given up; the
`BEST` of the others are tried on all hold-outs.
"""
MAX_ROUNDS = 5
"""Of trying the neighbours of the best on all hold-outs."""
MILD = (Treatment(2.0, leave_out=False), Treatment(1.2, leave_out=False))
"""Adversaries worth trying where all losses are marked."""
MAX_ENTRIES: dict[Losses, int] = {"unmarked": 100_000, "marked": 450_000}
"""Of larger data some columns, drawn at random, are enough to choose by. Where gaps are held out besides
those that are there, few columns would support fewer parts than all of them do.
"""


def choose(
    V: Array,
    observed: Mask,
    losses: Losses,
    *,
    K: int | Sequence[int] | None = None,
    treatments: Sequence[Treatment] | None = None,
    layout: Layout | None = None,
    replicates: int = REPLICATES,
    seed: int = 0,
    callback: ChoiceCallback | None = None,
    map_trials: MapTrials | None = None,
) -> Choice:
    """Choose a model by what it predicts of entries that were held out.

    Parameters
    ----------
    V : F x N, nonnegative; only observed entries are looked at.
    observed : bool F x N.
    losses : "marked": what is not observed is all that is wrong, and gaps of its shape are held out;
        "unmarked": observed entries may be wrong too, and single entries are held out.
    K : the number of parts, or those to choose from; by default what the data supports.
    treatments : the adversaries to choose from; by default from none to strong, refined around the best.
    layout : where the entries lie in images.
    replicates : hold-outs to average over.
    callback : called with a `ChoiceProgress` after every path; returning True ends the choice there.
    map_trials : runs the paths; by default in as many processes as there are cores.
    """
    Ks = _Ks(K, V.shape, int(observed.sum()))
    search = _Search(V, observed, losses, layout or Layout(), replicates, seed, callback, map_trials)
    search.among = treatments
    search.coarse(treatments or search.first_treatments, Ks if K is not None else coarse(Ks))
    search.note_first_answer()
    if treatments is None:
        search.refine_treatment()
    search.refine_K(Ks)
    return search.choice()


def _Ks(K: int | Sequence[int] | None, shape: tuple[int, ...], observed: int) -> tuple[int, ...]:
    if K is None:
        return default_Ks((shape[0], shape[1]), observed)
    Ks = tuple(sorted(set(K))) if isinstance(K, Sequence) else (int(K),)
    if not Ks:
        raise InputError("K: no number of parts to choose from; leave it out to have it chosen.")
    return Ks


class _Search:
    """The hold-outs, the records so far, and the running of more."""

    def __init__(
        self,
        V: Array,
        observed: Mask,
        losses: Losses,
        layout: Layout,
        replicates: int,
        seed: int,
        callback: ChoiceCallback | None,
        map_trials: MapTrials | None,
    ) -> None:
        self._losses, self._seed, self._callback = losses, seed, callback
        self._map = map_trials or trials_on_workers()
        self._began = time.perf_counter()
        columns = _some_columns(V.shape, MAX_ENTRIES[losses], seed)
        held = [
            hold_out_gaps(observed, layout, seed=seed + r)
            if losses == "marked"
            else hold_out_entries(observed, seed=seed + r)
            for r in range(replicates)
        ]
        self._V = np.ascontiguousarray(np.where(observed, V, 0)[:, columns], dtype=np.float32)
        self._observed = np.ascontiguousarray(observed[:, columns])
        self._held = [np.ascontiguousarray(h[:, columns]) for h in held]
        if not all(h.any() for h in self._held):
            raise InputError("there is too little data to hold some out and choose by it: give K and lam.")
        self._truths = [self._V[h] for h in self._held]
        self._records: list[HeldOutResult] = []
        self._done = self._total = 0
        self._first_seconds: float | None = None
        self.going = True
        self.among: Sequence[Treatment] | None = None

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._began

    @property
    def first_treatments(self) -> tuple[Treatment, ...]:
        return first_treatments() if self._losses == "unmarked" else (PLAIN,)

    def coarse(self, treatments: Sequence[Treatment], Ks: tuple[int, ...]) -> None:
        """All adversaries with few parts; with more those that were not hopeless, from their suspects on."""
        self._run("coarse", [self._trial(treatment, Ks[:FEW]) for treatment in treatments])
        lowest = min(score.typical for score in self.scores()[0])
        best = {score.candidate.treatment: score for score in reversed(self.scores()[0])}
        alive = [treatment for treatment, score in best.items() if score.typical <= HOPELESS * lowest]
        if Ks[FEW:]:
            self._run(
                "coarse",
                [
                    self._trial(treatment, Ks[FEW:], after=Candidate(Ks[:FEW][-1], treatment))
                    for treatment in alive
                ],
            )

    def refine_treatment(self) -> None:
        """Adversaries a little stronger and weaker than the best, with as many parts."""
        best = self.best
        near = treatments_around(best.treatment) if self._losses == "unmarked" else MILD
        known = {score.candidate for score in self.scores()[0]}
        tried = [treatment for treatment in near if Candidate(best.K, treatment) not in known]
        self._run("fine", [self._trial(treatment, (best.K,), after=best) for treatment in tried])

    def refine_K(self, Ks: tuple[int, ...]) -> None:
        """On all hold-outs: the best adversaries, and none, with a few parts more and less than the best.

        More hold-outs change what is best, and so what is worth trying: until the best was tried on all.
        """
        done: set[Candidate] = set()
        for _ in range(MAX_ROUNDS):
            best = self.best
            if not self.going or best in done:
                return
            ranked = dict.fromkeys(score.candidate.treatment for score in self.scores()[0])
            around = neighbours(best.K, Ks)
            trials = []
            for treatment in dict.fromkeys((*list(ranked)[:BEST], PLAIN)):
                wanted = tuple(K for K in around if Candidate(K, treatment) not in done)
                done |= {Candidate(K, treatment) for K in wanted}
                if wanted:
                    trials += [self._trial(treatment, wanted, r, best) for r in range(len(self._held))]
            self._run("fine", trials)

    @property
    def best(self) -> Candidate:
        return self.scores()[0][0].candidate

    def _trial(
        self, treatment: Treatment, Ks: tuple[int, ...], replicate: int = 0, after: Candidate | None = None
    ) -> Trial:
        suspects = None
        if after is not None and treatment.leave_out:
            suspects = next((r.suspects for r in self._records if r.candidate == after), None)
        return Trial(treatment, Ks, replicate, self._seed + replicate, suspects)

    def _run(self, stage: str, trials: Sequence[Trial]) -> None:
        """Fit these paths; what was known of the same candidates is replaced."""
        if not self.going:
            return
        self._total += len(trials)
        for records in self._map(fit_path, self._V, self._observed, self._held, trials):
            fresh = {(record.candidate, record.replicate) for record in records}
            self._records = [r for r in self._records if (r.candidate, r.replicate) not in fresh] + records
            self._done += 1
            if self._callback is not None:
                progress = ChoiceProgress(
                    stage, self._done, self._total, self.best, self.seconds, self.choice()
                )
                if self._callback(progress):
                    self.going = False
                    return

    def scores(self) -> tuple[list[Score], Rule, float]:
        return compare(self._records, self._truths, robust=self._losses == "unmarked")

    def note_first_answer(self) -> None:
        self._first_seconds = self.seconds

    def choice(self) -> Choice:
        """The choice; where treatments were given, among these: plain NMF is then there to compare with."""
        scores, rule, suspects = self.scores()
        allowed = [score for score in scores if self.among is None or score.candidate.treatment in self.among]
        full = max(score.replicates for score in allowed)
        ranked = [
            score for score in allowed if score.replicates == full and np.isfinite(score.error)
        ] or allowed
        chosen, equal = simplest_of_the_best(ranked)
        return Choice(
            chosen=chosen.candidate,
            scores=tuple(scores),
            rule=rule,
            error=chosen.error,
            suspects=suspects,
            verdict=verdict(chosen, equal, scores),
            complete=self.going,
            seconds=self.seconds,
            first_seconds=self._first_seconds or self.seconds,
            W=self._parts(chosen.candidate),
        )

    def _parts(self, candidate: Candidate) -> Array:
        """As they were on the hold-out that they predict best."""
        return min(
            (record for record in self._records if record.candidate == candidate),
            key=lambda record: typical_error(self._truths[record.replicate], record.predictions),
        ).W


def _some_columns(shape: tuple[int, ...], max_entries: int, seed: int) -> npt.NDArray[np.intp]:
    F, N = shape
    most = max(64, max_entries // F)
    if most >= N:
        return np.arange(N)
    return np.sort(np.random.default_rng(seed).choice(N, most, replace=False))
