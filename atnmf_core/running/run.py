"""Fits as tasks for another process: a whole run with its film, or its error alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..factorization import factorize
from ..metrics import rmse
from ..problem import Array, Mask
from ..result import Fit, HasFactors, Progress
from .film import Film, Frame
from .task_process import Report

__all__ = ["Run", "RunProgress", "fit_run", "hidden_rmse"]


@dataclass(frozen=True, eq=False)
class Run:
    """What a page shows of a finished fit. It holds neither V nor the mask, so that caching it keeps no data
    alive. Sessions share it, so do not modify it.
    """

    W: Array
    H: Array
    history: dict[str, npt.NDArray[np.float64]]
    frames: tuple[Frame, ...]
    rmse_hidden: float

    @property
    def nbytes(self) -> int:
        held: tuple[HasFactors, ...] = (self, *self.frames)
        factors = sum(one.W.nbytes + one.H.nbytes for one in held)
        return factors + sum(values.nbytes for values in self.history.values())


@dataclass(frozen=True, eq=False)
class RunProgress:
    """The progress of a run: the latest frame, a lower bound on the share of the work done, and the seconds
    so far.
    """

    frame: Frame
    share: float
    seconds: float


def fit_run(report: Report, V: Array, observed: Mask, **parameters: Any) -> Run:
    """`factorize(V, observed, **parameters)` with its film; reports `RunProgress`."""
    film = Film()

    def follow(progress: Progress) -> None:
        film(progress)
        report(RunProgress(film.frames[-1], progress.share, progress.seconds))

    fit = factorize(V, observed, callback=follow, **parameters)
    return Run(fit.W, fit.H, fit.history, film.frames, _hidden_rmse(fit, V, observed))


def hidden_rmse(report: Report, V: Array, observed: Mask, **parameters: Any) -> float:
    """The error over hidden entries of `factorize(V, observed, **parameters)` alone."""
    return _hidden_rmse(factorize(V, observed, **parameters), V, observed)


def _hidden_rmse(fit: Fit, V: Array, observed: Mask) -> float:
    return rmse(V, fit.W @ fit.H, ~observed)
