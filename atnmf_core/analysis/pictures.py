"""A matrix of a data set as pictures.

For faces a picture is a column of V (or V_hat, R ...), for a cube it is a row (a band image), and a plain
matrix is one picture as it stands.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..datasets import Dataset
from ..problem import InputError

Values = npt.NDArray[Any]
LONGEST_STRIP = 512


def count(data: Dataset) -> int:
    """How many pictures V holds."""
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
    """What a picture is called, counted from 1."""
    if data.kind == "cube":
        return data.wavelength_label(index)
    return f"face {index + 1}" if data.kind == "faces" else "the matrix"


def sample_name(data: Dataset, n: int) -> str:
    """What column n of V (from 0) is called, counted from 1."""
    if data.kind == "faces":
        return f"face {n + 1}"
    if data.image_shape is None:
        return f"column {n + 1}"
    row, col = np.argwhere(data.image(np.arange(data.shape[1])) == n)[0]
    return f"row {row + 1}, column {col + 1}"


def white_level(v: Values) -> float:
    """The value shown as white, and the data range for PSNR and SSIM: the picture's largest, or 1 if that is
    0.
    """
    top = float(np.nanmax(v)) if np.isfinite(v).any() else 0.0
    return top if top > 0 else 1.0


def part_pictures(data: Dataset, W: Values, H: Values) -> Values:
    """One picture per part, as K x rows x cols: columns of W for faces, abundance maps (rows of H) for a
    cube, and columns of W as upright strips for a matrix, of which long ones are thinned.
    """
    if data.kind == "faces":
        return data.images(W)
    if data.kind == "cube":
        return data.images(H)
    strips = W.T[:, :: -(-W.shape[0] // LONGEST_STRIP), None]
    return np.repeat(strips, max(1, strips.shape[1] // 4), axis=2)
