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
- By default Z = V/2, mu = 10 and gamma = 1/2: of 84 candidates (seven targets; mu 0.01 to 10; gamma 0.1, 0.5,
  0.9) the nearest to the published tables, within 7 % on the faces and the two cubes. On the synthetic data
  it comes out below NMF where the published ANMF lies above it; no candidate is near the tables on all four.
  What is hidden counts in Z as 0 with missing="zero", as its row's observed mean with "ignore".
- Descent instead of ADMM, which does not guarantee it. For a given H the objective is quadratic in W; in H it
  is not, because W~ depends on H. A sweep takes one step on each: coordinate descent on a quadratic model,
  which for W lies above the objective, and for H is followed only as far as the objective falls. It then
  extrapolates in the direction of the last move where that is no worse, as the fast solver does. The
  objective never rises.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..model.initialisation import rescaled
from ..model.problem import Array, DictionaryAttack, Problem
from ..model.result import Recorder, Solution, StoppingRules
from . import fast
from .steps import descend

# The two players of ANMF, with the attacker's best response substituted.
#
# With the rows of H at unit length and G = H H' + mu I, the attacker's dictionary is
#
#     W~ = (Z H' + mu W) G^-1,        the minimiser of ||Z - W~ H||^2 + mu ||W~ - W||^2,
#
# and the learner's objective, seen as a function of W and H alone, is
#
#     f(W, H) = gamma ||V - W~ H||^2 + (1 - gamma) ||V - W H||^2        over the entries where the loss
# looks.
#
# The lower level is not masked: Z is known everywhere, and the closed form needs it. For a given H, W~ is
# linear in W and f is quadratic in it. In H it is not: with E~ = W~ H - V, E = W H - V (zero where the loss
# does not look) and B = gamma E~ H' G^-1,
#
#     half the gradient in W:   mu B + (1 - gamma) E H'
#     half the gradient in H:   gamma W~' E~ + (1 - gamma) W' E + B' Z
#                               - (B' W~ + W~' B) H + 2 mu diag((W - W~)' B) H
#
# where the last term comes from keeping the rows of H at unit length while W takes up their scale. `anmf`
# decides how the players move.


@dataclass(frozen=True)
class State:
    """Where the players stand.

    W, H : the learner's factors; the rows of H have unit length (a row of zeros stays one).
    W_attacked, inverse : W~, F x K, of any sign, and G^-1, K x K.
    error, attacked_error : W H - V and W~ H - V, zero where the loss does not look.
    squared_error : of W H over the observed entries; the loss is f.
    """

    W: Array
    H: Array
    W_attacked: Array
    inverse: Array
    error: Array
    attacked_error: Array
    loss: float
    squared_error: float


class Game:
    """f and its derivatives for one problem."""

    def __init__(self, problem: Problem, attack: DictionaryAttack) -> None:
        self._V, self._Z = problem.V, attack.Z
        self._mu, self._gamma = attack.mu, attack.gamma
        self._observed = None if problem.observed is None else problem.observed.astype(problem.V.dtype)
        self._mask = None if problem.mask is None else self._observed

    def at(self, W: Array, H: Array) -> State:
        """The state (W, H), with the scale of H's rows moved into W."""
        W, H = _with_unit_rows(W, H)
        # K x K, and close to singular where mu is small: in double precision whatever the working dtype.
        G = (H @ H.T).astype(np.float64)
        G[np.diag_indices_from(G)] += self._mu
        inverse = np.linalg.inv(G).astype(W.dtype)
        W_attacked = (self._Z @ H.T + self._mu * W) @ inverse
        error, attacked_error = self._error(W, H), self._error(W_attacked, H)
        loss = self._gamma * _square(attacked_error) + (1 - self._gamma) * _square(error)
        squared_error = _square(error if self._observed is None else error * self._observed)
        return State(W, H, W_attacked, inverse, error, attacked_error, loss, squared_error)

    def half_gradient_W(self, state: State) -> Array:
        B = self._pull(state)
        return self._mu * B + (1 - self._gamma) * (state.error @ state.H.T)

    def half_gradient_H(self, state: State) -> Array:
        B, W_attacked = self._pull(state), state.W_attacked
        mixed = B.T @ W_attacked
        turn = mixed + mixed.T
        turn[np.diag_indices_from(turn)] -= 2 * self._mu * np.einsum("fk,fk->k", state.W - W_attacked, B)
        gradient: Array = self._gamma * (W_attacked.T @ state.attacked_error)
        gradient += (1 - self._gamma) * (state.W.T @ state.error)
        gradient += B.T @ self._Z
        gradient -= turn @ state.H
        return gradient

    def curvature_W(self, state: State) -> Array:
        """K x K: f in a row of W is nowhere more curved than twice this."""
        S = state.inverse @ state.H
        return self._gamma * self._mu**2 * (S @ S.T) + (1 - self._gamma) * (state.H @ state.H.T)

    def curvature_H(self, state: State) -> Array:
        """K x K: half the second derivative of f in a column of H if W~ stayed as it is."""
        W, W_attacked = state.W, state.W_attacked
        return self._gamma * (W_attacked.T @ W_attacked) + (1 - self._gamma) * (W.T @ W)

    def _pull(self, state: State) -> Array:
        """B: how the learner's loss would change with the right side of the attacker's equation."""
        return self._gamma * (state.attacked_error @ state.H.T) @ state.inverse

    def _error(self, W: Array, H: Array) -> Array:
        error = W @ H
        error -= self._V
        if self._mask is not None:
            error *= self._mask
        return error


def _with_unit_rows(W: Array, H: Array) -> tuple[Array, Array]:
    length = np.linalg.norm(H, axis=1)
    length[length == 0] = 1
    return W * length, H / length[:, None]


def _square(A: Array) -> float:
    return float(np.vdot(A, A))


DESCENT_ROUNDS = 3  # Rounds of coordinate descent per step
RIDGE = 1e-6
"""Added to the curvature, as a share of its diagonal, so that a step on H is a direction of descent."""
SUFFICIENT = 1e-4  # A step on H must gain at least this share of what the slope predicts
SHORTEST = 2.0**-20  # A step on H that would have to be cut to this share of its length is not taken
REACH, REACH_GROWTH, REACH_CUT, MAX_REACH = 0.5, 1.1, 0.5, 0.99
"""Extrapolation: how far at first, its growth after a success, its cut after a failure, its maximum."""


def solve(problem: Problem, W: Array, H: Array, limits: StoppingRules, recorder: Recorder) -> Solution:
    """Sweep until the objective has almost stopped falling, at most max_inner times; NMF for gamma = 0."""
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
    descend(curvature, curvature @ W - game.half_gradient_W(state).T, W, DESCENT_ROUNDS)
    moved = game.at(W.T, state.H)
    # If it does not, only rounding errors are left.
    return moved if moved.loss <= state.loss else state


def _on_H(game: Game, state: State) -> State:
    """A step on H: along the model's minimiser, halved until the objective falls enough."""
    gradient, curvature = game.half_gradient_H(state), game.curvature_H(state)
    curvature[np.diag_indices_from(curvature)] *= 1 + RIDGE
    H = state.H.copy()
    descend(curvature, curvature @ H - gradient, H, DESCENT_ROUNDS)
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
    """The state further in the direction of the last move, if no worse; and how far to try next time."""
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
