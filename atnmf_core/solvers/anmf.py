"""ANMF."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ..initialisation import rescaled
from ..problem import Problem
from . import fast
from .anmf_game import Game, Point
from .interface import Limits, Outcome, Recorder
from .steps import descend

__all__ = ["LABEL", "NOTE", "solve"]

Array = npt.NDArray[np.floating]

LABEL = "ANMF (reconstruction)"
NOTE = (
    "The code of ANMF (Luo, Zhang, Huang, ICML 2020) is not public and its default target and weights are not"
    " known here, so this is the method as the AT-NMF paper describes it, with those defaults chosen to come"
    " nearest to the published numbers."
)
"""Why it is called so, in one sentence, for wherever it appears."""

ROUNDS = 3
RIDGE = 1e-6
"""Added to the curvature, as a share of its diagonal, so that a step on H is a direction of descent."""
SUFFICIENT = 1e-4
"""A step on H must gain at least this share of what its slope promises."""
SHORTEST = 2.0**-20
"""A step on H cut down to this share of its length is not taken."""
REACH, REACH_GROWTH, REACH_CUT, REACH_MOST = 0.5, 1.1, 0.5, 0.99


def solve(problem: Problem, W: Array, H: Array, limits: Limits, recorder: Recorder) -> Outcome:
    assert problem.attack is not None
    if problem.attack.gamma == 0:
        return fast.solve(replace(problem, attack=None), W, H, limits, recorder)
    game = Game(problem, problem.attack)
    point = min((game.at(W, H), game.at(*rescaled(problem, W, H))), key=lambda point: point.loss)
    losses = [point.loss]
    recorder.record(point.squared_error, point.loss, point.W, point.H, share=0.0)
    previous, reach, sweep, converged = point, 0.0, 0, False
    while not (converged or recorder.stopped or sweep == limits.max_inner):
        sweep += 1
        step = _on_H(game, _on_W(game, point))
        point, reach = _beyond(game, step, previous, reach, losses[-1])
        previous = step
        losses.append(point.loss)
        converged = fast.has_converged(losses, fast.STOP_BELOW[problem.missing] * limits.tol_outer)
        recorder.record(point.squared_error, point.loss, point.W, point.H, share=sweep / limits.max_inner)
    return Outcome(point.W, point.H, converged=converged, n_iter=sweep)


def _on_W(game: Game, point: Point) -> Point:
    curvature = game.curvature_W(point)
    W = np.ascontiguousarray(point.W.T)
    descend(curvature, curvature @ W - game.half_gradient_W(point).T, W, ROUNDS)
    moved = game.at(W.T, point.H)
    # Falls short of descent by rounding alone.
    return moved if moved.loss <= point.loss else point


def _on_H(game: Game, point: Point) -> Point:
    gradient, curvature = game.half_gradient_H(point), game.curvature_H(point)
    curvature[np.diag_indices_from(curvature)] *= 1 + RIDGE
    H = point.H.copy()
    descend(curvature, curvature @ H - gradient, H, ROUNDS)
    direction = H - point.H
    slope = 2 * float(np.vdot(gradient, direction))
    length = 1.0
    while length > SHORTEST:
        moved = game.at(point.W, point.H + length * direction)
        if moved.loss <= point.loss + SUFFICIENT * length * slope:
            return moved
        length /= 2
    return point


def _beyond(game: Game, step: Point, previous: Point, reach: float, loss: float) -> tuple[Point, float]:
    if reach == 0:
        return step, REACH
    W, H = (
        np.maximum(now + reach * (now - before), 0)
        for now, before in ((step.W, previous.W), (step.H, previous.H))
    )
    beyond = game.at(W, H)
    if beyond.loss <= loss:
        return beyond, min(REACH_MOST, reach * REACH_GROWTH)
    return step, reach * REACH_CUT
