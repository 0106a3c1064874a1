"""How long each solver takes to the losses that cmfrec has after 10 and after 50 iterations; what the
adversary costs the fast solver, and what the paper's solver gains over plain NumPy.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import plotly.graph_objects as go

from atnmf_core import factorize

from .objective import THREADS, Objective, now
from .solvers import Point, Solver, after_cmfrec, relative_change, this_fast, zero_filled_step

RESULTS = Path(__file__).parent / "results"
"""Left out of version control."""

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


def targets(objective: Objective) -> list[float]:
    if objective.missing == "ignore":
        return [objective(*after_cmfrec(objective, iterations)) for iterations in ITERATIONS]
    points = this_fast(objective, objective.start(), lambda point: point[0] > 5)
    return [points[min(sweeps, len(points) - 1)][1] for sweeps in SWEEPS]


def measure(
    solver: Solver, objective: Objective, goals: list[float], budget: float, repeats: int
) -> Measured:
    """The best of several runs from one start, after a short run that is not counted.

    A solver that has used up its budget is not asked again.
    """
    solver.run(objective, objective.start(), lambda point: True)
    result = Measured(solver.name, seconds=[np.inf] * len(goals))
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


def time_against_loss(objective: Objective, goals: list[float], measured: list[Measured]) -> Path:
    figure = go.Figure()
    for row in measured:
        seconds, losses = zip(*row.points, strict=True)
        figure.add_scatter(x=seconds, y=losses, name=row.name, mode="lines+markers", marker={"size": 4})
    for goal in goals:
        figure.add_hline(y=goal, line={"dash": "dot", "color": "grey"})
    figure.update_xaxes(type="log", title="seconds")
    figure.update_yaxes(type="log", title="objective")
    F, N = objective.V.shape
    figure.update_layout(
        title=f"{objective.name} ({F} x {N}, K {objective.K}), hidden entries: {objective.missing}"
    )
    RESULTS.mkdir(exist_ok=True)
    name = f"{objective.name}-{objective.missing}".replace(", ", "-").replace(" ", "-")
    figure.write_html(RESULTS / f"{name}.html")
    return RESULTS / f"{name}.html"


def best(repeats: int, call: Callable[[], object]) -> float:
    """The least seconds of several calls, after one that is not counted."""
    call()
    seconds = []
    for _ in range(repeats):
        began = now()
        call()
        seconds.append(now() - began)
    return min(seconds)


def cost_of_the_adversary(objective: Objective, repeats: int, sweeps: int = 30) -> str:
    """AT-NMF fast against NMF fast, for the same number of sweeps."""

    def fit(**method: object) -> None:
        factorize(objective.V, objective.observed, K=objective.K, tol_outer=0, max_inner=sweeps, **method)

    plain = best(repeats, lambda: fit())
    attacked = best(repeats, lambda: fit(method="atnmf", lam=2.0))
    return (
        f"{objective.name}: {sweeps} sweeps of NMF {plain:.3f} s, of AT-NMF (lam 2) {attacked:.3f} s,"
        f" ratio {attacked / plain:.2f}"
    )


def gain_of_the_papers_solver(objective: Objective, repeats: int, iterations: int = 400) -> str:
    """Iterations per second with zero-filled hidden entries, against the formulas typed into NumPy.

    Both keep to Algorithm 1: the plain one evaluates the stopping norm at every step, as the algorithm says.
    """
    start = objective.start()

    def plain() -> None:
        W, H = start
        for _ in range(iterations):
            before = W @ H
            W, H = zero_filled_step(objective.V, W, H)
            relative_change(before, W @ H)

    def plain_without_norm() -> None:
        W, H = start
        for _ in range(iterations):
            W, H = zero_filled_step(objective.V, W, H)

    def ours() -> None:
        factorize(
            objective.V,
            objective.observed,
            K=objective.K,
            missing="zero",
            solver="paper",
            init=start,
            tol_inner=0,
            tol_outer=0,
            max_inner=iterations,
            max_outer=1,
        )

    rates = [iterations / best(repeats, call) for call in (ours, plain, plain_without_norm)]
    return (
        f"{objective.name}: {rates[0]:.0f} iterations/s, plain NumPy {rates[1]:.0f}"
        f" (without its stopping norm {rates[2]:.0f}),"
        f" ratio {rates[0] / rates[1]:.1f} ({rates[0] / rates[2]:.1f})"
    )
