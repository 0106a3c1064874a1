"""Fits as tasks for another process: a whole run with its film, or its error alone."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..model.initialisation import PURE_PIXEL_ROUNDS, sample_size
from ..model.metrics import rmse
from ..model.problem import Array, Mask, Missing, Shape, Solver, Wide, check_count
from ..model.result import Fit, HasFactors, Progress
from ..solvers.factorization import factorize
from .processes import Report


def rough_duration(seconds: float) -> str:
    """Roughly, in the one unit that matters.

    >>> [rough_duration(seconds) for seconds in (0.2, 7.4, 95, 3 * 3600 + 120, 200_000)]
    ['a moment', '7 s', '2 min', '3.0 h', '2.3 days']
    """
    if seconds < 1:
        return "a moment"
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 36 * 3600 else f"{seconds / 86400:.1f} days"


def beside_others(seconds: float, workers: int) -> float:
    """How long what takes `seconds` on so many idle cores takes beside what the machine does now."""
    try:
        busy, cores = os.getloadavg()[0], os.cpu_count() or 1
    except (AttributeError, OSError):
        return seconds  # Windows does not count its load
    return seconds * max(1.0, (busy + workers) / cores)


# Rough cost of a fit: enough to choose between solving at once and on request.


# Fitted to CPU seconds, one BLAS thread, on the bundled faces, CBCL, Moffett and the simulated scene.
_SWEEPS = 36
_PER_PART, _PER_ENTRY, _PER_PRODUCT, _PER_PAIR = 3e-5, 1.2e-9, 2.2e-10, 3e-10
_PAIRS_BELOW_K = 20
# Peak memory of a fit's process, measured on the simulated scene of 307 x 307 pixels.
_BYTES, _BYTES_PER_ENTRY = 50_000_000, 34
_PER_LOOK, _PER_PLACE, _PER_INVERSE, _PER_PAIR_OF_PARTS = 8e-8, 2e-6, 1e-9, 1e-10
_UNIT_SUM_SWEEPS, _LAST_QUADRATICS, _PER_QUADRATIC = 40, 10, 4e-7
_INNER_ITERATIONS, _PER_INNER, _PER_INNER_PRODUCT = 70_000, 1.5e-4, 2e-10


def expected_seconds(
    shape: Shape,
    K: int,
    *,
    solver: Solver = "fast",
    missing: Missing = "ignore",
    start: str = "random",
    unit_sum: bool = False,
) -> float:
    """Seconds of one fit of an F x N matrix on a current machine; of "paper", without an early stop."""
    if unit_sum:
        sample = min(sample_size(K), shape[1])
        sweeps = _UNIT_SUM_SWEEPS * (sample * (_PER_QUADRATIC * K**2 + 8 * _PER_ENTRY * shape[0]))
        return 2 * _seconds_of_start(shape, K) + sweeps + _LAST_QUADRATICS * _PER_QUADRATIC * K**2 * shape[1]
    if start == "pure-pixels":
        return _seconds_of_start(shape, K) + expected_seconds(shape, K, solver=solver, missing=missing)
    entries = shape[0] * shape[1]
    if solver == "paper":
        products = entries * K * (1.5 if missing == "ignore" else 1.0)
        return _INNER_ITERATIONS * (_PER_INNER + _PER_INNER_PRODUCT * products)
    # A Gram matrix per column for few parts; for more, hidden entries are filled in and one serves all.
    pairs = K * (K + 1) / 2 if missing == "ignore" and K < _PAIRS_BELOW_K else 0
    per_entry = _PER_ENTRY + _PER_PRODUCT * K + _PER_PAIR * pairs
    return _SWEEPS * (_PER_PART * K + per_entry * entries)


def _seconds_of_start(shape: Shape, K: int) -> float:
    """A K x K inverse for each pixel of the sample in each round, then one for every pixel."""
    pixels = PURE_PIXEL_ROUNDS * min(sample_size(K), shape[1]) + shape[1]
    per_pixel = _PER_PLACE + _PER_INVERSE * K**3 + _PER_PAIR_OF_PARTS * shape[0] * K**2
    return _PER_LOOK * shape[0] * shape[1] + per_pixel * pixels


def expected_bytes(shape: Shape) -> int:
    """Memory that one fit of an F x N matrix takes in a process of its own."""
    return _BYTES + _BYTES_PER_ENTRY * shape[0] * shape[1]


@dataclass(frozen=True, eq=False)
class Frame:
    iteration: int
    loss: float
    W: Array
    H: Array


class Film:
    """A callback for `factorize` that records at most `most` frames, evenly spread however long the run is.

    Every iteration is recorded at first; whenever there are too many, two of three are dropped and from then
    on only every third, ninth ... is recorded. The strides are odd because Algorithm 1 oscillates from one
    iteration to the next: frames an even number apart would all show the same side. The last frame is always
    the latest state.

    >>> from atnmf_core import factorize
    >>> film = Film(most=6)
    >>> fit = factorize([[1.0, 3.0], [2.0, 6.0], [3.0, 9.0]], K=1, max_inner=13, tol_outer=0, callback=film)
    >>> [frame.iteration for frame in film.frames]
    [0, 3, 6, 9, 12, 13]
    """

    def __init__(self, most: int = 36, most_bytes: int = 24_000_000) -> None:
        self._most = max(2, check_count("most", most, least=2))
        self._most_bytes = most_bytes
        self._kept: list[Frame] = []
        self._latest: Frame | None = None
        self._stride = 1

    def __call__(self, progress: Progress) -> None:
        W, H = progress.factors()
        frame = Frame(progress.iteration, progress.loss, W, H)
        self._latest = frame
        if frame.iteration % self._stride:
            return
        self._kept.append(frame)
        room = min(self._most, max(2, self._most_bytes // (W.nbytes + H.nbytes)))
        # Leave room for the latest frame.
        while len(self._kept) >= room and len(self._kept) > 1:
            self._stride *= 3
            self._kept = [kept for kept in self._kept if kept.iteration % self._stride == 0]

    @property
    def frames(self) -> tuple[Frame, ...]:
        if self._latest is None:
            return ()
        if self._kept and self._kept[-1] is self._latest:
            return tuple(self._kept)
        return (*self._kept, self._latest)

    @property
    def nbytes(self) -> int:
        return sum(frame.W.nbytes + frame.H.nbytes for frame in self.frames)


def align_frames(first: tuple[Frame, ...], second: tuple[Frame, ...]) -> list[tuple[Frame, Frame]]:
    """Two films on one time axis: each one's latest frame at every iteration of either."""
    iterations = sorted({frame.iteration for frame in (*first, *second)})
    return [(_latest(first, iteration), _latest(second, iteration)) for iteration in iterations]


def _latest(frames: tuple[Frame, ...], iteration: int) -> Frame:
    return max((frame for frame in frames if frame.iteration <= iteration), key=lambda frame: frame.iteration)


@dataclass(frozen=True, eq=False)
class Run:
    """A finished fit for a page, without V and mask, which caching would keep alive; do not modify it."""

    W: Array
    H: Array
    history: dict[str, Wide]
    frames: tuple[Frame, ...]
    rmse_hidden: float

    @property
    def nbytes(self) -> int:
        held: tuple[HasFactors, ...] = (self, *self.frames)
        factors = sum(one.W.nbytes + one.H.nbytes for one in held)
        return factors + sum(values.nbytes for values in self.history.values())

    def __reduce__(self) -> tuple[Any, ...]:
        """All factors as one array, whose memory goes back to the system at once when the run is dropped."""
        held: tuple[HasFactors, ...] = (self, *self.frames)
        factors = np.stack([np.concatenate([one.W.ravel(), one.H.ravel()]) for one in held])
        marks = [(frame.iteration, frame.loss) for frame in self.frames]
        return _unpacked, (factors, self.W.shape, self.H.shape, marks, self.history, self.rmse_hidden)


def _unpacked(
    factors: Array,
    W_shape: Shape,
    H_shape: Shape,
    marks: list[tuple[int, float]],
    history: dict[str, Wide],
    rmse_hidden: float,
) -> Run:
    W, H = np.split(factors, [W_shape[0] * W_shape[1]], axis=1)
    (last, *held) = zip(W.reshape(-1, *W_shape), H.reshape(-1, *H_shape), strict=True)
    frames = tuple(Frame(*mark, *one) for mark, one in zip(marks, held, strict=True))
    return Run(*last, history, frames, rmse_hidden)


@dataclass(frozen=True, eq=False)
class RunProgress:
    """The latest frame, a lower bound on the share of the work done, and the seconds so far."""

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
    H = fit.H if fit.brightness is None else fit.H * fit.brightness
    return Run(fit.W, H, fit.history, film.frames, _hidden_rmse(fit, V, observed))


def hidden_rmse(report: Report, V: Array, observed: Mask, **parameters: Any) -> float:
    """The error over hidden entries of `factorize(V, observed, **parameters)` alone."""
    return _hidden_rmse(factorize(V, observed, **parameters), V, observed)


def _hidden_rmse(fit: Fit, V: Array, observed: Mask) -> float:
    return rmse(V, fit.V_hat, ~observed)
