"""How long it takes to rerun cells of the paper's tables, judging by how long they took before."""

from __future__ import annotations

import statistics
from collections.abc import Iterable

from ..datasets import catalogue
from ..sweep.grid import Grid, expected_sweep_seconds
from ..sweep.measurements import Measurement
from ..sweep.points import Point
from .compare import PAPER_OUTER
from .protocol import PROTOCOLS


def expected_run_seconds(name: str, grid: Grid, known: Iterable[Measurement], workers: int) -> float:
    """Seconds that a grid for the table `name` takes on this many cores.

    `known` are measurements of that table; a fit whose method and treatment they lack is estimated by the
    cost model of the solvers.
    """
    known = tuple(known)
    shape = next(entry.shape for entry in catalogue() if entry.name == PROTOCOLS[name].dataset)
    model = expected_sweep_seconds(grid, shape) / len(grid) * _scale(grid.solver, grid.max_outer, PAPER_OUTER)
    each = [_measured(point, known) or model for point in grid.points()]
    return sum(each) / min(workers, len(each))


def _measured(point: Point, known: tuple[Measurement, ...]) -> float | None:
    seconds = [
        row.seconds * _scale(row.solver, point.max_outer, row.max_outer)
        for row in known
        if row.seconds is not None and (row.method, row.missing) == (point.method, point.missing)
    ]
    return statistics.median(seconds) if seconds else None


def _scale(solver: str, max_outer: int, measured_outer: int) -> float:
    """Only Algorithm 1 is limited by outer iterations."""
    return max_outer / measured_outer if solver == "paper" else 1.0
