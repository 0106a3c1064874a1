"""The game between adversary and learner, half a step at a time.

Both players look at the same number, ||V + R - WH||^2 - lam ||R||^2. The adversary raises it by its best R;
the learner lowers it by changing W and H. The learner moves as one of the solvers does:
Algorithm 1 of the paper, or exact descent.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np

from ..adversary import attack_objective, optimal_attack
from ..factorization import factorize
from ..problem import Array, Factors, Solver
from ..result import Progress

EXAMPLE: Array = np.array(
    [[8.0, 6.0, 1.0, 0.0], [6.0, 5.0, 2.0, 1.0], [1.0, 2.0, 7.0, 5.0], [0.0, 1.0, 6.0, 6.0]]
)
"""Nearly two blocks, which two parts fit well but not exactly."""
EXAMPLE.flags.writeable = False
ROUNDING = 1e-12
"""A smaller relative change of the loss counts as none."""


@dataclass(frozen=True, eq=False)
class HalfStep:
    """The board after one player's move.

    Attributes
    ----------
    actor : who has moved; "start" before the first move.
    round : counted from 1; 0 at the start.
    R : what the adversary adds; all zero before its first move.
    U : V + R, what the learner of Algorithm 1 sees.
    value : ||V + R - WH||^2 - lam ||R||^2, which the adversary raises and the learner lowers.
    """

    actor: Literal["start", "adversary", "learner"]
    round: int
    W: Array
    H: Array
    R: Array
    U: Array
    value: float

    @cached_property
    def V_hat(self) -> Array:
        """The prediction W H."""
        return self.W @ self.H


@dataclass(frozen=True, eq=False)
class PlayedGame:
    """A record of play. It ends with the adversary's answer to the learner's last move."""

    V: Array
    lam: float
    solver: Solver
    half_steps: tuple[HalfStep, ...]

    @cached_property
    def losses(self) -> tuple[float, ...]:
        """The value after each move of the adversary: the exact adversarial loss of the W and H then."""
        return tuple(step.value for step in self.half_steps if step.actor == "adversary")

    @property
    def rises(self) -> int:
        """The number of rounds whose loss, after the adversary's answer, is higher than before."""
        return sum(later > (1 + ROUNDING) * earlier for earlier, later in pairwise(self.losses))


def play(V: Array, lam: float, *, K: int, solver: Solver, seed: int = 0, rounds: int = 12) -> PlayedGame:
    """Play the game on V; both solvers start from the same W and H, those after Algorithm 1's warm-up.

    Examples
    --------
    >>> play(EXAMPLE, 2.0, K=2, solver="fast").rises
    0
    >>> play(EXAMPLE, 2.0, K=2, solver="paper").rises > 6
    True
    """
    boards = _boards(V, lam, K, seed, rounds if solver == "paper" else 0)
    if solver == "fast":
        boards += _boards(V, lam, K, seed, rounds, init=boards[0])[1:]
    half_steps = [_half_step("start", 0, V, np.zeros_like(V), boards[0], lam)]
    for number, (W, H) in enumerate(boards, start=1):
        R = optimal_attack(V, W @ H, lam)
        half_steps.append(_half_step("adversary", number, V, R, (W, H), lam))
        if number < len(boards):
            half_steps.append(_half_step("learner", number, V, R, boards[number], lam))
    return PlayedGame(V, lam, solver, tuple(half_steps))


def _boards(
    V: Array, lam: float, K: int, seed: int, rounds: int, init: Factors | None = None
) -> list[Factors]:
    """W and H at the start and after every round: of the exact solver if given a start, else of the
    paper's.
    """
    boards: list[Factors] = []

    def keep(progress: Progress) -> bool:
        boards.append(progress.factors())
        return len(boards) > rounds

    solver: Solver = "paper" if init is None else "fast"
    factorize(
        V,
        K=K,
        method="atnmf",
        lam=lam,
        solver=solver,
        seed=seed,
        init=init,
        tol_outer=0.0,
        dtype="float64",
        callback=keep,
    )
    return boards


def _half_step(
    actor: Literal["start", "adversary", "learner"],
    number: int,
    V: Array,
    R: Array,
    factors: Factors,
    lam: float,
) -> HalfStep:
    W, H = factors
    return HalfStep(actor, number, W, H, R, V + R, attack_objective(V, R, W @ H, lam))
