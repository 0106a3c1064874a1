"""scikit-learn: coordinate descent in Cython; it knows no mask, so hidden entries are zeros."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.decomposition import non_negative_factorization
from sklearn.exceptions import ConvergenceWarning

from ..objective import Array, Objective
from . import Point, Start, Stop, in_chunks

NAME = "scikit-learn"
MISSING = ("zero",)


def run(objective: Objective, start: Start, stop: Stop) -> list[Point]:
    data = objective.V.astype(np.float32)

    def advance(W: Array, H: Array, iterations: int) -> Start:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            W, H, _ = non_negative_factorization(
                data,
                W=W.astype(np.float32),
                H=H.astype(np.float32),
                n_components=objective.K,
                init="custom",
                max_iter=iterations,
                tol=0,
            )
        return W, H

    return in_chunks(objective, start, stop, advance)
