"""What the adversary costs the fast solver, and what the paper's solver gains over plain NumPy."""

from __future__ import annotations

from collections.abc import Callable

from atnmf_core import factorize

from .clock import now
from .objective import Objective
from .solvers import plain_numpy


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
            W, H = plain_numpy.zero_filled_step(objective.V, W, H)
            plain_numpy.relative_change(before, W @ H)

    def plain_without_norm() -> None:
        W, H = start
        for _ in range(iterations):
            W, H = plain_numpy.zero_filled_step(objective.V, W, H)

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
