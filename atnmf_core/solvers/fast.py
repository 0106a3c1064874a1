"""The solver that cannot oscillate: monotone descent on the exact adversarial loss.

A sweep takes a least-squares step on each factor against the current surrogate, which lies above the loss
and touches it, so the loss cannot rise; then it extrapolates a little in the direction of the last move. The
extrapolated point is accepted only where its loss is no higher than before the sweep; otherwise the plain
step stands. Descent is guaranteed either way.
"""

from __future__ import annotations

import numpy as np

from ..initialisation import rescaled
from ..problem import Array, Factors, Problem
from .interface import Recorder, Solution, StoppingRules
from .steps import improve
from .surrogate import DenseSurrogate, ObservedSurrogate, Surrogate

WINDOW = 5
"""The stopping rule looks at the decrease of the loss over this many sweeps."""
STOP_BELOW = {"held": 0.1, "determined": 1.0, "open": 10.0}
"""The fit ends when that decrease, relative to the loss, is below this multiple of tol_outer.

Where every entry counts, more sweeps do no harm. Where hidden entries are ignored they overfit the observed
ones, and sooner if these are few.
"""
DETERMINED_FROM = 4
"""With this many observed entries per entry of W and H, there is little danger of overfitting."""
ROUNDS = 3
"""Rounds of coordinate descent per step: more fit faster, fewer predict hidden entries better."""
FILL_FROM_K = 12
"""From this many parts on, filling in hidden entries beats a Gram matrix per column in time and in
prediction.
"""
FILL_BELOW_COUNT = 2
"""With fewer than this times K observed entries per row or column, least squares leaves much undetermined,
and predictions drift far from anything sensible; filling in holds them where they are.
"""
SPARSE_BELOW_DENSITY = 0.05
"""Below this observed share, sums over the observed entries alone beat dense products."""
REACH, REACH_GROWTH, REACH_CUT, MAX_REACH = 0.5, 1.1, 0.5, 0.8
"""Extrapolation: how far at first, how that grows after a success and shrinks after a failure, and its
maximum. At 1 nothing damps what the observed entries leave undetermined: predictions drift while the loss
falls.
"""


def solve(problem: Problem, W: Array, H: Array, limits: StoppingRules, recorder: Recorder) -> Solution:
    """Sweep until the loss has almost stopped falling, at most max_inner times."""
    surrogate = _surrogate(problem)
    # From factors of the wrong scale the filled surrogate would converge slowly.
    point = min((W, H), rescaled(problem, W, H), key=lambda factors: surrogate.refresh(*factors)[1])
    squared_error, loss = surrogate.refresh(*point)
    losses = [loss]
    recorder.record(squared_error, loss, *point, share=0.0)
    tolerance = stopping_share(problem, limits)
    previous, reach, sweep, converged = point, 0.0, 0, False
    while not (converged or recorder.stopped or sweep == limits.max_inner):
        sweep += 1
        step = _step(surrogate, *point)
        beyond = _beyond(step, previous, reach)
        squared_error, loss = surrogate.refresh(*beyond)
        if reach and not loss <= losses[-1]:
            beyond, reach = step, reach * REACH_CUT
            squared_error, loss = surrogate.refresh(*step)
        else:
            reach = min(MAX_REACH, reach * REACH_GROWTH) or REACH
        point, previous = beyond, step
        losses.append(loss)
        converged = has_converged(losses, tolerance)
        recorder.record(squared_error, loss, *point, share=sweep / limits.max_inner)
    return Solution(*point, converged=converged, n_iter=sweep)


def _surrogate(problem: Problem) -> Surrogate:
    if problem.mask is None:
        return DenseSurrogate(problem, filled=False)
    density = float(problem.mask.mean())
    undetermined = density * min(problem.V.shape) < FILL_BELOW_COUNT * problem.K
    if density < SPARSE_BELOW_DENSITY and not undetermined:
        return ObservedSurrogate(problem)
    return DenseSurrogate(problem, filled=undetermined or problem.K >= FILL_FROM_K)


def _step(surrogate: Surrogate, W: Array, H: Array) -> Factors:
    """One step on each factor, the longer one first, so that the transposed problem takes the same path."""
    # W is stored column by column throughout, so that both factors are read contiguously.
    W, H, T, D = W.copy(order="F"), H.copy(), surrogate.T, surrogate.D

    def on_H() -> None:
        improve(W, H, T, D, ROUNDS)

    def on_W() -> None:
        improve(H.T, W.T, T.T, None if D is None else D.T, ROUNDS)

    for update in (on_H, on_W) if W.shape[0] <= H.shape[1] else (on_W, on_H):
        update()
    return W, H


def _beyond(step: Factors, previous: Factors, reach: float) -> Factors:
    if reach == 0:
        return step
    W, H = (np.maximum(now + reach * (now - before), 0) for now, before in zip(step, previous, strict=True))
    return W, H


def stopping_share(problem: Problem, limits: StoppingRules) -> float:
    """The relative decrease of the loss below which a fit ends."""
    if problem.mask is None:
        case = "held"
    else:
        unknowns = problem.K * sum(problem.V.shape)
        case = "determined" if problem.mask.sum() >= DETERMINED_FROM * unknowns else "open"
    return STOP_BELOW[case] * limits.tol_outer


def has_converged(losses: list[float], tolerance: float) -> bool:
    """Whether the last `WINDOW` sweeps lowered the loss by less than the share `tolerance`."""
    if losses[-1] == 0:
        return True
    if len(losses) <= WINDOW:
        return False
    return losses[-1 - WINDOW] - losses[-1] < tolerance * losses[-1]
