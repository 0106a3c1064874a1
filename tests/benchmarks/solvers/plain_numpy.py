"""The update formulas typed into NumPy, in double precision: what a reader of the paper would write."""

from __future__ import annotations

import numpy as np

from ..objective import Array, Objective
from . import Point, Start, Stop, in_chunks

NAME = "plain NumPy formulas"
MISSING = ("ignore", "zero")
EPS = 2.2e-16


def masked_step(V: Array, mask: Array, W: Array, H: Array) -> Start:
    W = W * (V @ H.T) / ((mask * (W @ H)) @ H.T + EPS)
    H = H * (W.T @ V) / (W.T @ (mask * (W @ H)) + EPS)
    return W, H


def zero_filled_step(V: Array, W: Array, H: Array) -> Start:
    W = W * (V @ H.T) / (W @ (H @ H.T) + EPS)
    H = H * (W.T @ V) / ((W.T @ W) @ H + EPS)
    return W, H


def relative_change(before: Array, after: Array) -> float:
    """The paper's stopping norm, which its algorithm evaluates at every step."""
    with np.errstate(invalid="ignore"):
        return float(np.linalg.norm((after - before) / before))


def run(objective: Objective, start: Start, stop: Stop) -> list[Point]:
    mask = objective.observed.astype(float)

    def advance(W: Array, H: Array, iterations: int) -> Start:
        for _ in range(iterations):
            if objective.missing == "ignore":
                W, H = masked_step(objective.V, mask, W, H)
            else:
                W, H = zero_filled_step(objective.V, W, H)
        return W, H

    return in_chunks(objective, start, stop, advance)
