"""How the entries of V lie in images, for whatever moves or counts along image rows, columns and bands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..problem import InputError, Order

__all__ = ["Layout"]


@dataclass(frozen=True)
class Layout:
    """The layout of V, in the words of `Dataset`.

    Attributes
    ----------
    kind : "cube": each row of V is a band image; "faces": each column is an image; "matrix": no images.
    image_shape : (rows, columns) of one image; None for a matrix.
    order : "F" where images are flattened column by column, "C" where row by row.
    """

    kind: Literal["faces", "cube", "matrix"] = "matrix"
    image_shape: tuple[int, int] | None = None
    order: Order = "F"

    def check(self, shape: tuple[int, int]) -> None:
        """Reject a layout that does not fit a matrix of this shape."""
        if (self.image_shape is None) != (self.kind == "matrix"):
            needs = "has none" if self.kind == "matrix" else "needs (rows, columns)"
            raise InputError(f"image_shape={self.image_shape!r}: data of kind {self.kind!r} {needs}.")
        if self.image_shape is not None:
            pixels = shape[0] if self.kind == "faces" else shape[1]
            if self.image_shape[0] * self.image_shape[1] != pixels:
                raise InputError(f"image_shape={self.image_shape!r} does not have the {pixels} pixels of V.")

    def unfold(self, matrix: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """F x N as (bands or images) x rows x columns; a plain matrix as F x N x 1."""
        if self.image_shape is None:
            return matrix[:, :, None]
        flat = matrix.T if self.kind == "faces" else matrix
        rows, cols = self.image_shape
        if self.order == "C":
            return flat.reshape(-1, rows, cols)
        return flat.reshape(-1, cols, rows).transpose(0, 2, 1)

    def fold(self, stack: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The inverse of `unfold`."""
        if self.image_shape is None:
            return stack[:, :, 0]
        flat = (stack if self.order == "C" else stack.transpose(0, 2, 1)).reshape(len(stack), -1)
        return np.ascontiguousarray(flat.T if self.kind == "faces" else flat)
