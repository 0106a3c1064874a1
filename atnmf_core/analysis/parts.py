"""Facts about learned parts: how much each is used, which parts of two fits match, and which samples use one
most.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..problem import Array
from ..result import HasFactors

Indices = npt.NDArray[np.intp]


def use(W: Array, H: Array) -> npt.NDArray[np.float64]:
    """The share of W H's total that each part makes up; they sum to one. It does not depend on how a part's
    size is split between its column of W and its row of H.
    """
    weight = W.sum(axis=0, dtype=np.float64) * H.sum(axis=1, dtype=np.float64)
    total = weight.sum()
    return np.asarray(weight / total if total > 0 else weight)


def order_by_use(W: Array, H: Array) -> Indices:
    """The parts from most to least used."""
    return np.argsort(-use(W, H), kind="stable")


def match(W: Array, other: Array) -> Indices:
    """For each column of W the matching column of `other`: the one-to-one assignment with the greatest sum of
    cosines (Hungarian algorithm).
    """
    # Slow to import, and pages that only draw pictures need none of it.
    from scipy.optimize import linear_sum_assignment

    _, partner = linear_sum_assignment(_unit(W).T @ _unit(other), maximize=True)
    return np.asarray(partner, dtype=np.intp)


@dataclass(frozen=True)
class PartOrder:
    """The parts of two fits, paired: pair i shows parts first[i] and second[i]."""

    first: Indices
    second: Indices
    similarity: npt.NDArray[np.float64]
    """Cosine of the two parts of each pair."""


def side_by_side(first: HasFactors, second: HasFactors) -> PartOrder:
    """The first fit's parts by use, and beside each its counterpart in the second."""
    order = order_by_use(first.W, first.H)
    partner = match(first.W, second.W)[order]
    similarity = np.einsum("fk,fk->k", _unit(first.W)[:, order], _unit(second.W)[:, partner])
    return PartOrder(order, partner, similarity)


def top_users(H: Array, part: int, count: int = 6) -> Indices:
    """The samples (columns of V) with the largest coefficient for one part, largest first."""
    row = H[part]
    return np.argsort(-row, kind="stable")[: min(count, int((row > 0).sum()))]


def share_in_sample(W: Array, H: Array, part: int, sample: int) -> float:
    """The part's share, from 0 to 1, of one sample's prediction W h."""
    weights = W.sum(axis=0, dtype=np.float64) * H[:, sample]
    total = float(weights.sum())
    return float(weights[part]) / total if total > 0 else 0.0


def _unit(W: Array) -> npt.NDArray[np.float64]:
    wide = W.astype(np.float64)
    length = np.sqrt((wide**2).sum(axis=0))
    return np.asarray(wide / np.where(length > 0, length, 1.0))
