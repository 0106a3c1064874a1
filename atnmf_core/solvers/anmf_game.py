"""The two players of ANMF, with the attacker's best response substituted.

With the rows of H at unit length and G = H H' + mu I, the attacker's dictionary is

    W~ = (Z H' + mu W) G^-1,        the minimiser of ||Z - W~ H||^2 + mu ||W~ - W||^2,

and the learner's objective, seen as a function of W and H alone, is

    f(W, H) = gamma ||V - W~ H||^2 + (1 - gamma) ||V - W H||^2        over the entries where the loss looks.

The lower level is not masked: Z is known everywhere, and the closed form needs it. For a given H, W~ is
linear in W and f is quadratic in it. In H it is not: with E~ = W~ H - V, E = W H - V (zero where the loss
does not look) and B = gamma E~ H' G^-1,

    half the gradient in W:   mu B + (1 - gamma) E H'
    half the gradient in H:   gamma W~' E~ + (1 - gamma) W' E + B' Z
                              - (B' W~ + W~' B) H + 2 mu diag((W - W~)' B) H

where the last term comes from keeping the rows of H at unit length while W takes up their scale. `anmf`
decides how the players move.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..problem import Array, DictionaryAttack, Problem


@dataclass(frozen=True)
class State:
    """Where the players stand.

    Attributes
    ----------
    W, H : the learner's factors; the rows of H have unit length (a row of zeros stays one).
    W_attacked : W~, F x K, of any sign.
    inverse : G^-1, K x K.
    error, attacked_error : W H - V and W~ H - V, zero where the loss does not look.
    loss : f.
    squared_error : of W H over the observed entries.
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
