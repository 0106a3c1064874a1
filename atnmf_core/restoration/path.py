"""One model after another with more and more parts, each leaving out what the last one suspected.

With few parts a factorization cannot follow single wrong entries, so these stand out; with many it can, and
they do not. Suspects are therefore found with few parts first, left out, and looked at again with more: what
a larger model explains is taken back in.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ..factorization import factorize
from ..problem import Array, Mask
from ..projection import transform
from ..result import Fit
from .candidates import Candidate, Treatment
from .defects import QUANTILE, find_suspects
from .holdout import keep_enough
from .prediction import leverage, with_likely_amounts

FIRST_PASSES, PASSES = 4, 2
"""At the first K and at later ones, so often at most suspects are looked for and left out."""
SETTLED = 0.02
"""They have settled when so small a share of them changes."""
MAX_SWEEPS = 300
ALONE = 0.98
"""A row of W with this leverage has a part of its own."""
SMALL = 0.01
"""The weight, as a share of the mean one, with which a part begins anew."""
BOUND = 1.25
"""A model that predicts more than this times the largest value of a row has little to go by there."""
HOPELESS = 1.1
"""A path ends early when two Ks in a row predict this much worse than the best K so far."""


@dataclass(frozen=True)
class Trial:
    """One path to fit: what a worker is given beside the data.

    Attributes
    ----------
    treatment : the same at each K.
    Ks : rising.
    replicate : which hold-out.
    seed : of the start factors.
    suspects : what to leave out at first, as `HeldOutResult.suspects`; None for nothing.
    """

    treatment: Treatment
    Ks: tuple[int, ...]
    replicate: int
    seed: int
    suspects: npt.NDArray[np.uint8] | None = None


@dataclass(frozen=True)
class HeldOutResult:
    """What one candidate predicted at the held-out entries of one replicate.

    Attributes
    ----------
    W : F x K, its parts.
    predictions : at the held-out entries, in the order of `V[held_out]`.
    wrong : bool, which of the held-out entries look wrong, in the same order; none in rows with a part of
        their own, which are predicted by nothing else, so that there the model may be what is wrong.
    suspects : bool F x N of all observed entries that look wrong, held-out ones too, packed eight to a byte.
    seconds : that its fits took.
    """

    candidate: Candidate
    replicate: int
    W: Array
    predictions: npt.NDArray[np.float32]
    wrong: Mask
    suspects: npt.NDArray[np.uint8]
    seconds: float


MapTrials: TypeAlias = Callable[
    [Callable[[Array, Mask, Mask, Trial], list[HeldOutResult]], Array, Mask, Sequence[Mask], Sequence[Trial]],
    Iterable[list[HeldOutResult]],
]
"""Calls the function on every trial, with V, the observed and the trial's held-out entries, anywhere and in
any order: `map_trials(fit_path, V, observed, held_out, trials)`.
"""


def fit_path(V: Array, observed: Mask, held_out: Mask, trial: Trial) -> list[HeldOutResult]:
    """Fit a path on what is not held out; one record per K. A pure function, for workers anywhere."""
    records: list[HeldOutResult] = []
    errors: list[float] = []
    began = time.perf_counter()
    for K, fit, suspects in fit_growing(V, observed & ~held_out, trial):
        shown = observed & ~held_out & ~suspects
        V_hat = with_likely_amounts(fit, V, shown).V_hat
        predictions = bounded(V, V_hat, shown)[held_out].astype(np.float32)
        suspects = find_suspects(V, fit.V_hat, observed, observed & ~suspects)
        judged = suspects & (leverage(fit.W) < ALONE)[:, None]
        now = time.perf_counter()
        candidate = Candidate(K, trial.treatment)
        records.append(
            HeldOutResult(
                candidate,
                trial.replicate,
                fit.W,
                predictions,
                judged[held_out],
                np.packbits(keep_enough(observed, suspects)),
                now - began,
            )
        )
        began = now
        errors.append(float(np.quantile(np.abs(V[held_out] - predictions), QUANTILE)))
        if len(errors) > 2 and min(errors[-2:]) > HOPELESS * min(errors[:-2]):
            break
    return records


def fit_growing(
    V: Array, observed: Mask, trial: Trial, start: tuple[Array, Array] | None = None
) -> Iterator[tuple[int, Fit, Mask]]:
    """For each K: the fit without its suspects, and these. The first fit begins at `start`, if given, and is
    not shown what is suspect there either.
    """
    suspects = np.zeros(V.shape, dtype=bool)
    if trial.suspects is not None:
        suspects = unpacked(trial.suspects, V.shape)
    if start is not None:
        there = find_suspects(V, start[0] @ start[1], observed, observed & ~suspects)
        suspects = keep_enough(observed, suspects | there)
    passes = FIRST_PASSES if trial.suspects is None else PASSES
    for K in trial.Ks:
        fit = _fit(V, observed & ~suspects, K, trial, start)
        start = None
        for _ in range(passes if trial.treatment.leave_out else 0):
            W, H, V_hat = _shared_parts(V, fit, observed & ~suspects, trial.treatment)
            found = keep_enough(observed, find_suspects(V, V_hat, observed, observed & ~suspects))
            changed = int((found ^ suspects).sum())
            suspects = found
            fit = _fit(V, observed & ~suspects, K, trial, (W, H))
            if changed <= SETTLED * max(int(suspects.sum()), 1):
                break
        passes = PASSES
        yield K, fit, suspects & observed


def _shared_parts(V: Array, fit: Fit, shown: Mask, treatment: Treatment) -> tuple[Array, Array, Array]:
    """W, H and V_hat without parts that describe one row alone.

    Such a part follows whatever was recorded in its row, defects too. So the row is predicted from the parts
    that it shares with others, and the part is given back to the model, to describe something else.
    """
    alone = leverage(fit.W) >= ALONE
    owners = np.unique(np.argmax(fit.W[alone] * np.linalg.norm(fit.H, axis=1), axis=1))
    shared = np.setdiff1d(np.arange(fit.W.shape[1]), owners)
    if not owners.size or not shared.size or alone.all():
        return fit.W, fit.H, fit.V_hat
    project = partial(transform, lam=treatment.lam, leash=treatment.leash)
    W = fit.W[:, shared]
    H = np.nan_to_num(project(V[~alone], W[~alone], shown[~alone]))
    W[alone] = np.nan_to_num(project(V[alone].T, H.T, shown[alone].T)).T
    start_W = np.repeat(W.mean(axis=1, keepdims=True), fit.W.shape[1], axis=1)
    start_H = np.full_like(fit.H, SMALL * H.mean())
    start_W[:, shared], start_H[shared] = W, H
    return start_W, start_H, W @ H


def bounded(V: Array, V_hat: Array, shown: Mask) -> Array:
    """Predictions no higher than `BOUND` times the largest value of their row that the fit was shown."""
    top = np.where(shown, V, 0).max(axis=1, keepdims=True)
    return np.asarray(np.minimum(V_hat, BOUND * top))


def unpacked(bits: npt.NDArray[np.uint8], shape: tuple[int, ...]) -> Mask:
    """The mask that `numpy.packbits` was given."""
    return np.unpackbits(bits, count=int(np.prod(shape))).reshape(shape).astype(bool)


def _fit(V: Array, observed: Mask, K: int, trial: Trial, start: tuple[Array, Array] | None = None) -> Fit:
    return factorize(
        V, observed, K=K, seed=trial.seed, init=start, max_inner=MAX_SWEEPS, **trial.treatment.options
    )
