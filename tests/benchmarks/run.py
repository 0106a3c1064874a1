"""How long each solver takes to the losses that cmfrec has after 10 and after 50 iterations."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from types import ModuleType

import numpy as np

from .clock import THREADS
from .objective import Objective
from .solvers import Point, cmfrec_als

ITERATIONS = (10, 50)
"""The losses to reach are cmfrec's after so many of its iterations."""
SWEEPS = (20, 100)
"""With hidden entries as zeros, which cmfrec does not offer: this project's after so many sweeps."""


@dataclass
class Measured:
    """The points of a solver's best run, and its seconds to each target (infinite: not reached)."""

    name: str
    points: list[Point] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    spent: float = 0.0
    runs: int = 0


def targets(objective: Objective, fast: ModuleType) -> list[float]:
    if objective.missing == "ignore":
        return [objective(*cmfrec_als.after(objective, iterations)) for iterations in ITERATIONS]
    points = fast.run(objective, objective.start(), lambda point: point[0] > 5)
    return [points[min(sweeps, len(points) - 1)][1] for sweeps in SWEEPS]


def measure(
    solver: ModuleType, objective: Objective, goals: list[float], budget: float, repeats: int
) -> Measured:
    """The best of several runs from one start, after a short run that is not counted.

    A solver that has used up its budget is not asked again.
    """
    solver.run(objective, objective.start(), lambda point: True)
    result = Measured(solver.NAME, seconds=[np.inf] * len(goals))
    while result.runs < repeats and result.spent < budget:
        points = solver.run(
            objective, objective.start(), lambda point: point[1] <= min(goals) or point[0] > budget
        )
        reached = [first_below(points, goal) for goal in goals]
        if not result.points or reached[-1] < result.seconds[-1]:
            result.points = points
        result.seconds = [min(pair) for pair in zip(result.seconds, reached, strict=True)]
        result.spent += points[-1][0]
        result.runs += 1
    return result


def first_below(points: list[Point], goal: float) -> float:
    return min((seconds for seconds, loss in points if loss <= goal), default=np.inf)


def table(objective: Objective, goals: list[float], measured: list[Measured], budget: float) -> str:
    """Seconds to each target, and how many times as long as the first solver of the list."""
    F, N = objective.V.shape
    machine = f"{THREADS} threads, load {os.getloadavg()[0]:.0f}"
    lines = [
        f"\n{objective.name}, {objective.missing}: {F} x {N}, K {objective.K}; {machine}",
        f"{'solver':24}" + "".join(f"{f'to {goal:.5g}':>14}{'times':>9}" for goal in goals) + f"{'runs':>6}",
    ]
    for row in measured:
        cells = ""
        for ours, seconds in zip(measured[0].seconds, row.seconds, strict=True):
            more, least = ("> ", budget) if np.isinf(seconds) else ("", seconds)
            cells += f"{f'{more}{least:.3f} s':>14}{f'{more}{least / ours:.1f}':>9}"
        lines.append(f"{row.name:24}{cells}{row.runs:6}")
    return "\n".join(lines)
