"""The interface between `factorize` and the algorithms."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..problem import Array, Problem
from ..result import FitCallback, Progress


@dataclass(frozen=True)
class StoppingRules:
    """When to stop; see `factorize`."""

    max_outer: int
    max_inner: int
    tol_inner: float
    tol_outer: float


@dataclass(frozen=True)
class Solution:
    """What an algorithm found, in the problem's scale."""

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
        """Record the state after an iteration, with `share` of this run's work done; True if the run should
        stop.
        """
        square = self._problem.scale**2
        now = time.perf_counter()
        self._rows.append((squared_error * square, loss * square, now - self._began))
        if self._callback is not None:
            progress = Progress(
                iteration=len(self._rows) - 1,
                loss=loss * square,
                seconds=now - self._fit_began,
                share=self._done + self._share * min(share, 1.0),
                factors=lambda: (W * self._problem.scale, H.copy()),
            )
            self.stopped = bool(self._callback(progress))
        return self.stopped

    def history(self) -> dict[str, npt.NDArray[np.float64]]:
        columns = np.array(self._rows, dtype=np.float64).T
        return dict(zip(("squared_error", "adversarial_loss", "seconds"), columns, strict=True))


SolverFunction = Callable[[Problem, Array, Array, StoppingRules, Recorder], Solution]
"""Takes the problem and start factors (which it may overwrite), returns the factors found."""
