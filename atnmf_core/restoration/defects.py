"""Which entries are wrong, and by how much: residuals beyond what their row and column lead one to expect.

An entry v with prediction p is suspect when |v - p| is more than `BEYOND` robust standard deviations and v
and p differ by more than the factor `RATIO`. The standard deviation is that of the entry's row times that of
its column, from quantiles that hold while most of the entries are sound; so a band that is noisy as a whole,
or a pixel that the model describes badly as a whole, is no defect.

Sound residuals lie on both sides alike. Where one side has many more than the other, even nearer to the
prediction, most of them are defects: `thresholds` is the distance from which on that is so.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["BEYOND", "NORMAL_QUANTILE", "QUANTILE", "RATIO", "entry_scale", "suspicion", "thresholds"]

Array = npt.NDArray[np.floating]
Mask = npt.NDArray[np.bool_]

BEYOND, RATIO = 4.0, 1.3
NEAREST, FALSE = 2.0, 0.1
"""The least number of deviations that `thresholds` goes down to, and the share of false suspects allowed."""
QUANTILE, NORMAL_QUANTILE = 0.35, 0.4538
"""The quantile of |v - p| that scales are taken from, and its value for a standard normal. Lower ones hold
out against more defects, but give way where many entries are fitted exactly.
"""
LEAST = 0.1
"""No row's or column's scale counts as less than this share of the middle one."""


def entry_scale(residual: Array, use: Mask) -> Array:
    """A robust standard deviation for each entry, F x N: its row's times its column's.

    Parameters
    ----------
    residual : F x N, v - p.
    use : bool F x N, the entries to learn from: observed and not suspect.
    """
    size = np.abs(residual)
    by_row = _floored(_quantile(size, use, axis=1))
    by_row /= np.median(by_row)
    by_column = _floored(_quantile(size / by_row[:, None], use, axis=0))
    scale: Array = by_row[:, None] * by_column
    return scale


def suspicion(
    V: Array, V_hat: Array, observed: Mask, use: Mask, limits: tuple[float, float] = (BEYOND, BEYOND)
) -> Array:
    """How far each observed entry is from its prediction, 1 and above being suspect; 0 where not observed.

    The smaller of two distances: |v - p| in units of `limits` standard deviations, for entries below and
    above their prediction, and the factor between v and p in units of `RATIO`, on a logarithmic scale.
    """
    deviations, factor = _distances(V, V_hat, observed, use)
    deviations /= np.where(deviations < 0, -limits[0], limits[1])
    return np.where(observed, np.minimum(deviations, factor), 0).astype(V_hat.dtype)


def thresholds(V: Array, V_hat: Array, observed: Mask, use: Mask) -> tuple[float, float]:
    """How many deviations below and above its prediction an entry is suspect from.

    On each side the least number, from `NEAREST` to `BEYOND`, beyond which the other side has no more than
    the share `FALSE` of the entries of this one: as many of these are sound.
    """
    deviations, factor = _distances(V, V_hat, observed, use)
    far = deviations[observed & (factor >= 1)]
    return _threshold(-far, far), _threshold(far, -far)


def _threshold(this: Array, other: Array) -> float:
    steps = np.arange(NEAREST, BEYOND, 0.1)
    here, there = (np.sort(side[side > 0]) for side in (this, other))
    left, right = (side.size - np.searchsorted(side, steps) for side in (here, there))
    clear = right + 3 * np.sqrt(right + 1) <= FALSE * left
    return float(steps[np.argmax(clear)]) if clear.any() else BEYOND


def _distances(V: Array, V_hat: Array, observed: Mask, use: Mask) -> tuple[Array, Array]:
    """(v - p) in standard deviations, and the factor between v and p, in powers of `RATIO`."""
    residual = np.where(observed, V, V_hat) - V_hat
    # Many models fit a zero exactly, and such a residual says nothing about the others.
    scale = np.maximum(entry_scale(residual, use & (V > 0)), np.finfo(V_hat.dtype).tiny)
    larger, smaller = np.maximum(V, V_hat), np.minimum(V, V_hat)
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.log(larger / smaller) / np.log(RATIO)
    return residual / scale, np.nan_to_num(factor, nan=0.0, posinf=np.inf)


def _quantile(size: Array, use: Mask, axis: int) -> npt.NDArray[np.float64]:
    """The standard deviation of each row or column, from a quantile over its used entries; NaN if none."""
    ordered = np.sort(np.where(use, size, np.inf), axis=axis)
    count = use.sum(axis=axis)
    place = np.expand_dims(np.maximum(0, np.ceil(QUANTILE * count).astype(int) - 1), axis)
    found = np.take_along_axis(ordered, place, axis=axis).squeeze(axis).astype(np.float64)
    return np.where(count > 0, found, np.nan) / NORMAL_QUANTILE


def _floored(scales: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    positive = scales[scales > 0]
    middle = float(np.median(positive)) if positive.size else 1.0
    return np.maximum(np.nan_to_num(scales, nan=middle), LEAST * middle)
