"""This project, solver="fast"."""

from __future__ import annotations

from typing import Any

from atnmf_core import Progress, factorize

from ..clock import now
from ..objective import Objective
from . import Point, Start, Stop

NAME = "this project, fast"
MISSING = ("ignore", "zero")


def run(objective: Objective, start: Start, stop: Stop) -> list[Point]:
    return points_of(objective, start, stop, tol_outer=0, max_inner=10**6)


def points_of(objective: Objective, start: Start, stop: Stop, **options: Any) -> list[Point]:
    """Points of `factorize` with these options."""
    points: list[Point] = []
    began = now()

    def ends(progress: Progress) -> bool:
        points.append((now() - began, progress.loss))
        return stop(points[-1])

    factorize(
        objective.V,
        objective.observed,
        K=objective.K,
        missing=objective.missing,
        init=start,
        callback=ends,
        **options,
    )
    return points
