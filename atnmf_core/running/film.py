"""A run as a film: the factors at a bounded number of iterations, from the start to the end."""

from __future__ import annotations

from dataclasses import dataclass

from ..problem import Array, check_count
from ..result import Progress


@dataclass(frozen=True, eq=False)
class Frame:
    """W and H after an iteration, and the loss there."""

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

    Examples
    --------
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
        """The recorded frames in order, the latest last."""
        if self._latest is None:
            return ()
        if self._kept and self._kept[-1] is self._latest:
            return tuple(self._kept)
        return (*self._kept, self._latest)

    @property
    def nbytes(self) -> int:
        return sum(frame.W.nbytes + frame.H.nbytes for frame in self.frames)


def together(first: tuple[Frame, ...], second: tuple[Frame, ...]) -> list[tuple[Frame, Frame]]:
    """Two films on one time axis: the latest frame of each at every iteration that either has. The shorter
    one stays at its end.
    """
    iterations = sorted({frame.iteration for frame in (*first, *second)})
    return [(_latest(first, iteration), _latest(second, iteration)) for iteration in iterations]


def _latest(frames: tuple[Frame, ...], iteration: int) -> Frame:
    return max((frame for frame in frames if frame.iteration <= iteration), key=lambda frame: frame.iteration)
