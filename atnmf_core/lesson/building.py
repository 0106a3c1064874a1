"""One sample assembled from its parts, one after the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..metrics import rmse
from ..problem import Array


@dataclass(frozen=True, eq=False)
class BuildUp:
    """A column of W H as a sum that grows by one part at a time, the heaviest first.

    Attributes
    ----------
    parts : F x K, each with largest value 1, in the order in which they are added.
    weights : K numbers; weights[k] * parts[:, k] is what part k adds.
    sums : F x (K + 1); column n is the sum of the first n parts.
    errors : K + 1 numbers, the RMSE of each sum against the data.
    """

    parts: Array
    weights: Array
    sums: Array
    errors: tuple[float, ...]


def build_up(v: Array, W: Array, h: Array) -> BuildUp:
    """Add up W h part by part, and measure how close it comes to v.

    A part and its weight are determined only up to a common factor; here the part's largest value is 1, so
    that the weight is the brightness of its brightest pixel.

    Examples
    --------
    >>> steps = build_up(np.array([3.0, 1.0]), np.array([[2.0, 0.0], [0.0, 0.5]]), np.array([1.5, 2.0]))
    >>> steps.weights
    array([3., 1.])
    >>> steps.errors[-1]
    0.0
    """
    tops = W.max(axis=0)
    weights = h * tops
    order = np.argsort(-weights, kind="stable")
    parts = (W / np.where(tops > 0, tops, 1))[:, order]
    weights = weights[order]
    sums = np.concatenate([np.zeros((len(v), 1)), np.cumsum(parts * weights, axis=1)], axis=1)
    return BuildUp(parts, weights, sums, tuple(rmse(v, one) for one in sums.T))
