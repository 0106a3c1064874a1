"""Pictures of a data set (columns of V for faces, rows for a cube, a matrix as it stands), and its parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..datasets import Dataset
from ..model.problem import Array, InputError
from ..model.result import HasFactors

Values = npt.NDArray[Any]
Indices = npt.NDArray[np.intp]
LONGEST_STRIP = 512


def count(data: Dataset) -> int:
    return {"faces": data.shape[1], "cube": data.shape[0], "matrix": 1}[data.kind]


def picture(data: Dataset, matrix: Values, index: int) -> Values:
    """Picture number `index` (from 0) of a matrix of V's shape."""
    if not 0 <= index < count(data):
        raise InputError(f"index={index}: {data.name} has pictures 0 to {count(data) - 1}.")
    if data.kind == "matrix":
        return np.asarray(matrix)
    return data.image(matrix[:, index] if data.kind == "faces" else matrix[index])


def predicted_picture(data: Dataset, W: Values, H: Values, index: int) -> Values:
    """Picture number `index` of W H, without computing the others."""
    if data.kind == "faces":
        return data.image(W @ H[:, index])
    return data.image(W[index] @ H) if data.kind == "cube" else W @ H


def outer_picture(
    data: Dataset, rows: npt.NDArray[np.bool_], columns: npt.NDArray[np.bool_], index: int
) -> npt.NDArray[np.bool_]:
    """Picture number `index` of the mask that is True where both its row and its column of V are."""
    if data.kind == "faces":
        return data.image(rows & columns[index])
    return data.image(columns & rows[index]) if data.kind == "cube" else np.logical_and.outer(rows, columns)


def picture_name(data: Dataset, index: int) -> str:
    if data.kind == "cube":
        return data.wavelength_label(index)
    return f"face {index + 1}" if data.kind == "faces" else "the matrix"


def sample_name(data: Dataset, n: int) -> str:
    if data.kind == "faces":
        return f"face {n + 1}"
    if data.image_shape is None:
        return f"column {n + 1}"
    row, col = np.argwhere(data.image(np.arange(data.shape[1])) == n)[0]
    return f"row {row + 1}, column {col + 1}"


def white_level(v: Values) -> float:
    """The value shown as white, and the range for PSNR and SSIM: the picture's maximum, or 1 if that is 0."""
    top = float(np.nanmax(v)) if np.isfinite(v).any() else 0.0
    return top if top > 0 else 1.0


def part_pictures(data: Dataset, W: Values, H: Values) -> Values:
    """One picture per part, K x rows x cols: W of faces, H of a cube, thinned upright strips of a matrix."""
    if data.kind == "faces":
        return data.images(W)
    if data.kind == "cube":
        return data.images(H)
    strips = W.T[:, :: -(-W.shape[0] // LONGEST_STRIP), None]
    return np.repeat(strips, max(1, strips.shape[1] // 4), axis=2)


# How much each learned part is used, which parts of two fits match, and which samples use one most.


def usage_shares(W: Array, H: Array) -> npt.NDArray[np.float64]:
    """The share of W H's total of each part, however its size is split between W and H."""
    weight = W.sum(axis=0, dtype=np.float64) * H.sum(axis=1, dtype=np.float64)
    total = weight.sum()
    return np.asarray(weight / total if total > 0 else weight)


def order_by_usage(W: Array, H: Array) -> Indices:
    return np.argsort(-usage_shares(W, H), kind="stable")


def match(W: Array, other: Array) -> Indices:
    """The part of `other` for each of W: one to one, with the greatest sum of cosines."""
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
    order = order_by_usage(first.W, first.H)
    partner = match(first.W, second.W)[order]
    similarity = np.einsum("fk,fk->k", _unit(first.W)[:, order], _unit(second.W)[:, partner])
    return PartOrder(order, partner, similarity)


def top_users(H: Array, part: int, count: int = 6) -> Indices:
    """The samples (columns of V) with the largest coefficient for one part, largest first."""
    row = H[part]
    return np.argsort(-row, kind="stable")[: min(count, int((row > 0).sum()))]


def share_in_sample(W: Array, H: Array, part: int, sample: int) -> float:
    weights = W.sum(axis=0, dtype=np.float64) * H[:, sample]
    total = float(weights.sum())
    return float(weights[part]) / total if total > 0 else 0.0


def _unit(W: Array) -> npt.NDArray[np.float64]:
    wide = W.astype(np.float64)
    length = np.sqrt((wide**2).sum(axis=0))
    return np.asarray(wide / np.where(length > 0, length, 1.0))
