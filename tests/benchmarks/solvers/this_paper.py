"""This project, solver="paper": multiplicative updates in single precision."""

from __future__ import annotations

from ..objective import Objective
from . import Point, Start, Stop
from .this_fast import points_of

NAME = "this project, paper"
MISSING = ("ignore", "zero")


def run(objective: Objective, start: Start, stop: Stop) -> list[Point]:
    limits = {"tol_inner": 0, "tol_outer": 0, "max_inner": 20, "max_outer": 10**6}
    return points_of(objective, start, stop, solver="paper", **limits)
