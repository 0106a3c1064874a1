"""ANMF (reconstruction): NMF whose dictionary is attacked towards a target.

An attacker, who sees W and H, replaces the dictionary by the W~ whose predictions come nearest to a target Z,
at a price mu for moving it; the learner, who knows this, weighs the attacked error by gamma:

    minimise over W, H >= 0     gamma ||V - W~ H||^2 + (1 - gamma) ||V - W H||^2
    where                       W~ = argmin ||Z - W~ H||^2 + mu ||W~ - W||^2

What comes from a source:

- Luo, Zhang and Huang ("Adversarial Nonnegative Matrix Factorization", ICML 2020, PMLR 119; its abstract and
  the slides of the talk): a problem of two levels, solved by ADMM; an attacker with a target of its own for
  every instance, who wants predictions on what it modified to be near it; a learner who faces instances with
  and without the modification.
- Cai, Tan and Fevotte (the AT-NMF paper): W alone is modified, W~ H approaches Z, the learner minimises a
  linear combination of the two errors above; their tables were made with the default Z and weights, untuned.
- Tong, Yu, Alfeld and Vorobeychik ("Adversarial Regression with Multiple Learners", ICML 2018; the slides of
  the talk) set up regression in the same words, the two weights summing to one.

Neither the code of ANMF nor its defaults could be found.

What is our choice:

- The price of the attack is quadratic, mu ||W~ - W||^2, which gives W~ in closed form.
- It is measured with the rows of H at unit length, W taking up their scale. A product W H does not fix how
  its scale is shared, but the price depends on it: with H small and W large the attack moves nothing, and
  without this rule the learner would escape the attacker that way and end at plain NMF. With it, mu says what
  it costs to move a part's share of the data, whatever the size of V.
- Hidden entries are left out of the learner's errors with missing="ignore" and are zeros with "zero". The
  attacker is not masked in either: its target is known everywhere.
- By default Z = V/2, mu = 10 and gamma = 1/2: of the 84 candidates in `reference/anmf_study.csv` the nearest
  to the published tables, within 7 % on the faces and the two cubes. On the synthetic data it comes out below
  NMF where the published ANMF lies above it; no candidate is near the tables on all four. What is hidden
  counts in Z as 0 with missing="zero", as the mean of its row's observed entries with "ignore".
- Descent instead of ADMM, which does not guarantee it. For a given H the objective is quadratic in W; in H it
  is not, because W~ depends on H. A sweep takes one step on each: coordinate descent on a quadratic model,
  which for W lies above the objective, and for H is followed only as far as the objective falls. It then
  extrapolates in the direction of the last move where that is no worse, as the fast solver does. The
  objective never rises.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..initialisation import rescaled
from ..problem import Array, Problem
from . import fast
from .anmf_game import Game, State
from .interface import Recorder, Solution, StoppingRules
from .steps import descend

ROUNDS = 3
"""Rounds of coordinate descent per step."""
RIDGE = 1e-6
"""Added to the curvature, as a share of its diagonal, so that a step on H is a direction of descent."""
SUFFICIENT = 1e-4
"""A step on H must gain at least this share of what the slope predicts."""
SHORTEST = 2.0**-20
"""A step on H that would have to be cut to this share of its length is not taken."""
REACH, REACH_GROWTH, REACH_CUT, MAX_REACH = 0.5, 1.1, 0.5, 0.99
"""Extrapolation: how far at first, how that grows after a success and shrinks after a failure, and its
maximum.
"""


def solve(problem: Problem, W: Array, H: Array, limits: StoppingRules, recorder: Recorder) -> Solution:
    """Sweep until the objective has almost stopped falling, at most max_inner times.

    With gamma = 0 this is NMF, which the fast solver solves.
    """
    assert problem.attack is not None
    if problem.attack.gamma == 0:
        return fast.solve(replace(problem, attack=None), W, H, limits, recorder)
    game = Game(problem, problem.attack)
    state = min((game.at(W, H), game.at(*rescaled(problem, W, H))), key=lambda state: state.loss)
    losses = [state.loss]
    recorder.record(state.squared_error, state.loss, state.W, state.H, share=0.0)
    tolerance = fast.stopping_share(problem, limits)
    previous, reach, sweep, converged = state, 0.0, 0, False
    while not (converged or recorder.stopped or sweep == limits.max_inner):
        sweep += 1
        step = _on_H(game, _on_W(game, state))
        state, reach = _beyond(game, step, previous, reach, losses[-1])
        previous = step
        losses.append(state.loss)
        converged = fast.has_converged(losses, tolerance)
        recorder.record(state.squared_error, state.loss, state.W, state.H, share=sweep / limits.max_inner)
    return Solution(state.W, state.H, converged=converged, n_iter=sweep)


def _on_W(game: Game, state: State) -> State:
    """A step on W: the model lies above the objective, so the objective falls."""
    curvature = game.curvature_W(state)
    W = np.ascontiguousarray(state.W.T)
    descend(curvature, curvature @ W - game.half_gradient_W(state).T, W, ROUNDS)
    moved = game.at(W.T, state.H)
    # If it does not, only rounding errors are left.
    return moved if moved.loss <= state.loss else state


def _on_H(game: Game, state: State) -> State:
    """A step on H: along the model's minimiser, halved until the objective falls enough."""
    gradient, curvature = game.half_gradient_H(state), game.curvature_H(state)
    curvature[np.diag_indices_from(curvature)] *= 1 + RIDGE
    H = state.H.copy()
    descend(curvature, curvature @ H - gradient, H, ROUNDS)
    direction = H - state.H
    # Never positive but for rounding.
    slope = min(2 * float(np.vdot(gradient, direction)), 0.0)
    length = 1.0
    while length > SHORTEST:
        moved = game.at(state.W, state.H + length * direction)
        if moved.loss <= state.loss + SUFFICIENT * length * slope:
            return moved
        length /= 2
    return state


def _beyond(game: Game, step: State, previous: State, reach: float, loss: float) -> tuple[State, float]:
    """The state further in the direction of the last move, if it is no worse; and how far to try next
    time.
    """
    if reach == 0:
        return step, REACH
    W, H = (
        np.maximum(now + reach * (now - before), 0)
        for now, before in ((step.W, previous.W), (step.H, previous.H))
    )
    beyond = game.at(W, H)
    if beyond.loss <= loss:
        return beyond, min(MAX_REACH, reach * REACH_GROWTH)
    return step, reach * REACH_CUT
