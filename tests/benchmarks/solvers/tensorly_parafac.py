"""TensorLy: nonnegative parafac of a matrix with a mask, multiplicative updates on filled data."""

from __future__ import annotations

from tensorly.cp_tensor import CPTensor
from tensorly.decomposition import non_negative_parafac

from ..objective import Array, Objective
from . import Point, Start, Stop, in_chunks

NAME = "TensorLy"
MISSING = ("ignore",)


def run(objective: Objective, start: Start, stop: Stop) -> list[Point]:
    mask = objective.observed.astype(float)

    def advance(W: Array, H: Array, iterations: int) -> Start:
        given = CPTensor((None, [W, H.T]))
        weights, (left, right) = non_negative_parafac(
            objective.V, objective.K, n_iter_max=iterations, init=given, tol=0, mask=mask
        )
        return left * weights, right.T

    return in_chunks(objective, start, stop, advance)
