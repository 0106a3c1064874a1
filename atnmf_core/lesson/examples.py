"""The game between adversary and learner, half a step at a time, about ||V + R - WH||^2 - lam ||R||^2: the
adversary raises it by its best R; the learner, as Algorithm 1 or exact descent would, lowers it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, takewhile
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..model.adversary import attack_objective, optimal_attack
from ..model.metrics import rmse
from ..model.problem import Array, Factors, InputError, Missing, Solver, Wide
from ..model.result import Progress
from ..solvers.factorization import factorize


@dataclass(frozen=True)
class Verdict:
    """A guess beside the truth.

    at_guess, excess : the error at the guess, read off the curve, and by what share it is above the best.
    flat_from : from this lambda on all errors are within one deviation of the best: no adversary helps.
    hit : whether the guess is as good as the best, as far as the measurement can tell.
    """

    best_lam: float
    best: float
    at_guess: float
    excess: float
    flat_from: float | None
    hit: bool


def judge(guess: float, errors: Mapping[float, float], deviations: Mapping[float, float]) -> Verdict:
    """Compare a guessed lambda with measured errors (mean and standard deviation by lambda).

    >>> verdict = judge(3.0, {1.5: 0.3, 2.0: 0.1, 5.0: 0.2}, {1.5: 0.01, 2.0: 0.02, 5.0: 0.01})
    >>> verdict.best_lam, verdict.hit
    (2.0, False)
    >>> round(verdict.at_guess, 3)
    0.15
    """
    lams = sorted(errors)
    best_lam = min(lams, key=lambda lam: errors[lam])
    best = errors[best_lam]
    strength = np.log(np.array(lams) - 1)
    at_guess = float(np.interp(np.log(guess - 1), strength, [errors[lam] for lam in lams]))
    limit = best + deviations[best_lam]
    excess, flat_from = at_guess / best - 1, _flat_from(lams, errors, limit)
    return Verdict(best_lam, best, at_guess, excess, flat_from, hit=at_guess <= limit)


def _flat_from(lams: list[float], errors: Mapping[float, float], limit: float) -> float | None:
    tail = list(takewhile(lambda lam: errors[lam] <= limit, reversed(lams)))
    return tail[-1] if tail else None


# The smallest factorization there is: how much of one known part is in a short series?
#
# For a given part w, the weight h that brings h w closest to the series v solves a problem in one unknown,
#
#     minimise over h   sum_i (v_i - h w_i)^2,
#
# and setting its derivative to zero gives a fraction that can be computed by hand. What the sum runs over
# is the whole difference between ignoring hidden entries and filling them with zeros.

PART = (1.0, 2.0, 3.0, 2.0, 1.0)
SERIES = (2.0, 4.0, 6.0, 4.0, 2.0)  # Twice the part


@dataclass(frozen=True)
class Weighing:
    """A weight as the fraction overlap/size: the sums of w_i v_i and of w_i^2."""

    overlap: float
    size: float

    @property
    def weight(self) -> float:
        return self.overlap / self.size

    def prediction(self, part: npt.ArrayLike) -> Wide:
        return self.weight * np.asarray(part, dtype=float)


def weigh(part: npt.ArrayLike, series: npt.ArrayLike, observed: npt.ArrayLike, missing: Missing) -> Weighing:
    """The weight of a part that fits a series best in the least-squares sense.

    Hidden entries are left out of the sum ("ignore"), or count in it as zeros ("zero").

    >>> seen = [True, True, False, True, True]
    >>> weigh(PART, SERIES, seen, "ignore")
    Weighing(overlap=20.0, size=10.0)
    >>> weigh(PART, SERIES, seen, "zero")
    Weighing(overlap=20.0, size=19.0)
    """
    w, v, seen = np.asarray(part, float), np.asarray(series, float), np.asarray(observed, bool)
    size = float((w**2)[seen].sum() if missing == "ignore" else (w**2).sum())
    if size == 0:
        raise InputError("observed: nothing of the part is seen, so its weight cannot be told.")
    return Weighing(float((w * v)[seen].sum()), size)


@dataclass(frozen=True, eq=False)
class BuildUp:
    """A column of W H as a growing sum, the heaviest part first: parts (F x K, largest value 1), their
    weights, sums of the first n (F x (K + 1)), and each sum's RMSE against the data.
    """

    parts: Array
    weights: Array
    sums: Array
    errors: tuple[float, ...]


def build_up(v: Array, W: Array, h: Array) -> BuildUp:
    """Add up W h part by part, and measure how close it comes to v.

    Factors common to a part and its weight are free: here each weight is that of the part's brightest pixel.

    >>> steps = build_up(np.array([3.0, 1.0]), np.array([[2.0, 0.0], [0.0, 0.5]]), np.array([1.5, 2.0]))
    >>> steps.weights
    array([3., 1.])
    >>> steps.errors[-1]
    0.0
    """
    tops = W.max(axis=0)
    weights = h * tops
    order = np.argsort(-weights, kind="stable")
    parts = (W / np.where(tops > 0, tops, 1))[:, order]
    weights = weights[order]
    sums = np.concatenate([np.zeros((len(v), 1)), np.cumsum(parts * weights, axis=1)], axis=1)
    return BuildUp(parts, weights, sums, tuple(rmse(v, one) for one in sums.T))


EXAMPLE: Array = np.array([[8, 6, 1, 0], [6, 5, 2, 1], [1, 2, 7, 5], [0, 1, 6, 6]], dtype=float)
"""Nearly two blocks, which two parts fit well but not exactly."""
EXAMPLE.flags.writeable = False
ROUNDING = 1e-12  # A smaller relative change of the loss counts as none


@dataclass(frozen=True, eq=False)
class HalfStep:
    """The board after a move: R, U = V + R, and ||V + R - WH||^2 - lam ||R||^2; rounds count from 1."""

    actor: Literal["start", "adversary", "learner"]
    round: int
    W: Array
    H: Array
    R: Array
    U: Array
    value: float

    @cached_property
    def V_hat(self) -> Array:
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
        return sum(later > (1 + ROUNDING) * earlier for earlier, later in pairwise(self.losses))


def play(V: Array, lam: float, *, K: int, solver: Solver, seed: int = 0, rounds: int = 12) -> PlayedGame:
    """Play the game on V; both solvers start from the same W and H, those after Algorithm 1's warm-up.

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
    """W and H at the start and after each round: of the exact solver from a start, or of the paper's."""
    boards: list[Factors] = []

    def keep(progress: Progress) -> bool:
        boards.append(progress.factors())
        return len(boards) > rounds

    solver: Solver = "paper" if init is None else "fast"
    factorize(
        V, K=K, method="atnmf", lam=lam, solver=solver, seed=seed, init=init, tol_outer=0.0,
        dtype="float64", callback=keep,
    )  # fmt: skip
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
