"""NonnegMFPy: weighted multiplicative updates in NumPy."""

from __future__ import annotations

import io
from contextlib import redirect_stdout

import numpy as np
from NonnegMFPy import nmf

from ..objective import Array, Objective
from . import Point, Start, Stop, in_chunks

NAME = "NonnegMFPy"
MISSING = ("ignore",)


def run(objective: Objective, start: Start, stop: Stop) -> list[Point]:
    def advance(W: Array, H: Array, iterations: int) -> Start:
        with redirect_stdout(io.StringIO()):
            model = nmf.NMF(objective.V, W=W, H=H, M=objective.observed, n_components=objective.K)
            model.SolveNMF(maxiters=iterations, tol=-np.inf)
        return model.W, model.H

    return in_chunks(objective, start, stop, advance)
