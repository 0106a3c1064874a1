"""wNMF: weighted multiplicative updates in NumPy."""

from __future__ import annotations

from wNMF import wNMF

from ..objective import Array, Objective
from . import Point, Start, Stop, in_chunks

NAME = "wNMF"
MISSING = ("ignore",)
NEVER = 1e-300
"""Its smallest tolerance above the zero that it refuses."""


def run(objective: Objective, start: Start, stop: Stop) -> list[Point]:
    weights = objective.observed.astype(float)

    def advance(W: Array, H: Array, iterations: int) -> Start:
        model = wNMF(n_components=objective.K, max_iter=iterations, tol=NEVER, verbose=0)
        model.initialize_u_v = lambda *_: (W.copy(), H.copy())
        model.fit(objective.V, weights, n_run=1)
        return model.U, model.V

    return in_chunks(objective, start, stop, advance)
