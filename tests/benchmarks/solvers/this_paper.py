"""This project, solver="paper": multiplicative updates in single precision."""

from __future__ import annotations

from atnmf_core import Progress, factorize

from ..clock import now
from ..objective import Objective
from . import Point, Start, Stop

NAME = "this project, paper"
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
        solver="paper",
        init=start,
        tol_inner=0,
        tol_outer=0,
        max_inner=20,
        max_outer=10**6,
        callback=ends,
    )
    return points
