"""cmfrec: nonnegative alternating least squares in C, single precision."""

from __future__ import annotations

import numpy as np
from cmfrec import CMF
from scipy.sparse import coo_matrix

from ..clock import THREADS
from ..objective import Objective
from . import Point, Start, Stop, from_scratch

NAME = "cmfrec"
MISSING = ("ignore",)
COUNTS = (1, 2, 5, 10, 20, 50, 100, 200)
OPTIONS = {
    "lambda_": 0.0,
    "method": "als",
    "nonneg": True,
    "center": False,
    "user_bias": False,
    "item_bias": False,
    "use_cg": False,
    "use_float": True,
    "precompute_for_predictions": False,
    "verbose": False,
    "nthreads": THREADS,
}


def after(objective: Objective, iterations: int, seed: int = 1) -> Start:
    """Its factors after so many iterations; it draws its own start."""
    rows, columns = np.nonzero(objective.observed)
    seen = coo_matrix(
        (objective.V[rows, columns].astype(np.float32), (rows, columns)), shape=objective.V.shape
    )
    model = CMF(k=objective.K, niter=iterations, random_state=seed, **OPTIONS).fit(seen)
    return model.A_, model.B_.T


def run(objective: Objective, start: Start, stop: Stop) -> list[Point]:
    return from_scratch(objective, COUNTS, stop, lambda iterations: after(objective, iterations))
