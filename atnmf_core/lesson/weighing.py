"""The smallest factorization there is: how much of one known part is in a short series?

For a given part w, the weight h that brings h w closest to the series v solves a problem in one unknown,

    minimise over h   sum_i (v_i - h w_i)^2,

and setting its derivative to zero gives a fraction that can be computed by hand. What the sum runs over is
the whole difference between ignoring hidden entries and filling them with zeros.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..problem import InputError, Missing

PART = (1.0, 2.0, 3.0, 2.0, 1.0)
SERIES = (2.0, 4.0, 6.0, 4.0, 2.0)
"""Twice the part."""


@dataclass(frozen=True)
class Weighing:
    """A weight as the fraction overlap/size: the sums of w_i v_i and of w_i^2."""

    overlap: float
    size: float

    @property
    def weight(self) -> float:
        return self.overlap / self.size

    def prediction(self, part: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """The weight times the part."""
        return self.weight * np.asarray(part, dtype=float)


def weigh(part: npt.ArrayLike, series: npt.ArrayLike, observed: npt.ArrayLike, missing: Missing) -> Weighing:
    """The weight of a part that fits a series best in the least-squares sense.

    Hidden entries are left out of the sum ("ignore"), or count in it as zeros ("zero").

    Examples
    --------
    >>> seen = [True, True, False, True, True]
    >>> weigh(PART, SERIES, seen, "ignore")
    Weighing(overlap=20.0, size=10.0)
    >>> weigh(PART, SERIES, seen, "zero")
    Weighing(overlap=20.0, size=19.0)
    """
    w, v, seen = np.asarray(part, float), np.asarray(series, float), np.asarray(observed, bool)
    size = float((w**2)[seen].sum() if missing == "ignore" else (w**2).sum())
    if size == 0:
        raise InputError("observed: nothing of the part is seen, so its weight cannot be told.")
    return Weighing(float((w * v)[seen].sum()), size)
