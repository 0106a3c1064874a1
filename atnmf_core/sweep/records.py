"""What a store and a running sweep tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .grid import Grid

__all__ = ["EngineError", "Measures", "Result", "SweepRecord", "SweepStatus", "Tally"]

SweepStatus = Literal["running", "queued", "stopped", "finished"]


@dataclass(frozen=True)
class Measures:
    """What is kept of one fit.

    Attributes
    ----------
    rmse_hidden, rmse_observed : RMSE over the hidden and over the observed entries.
    squared_error, adversarial_loss : the last values of the fit's history.
    n_iter, converged, seconds : as in `Fit`.
    """

    rmse_hidden: float
    rmse_observed: float
    squared_error: float
    adversarial_loss: float
    n_iter: int
    converged: bool
    seconds: float


@dataclass(frozen=True)
class Result:
    """A finished or failed point: its parameters, and what was measured or the message of the error."""

    key: str
    dataset: str
    version: str
    alpha: float
    K: int
    method: str
    lam: float | None
    missing: str
    solver: str
    start: int
    dtype: str
    finished: float
    measures: Measures | None
    error: str | None


@dataclass(frozen=True)
class SweepRecord:
    """A named sweep and how far it is.

    Attributes
    ----------
    status : "running" while a process works on it; "queued" while it waits for its turn; "finished" when no
        point waits; else "stopped".
    total, done, failed : numbers of points.
    created, started, ended : seconds since 1970; the last run's, None before the first and while it runs.
    pid, host : of the process that works on it, or last did.
    message : why the last run ended, where it did not just finish.
    seconds_left : a guess from the pace of the points finished since the run began; None where there is none.
    place : in the queue, from 1, which is the one that runs or is the next to; None where it is not in it.
    """

    name: str
    grid: Grid
    content_hash: str
    created: float
    status: SweepStatus
    total: int
    done: int
    failed: int
    started: float | None
    ended: float | None
    pid: int | None
    host: str | None
    message: str | None
    seconds_left: float | None
    place: int | None = None


@dataclass(frozen=True)
class Tally:
    """How far a sweep is; what was done before this run counts as done."""

    total: int
    done: int
    fresh: int
    seconds: float

    @property
    def seconds_left(self) -> float | None:
        return self.seconds / self.fresh * (self.total - self.done) if self.fresh else None


class EngineError(Exception):
    """A sweep that could not go on, with the reason. What was finished is kept."""
