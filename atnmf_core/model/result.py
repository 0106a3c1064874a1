"""What every solver takes and returns, and what it reports while it runs."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np

from .adversary import optimal_attack
from .problem import Array, Mask, Method, Missing, Problem, Solver, Wide


class HasFactors(Protocol):
    """Anything with factors: a fit, a frame of its film, or a cached run."""

    @property
    def W(self) -> Array: ...

    @property
    def H(self) -> Array: ...


@dataclass(frozen=True)
class Progress:
    """The state of a running fit.

    Attributes
    ----------
    iteration : outer iterations (paper) or sweeps (fast) done.
    loss : the current adversarial loss (for NMF, the squared error).
    seconds : since the fit began.
    share : a lower bound on the share of the work done, from 0 to 1: a fit may converge before its iteration
        limit.
    factors : call it for a copy of the current (W, H).
    """

    iteration: int
    loss: float
    seconds: float
    share: float
    factors: Callable[[], tuple[Array, Array]] = field(repr=False)


FitCallback = Callable[[Progress], bool | None]


@dataclass(frozen=True, eq=False)
class Fit:
    """A factorization V ~ W H and its history.

    Attributes
    ----------
    W, H : nonnegative factors, F x K and K x N.
    history : "squared_error" over observed entries, "adversarial_loss" and "seconds": one value per outer
        iteration (paper) or sweep (fast), the first of them at the start.
    converged : whether the stopping rule was met, rather than the iteration limit or a callback's stop.
    n_iter : steps on W and H: the total of inner iterations (paper) or sweeps (fast).
    seconds : wall time of the fit.
    V : the data as given, not copied.
    observed : which entries counted as observed; None for all.
    leash : the most that the adversary may add to an entry, as a multiple of it; None for no limit.
    brightness : N, of each pixel, where the columns of H sum to one (`unit_sum`); else None.
    """

    W: Array = field(repr=False)
    H: Array = field(repr=False)
    history: dict[str, Wide] = field(repr=False)
    converged: bool
    n_iter: int
    seconds: float
    method: Method
    lam: float | None
    missing: Missing
    solver: Solver
    seed: int
    V: Array = field(repr=False)
    observed: Mask | None = field(repr=False)
    leash: float | None = None
    brightness: Array | None = field(default=None, repr=False)

    @cached_property
    def V_hat(self) -> Array:
        return self.W @ (self.H if self.brightness is None else self.H * self.brightness)

    @cached_property
    def R(self) -> Array:
        """The adversary's best attack R* on this fit; zero where nothing is observed, or without one."""
        if self.lam is None:
            return np.zeros_like(self.V_hat)
        return optimal_attack(self.V, self.V_hat, self.lam, self.observed, self.leash)


@dataclass(frozen=True)
class StoppingRules:
    max_outer: int
    max_inner: int
    tol_inner: float
    tol_outer: float


@dataclass(frozen=True)
class Solution:
    W: Array
    H: Array
    converged: bool
    n_iter: int


class Recorder:
    """Records the history of one run in the data's scale, and asks the callback whether to stop."""

    def __init__(
        self, problem: Problem, callback: FitCallback | None, fit_began: float, done: float, share: float
    ) -> None:
        """`done` is the share of the work finished before this run, and `share` that of this run."""
        self._problem = problem
        self._callback = callback
        self._fit_began = fit_began
        self._done = done
        self._share = share
        self._began = time.perf_counter()
        self._rows: list[tuple[float, float, float]] = []
        self.stopped = False

    def record(self, squared_error: float, loss: float, W: Array, H: Array, share: float) -> bool:
        """Record the state after an iteration, `share` of the run done; True if the run should stop."""
        unit = self._problem.loss_unit
        now = time.perf_counter()
        self._rows.append((squared_error * unit, loss * unit, now - self._began))
        if self._callback is not None:
            progress = Progress(
                iteration=len(self._rows) - 1,
                loss=loss * unit,
                seconds=now - self._fit_began,
                share=self._done + self._share * min(share, 1.0),
                factors=lambda: (W * self._problem.scale, H.copy()),
            )
            self.stopped = bool(self._callback(progress))
        return self.stopped

    def history(self) -> dict[str, Wide]:
        columns = np.array(self._rows, dtype=np.float64).T
        return dict(zip(("squared_error", "adversarial_loss", "seconds"), columns, strict=True))


SolverFunction = Callable[[Problem, Array, Array, StoppingRules, Recorder], Solution]
"""Takes the problem and start factors (which it may overwrite), returns the factors found."""
