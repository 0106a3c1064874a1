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

    def __reduce__(self) -> tuple[Any, ...]:
        """All factors as one array: when a run from another process is dropped, its memory goes back to the
        system as a whole. A hundred small arrays would leave as many gaps between those of other runs.
        """
        held: tuple[HasFactors, ...] = (self, *self.frames)
        factors = np.stack([np.concatenate([one.W.ravel(), one.H.ravel()]) for one in held])
        marks = [(frame.iteration, frame.loss) for frame in self.frames]
        return _unpacked, (factors, self.W.shape, self.H.shape, marks, self.history, self.rmse_hidden)


def _unpacked(
    factors: Array,
    W_shape: tuple[int, int],
    H_shape: tuple[int, int],
    marks: list[tuple[int, float]],
    history: dict[str, npt.NDArray[np.float64]],
    rmse_hidden: float,
) -> Run:
    W, H = np.split(factors, [W_shape[0] * W_shape[1]], axis=1)
    (last, *held) = zip(W.reshape(-1, *W_shape), H.reshape(-1, *H_shape), strict=True)
    frames = tuple(Frame(*mark, *one) for mark, one in zip(marks, held, strict=True))
    return Run(*last, history, frames, rmse_hidden)


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
