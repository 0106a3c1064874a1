"""What a format reader hands on: an array, and all that the file says about its meaning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ...problem import Order
from ..dataset import Kind

__all__ = ["NamedArray", "StoredArray"]


@dataclass
class StoredArray:
    """An array of two or three axes on its way to becoming a data set.

    Attributes
    ----------
    values : any real dtype; NaN is missing.
    label : what to call it in messages.
    kind, bands_axis, image_shape, wavelengths : what the file says, None where it says nothing.
    order : how this format lays pixels out where an array has one axis for all of them.
    nodata : values that the file declares to mean "missing".
    scale : values are divided by it.
    """

    values: npt.NDArray[Any]
    label: str
    kind: Kind | None = None
    bands_axis: int | None = None
    image_shape: tuple[int, int] | None = None
    order: Order = "C"
    wavelengths: npt.NDArray[np.float64] | None = None
    nodata: tuple[float, ...] = ()
    scale: float = 1.0
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class NamedArray:
    """A named array inside a file, known by its header and not yet read."""

    name: str
    shape: tuple[int, ...]
    load: Callable[[], npt.NDArray[Any]]
