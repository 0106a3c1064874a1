"""One file per solver. Each has

- `NAME`, as it stands in the tables, and `MISSING`, the treatments of hidden entries that it offers;
- `run(objective, start, stop)`, which works until `stop(point)` is true and returns all its points.

A point is (seconds of the solver's own work, value of the objective): evaluating the objective is not timed.
Stopping rules of the solvers are off.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

import numpy as np
import numpy.typing as npt

from ..clock import now
from ..objective import Objective

Array = npt.NDArray[np.floating]
Start = tuple[Array, Array]
Point = tuple[float, float]
Stop = Callable[[Point], bool]

FILES = (
    "this_fast",
    "this_paper",
    "plain_numpy",
    "cmfrec_als",
    "wnmf",
    "nonnegmfpy",
    "tensorly_parafac",
    "sklearn_nmf",
)


def load(names: list[str] | None = None) -> list[ModuleType]:
    """The solvers of these files; without names, all whose packages are installed."""
    found = []
    for name in names or FILES:
        try:
            found.append(import_module(f".{name}", __package__))
        except ModuleNotFoundError as missing:
            if names:
                raise SystemExit(
                    f"{name}: {missing}; pip install -r tests/benchmarks/requirements.txt"
                ) from None
            print(f"{name} is left out: {missing}")
    return found


class Stopwatch:
    """Adds up the time spent inside `with stopwatch.running():`."""

    def __init__(self) -> None:
        self.seconds = 0.0

    @contextmanager
    def running(self):
        began = now()
        yield
        self.seconds += now() - began


def in_chunks(
    objective: Objective, start: Start, stop: Stop, advance: Callable[[Array, Array, int], Start]
) -> list[Point]:
    """Points of a solver that can go on from given factors: `advance(W, H, iterations)` is what is timed.

    Chunks grow, so that what a solver does once per call weighs little.
    """
    (W, H), watch, iterations = start, Stopwatch(), 1
    points = [(0.0, objective(W, H))]
    while not stop(points[-1]):
        with watch.running():
            W, H = advance(W, H, iterations)
        points.append((watch.seconds, objective(W, H)))
        iterations = min(20, iterations + 1)
    return points


def from_scratch(
    objective: Objective, counts: tuple[int, ...], stop: Stop, fit: Callable[[int], Start]
) -> list[Point]:
    """Points of a solver that cannot go on: one whole run of `fit(iterations)` for each of them."""
    points: list[Point] = []
    for iterations in counts:
        watch = Stopwatch()
        with watch.running():
            W, H = fit(iterations)
        points.append((watch.seconds, objective(W, H)))
        if stop(points[-1]):
            break
    return points
