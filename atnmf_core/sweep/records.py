"""What a store and a running sweep report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

__all__ = [
    "EngineError",
    "Measures",
    "Outcome",
    "Result",
    "SweepRecord",
    "SweepStatus",
    "Tally",
]

SweepStatus = Literal["running", "queued", "stopped", "finished"]


@dataclass(frozen=True)
class Measures:
    """What is measured of one fit.

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
class Outcome:
    """A finished or failed point of any kind.

    Attributes
    ----------
    identity : the fields of the point, with "version" and, as "data", the hash of the data.
    measures : the fields of what `measure` gave; None where it failed.
    """

    key: str
    identity: dict[str, Any]
    measures: dict[str, Any] | None
    finished: float
    error: str | None


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
    """A named sweep and its progress.

    Attributes
    ----------
    grid : a `Grid`, unless the sweep is of another kind.
    status : "running" while a process works on it; "queued" while it waits for its turn; "finished" when no
        point waits; else "stopped".
    total, done, failed : numbers of points.
    created, started, ended : seconds since 1970; the last run's, None before the first and while it runs.
    pid : of the process that works on it, or last did.
    message : why the last run ended, unless it just finished.
    seconds_left : estimated from the pace of the living runs; None before their first result.
    place : in the queue, from 1 for the one that runs or is next; None where it is not queued.
    reproduces : the table of the paper that it was run for, None for a sweep of the user's own.
    """

    name: str
    grid: Any
    content_hash: str
    created: float
    status: SweepStatus
    total: int
    done: int
    failed: int
    started: float | None
    ended: float | None
    pid: int | None
    message: str | None
    seconds_left: float | None
    place: int | None = None
    reproduces: str | None = None


@dataclass(frozen=True)
class Tally:
    """The progress of a run; what was done before it counts as done."""

    total: int
    done: int
    fresh: int
    seconds: float

    @property
    def seconds_left(self) -> float | None:
        return self.seconds / self.fresh * (self.total - self.done) if self.fresh else None


class EngineError(Exception):
    """A sweep that could not continue, with the reason. What was finished is stored."""
