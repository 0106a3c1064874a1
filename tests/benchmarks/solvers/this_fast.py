"""This project, solver="fast"."""

from __future__ import annotations

from atnmf_core import Progress, factorize

from ..clock import now
from ..objective import Objective
from . import Point, Start, Stop

NAME = "this project, fast"
MISSING = ("ignore", "zero")


def run(objective: Objective, start: Start, stop: Stop) -> list[Point]:
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
        tol_outer=0,
        max_inner=10**6,
        callback=ends,
    )
    return points
