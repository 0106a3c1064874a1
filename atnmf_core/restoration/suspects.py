"""What a stricter or laxer look at the suspects changes, without another fit."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from ..datasets import Dataset
from ..problem import Array, Mask
from .lines import MOSTLY
from .restore import Restoration

Side = Literal["dark", "bright", "both"]


def suspects_at(data: Dataset, restoration: Restoration, threshold: float = 1.0, side: Side = "both") -> Mask:
    """The observed entries whose suspicion reaches the threshold, on one side of their prediction or both."""
    beyond = restoration.defects if threshold == 1 else restoration.suspicion >= threshold
    if side == "both":
        return beyond
    is_dark = np.nan_to_num(data.V) < restoration.fit.V_hat
    return beyond & (is_dark if side == "dark" else ~is_dark)


def restored_at(data: Dataset, restoration: Restoration, suspects: Mask) -> Array:
    """The data with these suspects, and what is missing, predicted."""
    known = restoration.defects | ~data.observed
    predicted = np.where(known, restoration.V, restoration.fit.V_hat)
    return np.where(suspects | ~data.observed, predicted, data.V)


def mostly_bad(wrong: Mask, observed: Mask) -> tuple[int, int]:
    """In how many rows and columns of V more observed entries are wrong than not."""
    rows, columns = (wrong.sum(axis=axis) > MOSTLY * observed.sum(axis=axis) for axis in (1, 0))
    return int(rows.sum()), int(columns.sum())


def shares_along(mask: Mask, data: Dataset) -> dict[str, npt.NDArray[np.float64]]:
    """The share of the entries in a mask for each band or image, image row and image column; for a plain
    matrix, for each row and column of V.
    """
    stack = data.layout.unfold(mask)
    first = {"cube": "band", "faces": "image", "matrix": "row"}[data.kind]
    if data.kind == "matrix":
        return {first: stack.mean(axis=(1, 2)), "column": stack.mean(axis=(0, 2))}
    return {
        first: stack.mean(axis=(1, 2)),
        "image row": stack.mean(axis=(0, 2)),
        "image column": stack.mean(axis=(0, 1)),
    }
