"""Which entries are wrong, and by how much: residuals larger than their row and column suggest.

An entry v with prediction p is suspect when |v - p| is more than `BEYOND` robust standard deviations and v
and p differ by more than the factor `RATIO`. The standard deviation is that of the entry's row times that of
its column, from quantiles that hold while most of the entries are sound; so a band that is noisy as a whole,
or a pixel that the model describes badly as a whole, is not a defect.

Sound residuals lie on both sides alike. Where one side has many more than the other, even closer to the
prediction, most of them are defects: `thresholds` finds the distance beyond which that is so.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..problem import Array, Mask

BEYOND, RATIO = 4.0, 1.3
FAR = 10.0
"""An entry this many deviations from its prediction is no sound entry of a heavy tail."""
NEAREST, FALSE = 2.0, 0.1
"""The lowest threshold, in deviations, and the allowed share of false suspects."""
QUANTILE, NORMAL_QUANTILE = 0.35, 0.4538
"""The quantile of |v - p| that gives the scales, and its value for a standard normal. Lower ones withstand
more defects, but fail where many entries are fitted exactly.
"""
UNLIKE, MOST, NORMAL_MOST = 0.25, 0.75, 1.1503
"""Rows and columns with a larger share of suspects, and three times that of others, are unlike the model;
there the quantile `MOST` gives the scale, with its value for a standard normal.
"""
BLOCKS, POWER_STEPS, ABOVE_NOISE, IN_BLOCK = 4, 12, 1.3, 0.3
"""How many blocks to look for, and with how many iterations; how far a block must stand out, and each of its
rows and columns.
"""
LEAST = 0.1
"""No row or column has a scale below this share of the median one."""


class Spread(NamedTuple):
    """The scales of residuals, for other columns with the same rows.

    Attributes
    ----------
    by_row : F, the scale of each row, relative to the median.
    by_column : N, the scale of each column.
    middle : that of the median column.
    """

    by_row: Array
    by_column: npt.NDArray[np.float64]
    middle: float


def spread(residual: Array, use: Mask, like: Spread | None = None) -> Spread:
    """The scales of rows and columns; those of the rows, and the median column's, are taken from `like` if
    given. With `like`, no column's scale depends on other columns.

    Parameters
    ----------
    residual : F x N, v - p.
    use : bool F x N, the entries to learn from: observed and not suspect.
    """
    size = np.abs(residual)
    by_row: Array
    if like is None:
        by_row = _floored(quantile_of_used(size, use, axis=1) / NORMAL_QUANTILE)
        by_row /= np.median(by_row)
    else:
        by_row = like.by_row
    scales = quantile_of_used(size / by_row[:, None], use, axis=0) / NORMAL_QUANTILE
    middle = _middle(scales) if like is None else like.middle
    return Spread(by_row, _floored(scales, middle), middle)


def entry_scale(residual: Array, use: Mask) -> Array:
    """A robust standard deviation for each entry, F x N: its row's times its column's; see `spread`."""
    found = spread(residual, use)
    scale: Array = found.by_row[:, None] * found.by_column
    return scale


def suspicion(
    V: Array,
    V_hat: Array,
    observed: Mask,
    use: Mask,
    limits: tuple[float, float] = (BEYOND, BEYOND),
) -> Array:
    """How far each observed entry is from its prediction, 1 and above being suspect; 0 where not observed.

    The smaller of two distances: |v - p| in units of `limits` standard deviations, for entries below and
    above their prediction, and the factor between v and p in units of `RATIO`, on a logarithmic scale.
    """
    deviations, factor = _distances(V, V_hat, observed, use)
    deviations /= np.where(deviations < 0, -limits[0], limits[1])
    return np.where(observed, np.minimum(deviations, factor), 0).astype(V_hat.dtype)


def beyond_limits(
    V: Array, V_hat: Array, scales: Spread, limits: tuple[float, float] = (BEYOND, BEYOND)
) -> Mask:
    """Where `suspicion` is above 1, if observed: for many columns, as it takes no logarithms."""
    scale = scales.by_row[:, None] * scales.by_column.astype(V.dtype)
    residual = V - V_hat
    found: Mask = (residual < -limits[0] * scale) & (V_hat > RATIO * V)
    found |= (residual > limits[1] * scale) & (RATIO * V_hat < V)
    return found


def find_suspects(V: Array, V_hat: Array, observed: Mask, use: Mask) -> Mask:
    """The entries that look wrong, for a model that may not describe everything yet.

    What the model has no part for looks too bright, and a model never learns what it is not shown. So bright
    suspects that are not scattered are taken back: those in rows and columns that are unlike the model as a
    whole, unless they are far beyond most of their neighbours, and those that fill a block of the same rows
    in the same columns, as an unknown material does.
    """
    suspects = suspicion(V, V_hat, observed, use) >= 1
    size = np.abs(np.where(observed, V, V_hat) - V_hat)
    found = suspects & (V_hat < V)
    dark = suspects & ~found
    for axis in (0, 1):
        share = found.sum(axis=axis) / np.maximum(observed.sum(axis=axis), 1)
        unlike = (share > UNLIKE) & (share > 3 * np.median(share))
        most = quantile_of_used(size, observed, axis, MOST) / NORMAL_MOST
        near = size <= BEYOND * np.expand_dims(most, axis)
        found &= ~(np.expand_dims(unlike, axis) & near)
    for _ in range(BLOCKS):
        block = _block(found)
        if block is None:
            break
        found[block] = False
    return found | dark


def _block(found: Mask) -> tuple[npt.NDArray[np.intp], ...] | None:
    """Rows and columns that the suspects fill together; None if there are none.

    The expected number of scattered suspects follows from the totals of rows and columns. What remains is
    noise with a largest singular value of about sd (sqrt F + sqrt N); a block has a larger one, and its
    singular vectors locate it.
    """
    share = float(found.mean())
    if share == 0:
        return None
    excess = found - np.outer(found.mean(axis=1), found.mean(axis=0)).astype(np.float32) / share
    noise = np.sqrt(share * (1 - share)) * (np.sqrt(found.shape[0]) + np.sqrt(found.shape[1]))
    right = found.sum(axis=0).astype(np.float32) + 1
    for _ in range(POWER_STEPS):
        left = excess @ right
        left /= np.linalg.norm(left) + 1e-12
        right = excess.T @ left
        value = float(np.linalg.norm(right))
        right /= value + 1e-12
    if value < ABOVE_NOISE * noise:
        return None
    if abs(left.min()) > left.max():
        left, right = -left, -right
    rows = np.flatnonzero(left > IN_BLOCK * left.max())
    columns = np.flatnonzero(right > IN_BLOCK * right.max())
    place = np.ix_(rows, columns)
    filled = min(rows.size, columns.size) > 1 and found[place].mean() > max(0.5, 3 * share)
    return place if filled else None


def thresholds(V: Array, V_hat: Array, observed: Mask, use: Mask) -> tuple[float, float]:
    """From how many deviations below and above its prediction an entry is suspect.

    On each side the smallest number, from `NEAREST` to `BEYOND`, beyond which the other side has at most the
    share `FALSE` of this side's entries: that many of them are sound.
    """
    deviations, factor = _distances(V, V_hat, observed, use)
    far = deviations[observed & (factor >= 1)]
    return _threshold(-far, far), _threshold(far, -far)


def far_from(V: Array, V_hat: Array, observed: Mask, use: Mask) -> Mask:
    """The entries that are `FAR` deviations or more from their prediction."""
    return np.abs(_distances(V, V_hat, observed, use)[0]) >= FAR


def _threshold(this: Array, other: Array) -> float:
    steps = np.arange(NEAREST, BEYOND, 0.1)
    here, there = (np.sort(side[side > 0]) for side in (this, other))
    left, right = (side.size - np.searchsorted(side, steps) for side in (here, there))
    clear = right + 3 * np.sqrt(right + 1) <= FALSE * left
    return float(steps[np.argmax(clear)]) if clear.any() else BEYOND


def _distances(V: Array, V_hat: Array, observed: Mask, use: Mask) -> tuple[Array, Array]:
    """(v - p) in standard deviations, and the factor between v and p, in powers of `RATIO`."""
    residual = np.where(observed, V, V_hat) - V_hat
    # Many models fit a zero exactly, so such a residual says nothing about the others.
    scale = np.maximum(entry_scale(residual, use & (V > 0)), np.finfo(V_hat.dtype).tiny)
    larger, smaller = np.maximum(V, V_hat), np.minimum(V, V_hat)
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.log(larger / smaller) / np.log(RATIO)
    return residual / scale, np.nan_to_num(factor, nan=0.0, posinf=np.inf)


def quantile_of_used(size: Array, use: Mask, axis: int, share: float = QUANTILE) -> npt.NDArray[np.float64]:
    """A quantile of each row or column over its used entries; NaN if none."""
    ordered = np.sort(np.where(use, size, np.inf), axis=axis)
    count = use.sum(axis=axis)
    place = np.expand_dims(np.maximum(0, np.ceil(share * count).astype(int) - 1), axis)
    found = np.take_along_axis(ordered, place, axis=axis).squeeze(axis).astype(np.float64)
    return np.where(count > 0, found, np.nan)


def _middle(scales: npt.NDArray[np.float64]) -> float:
    positive = scales[scales > 0]
    return float(np.median(positive)) if positive.size else 1.0


def _floored(scales: npt.NDArray[np.float64], middle: float | None = None) -> npt.NDArray[np.float64]:
    middle = _middle(scales) if middle is None else middle
    return np.maximum(np.nan_to_num(scales, nan=middle), LEAST * middle)
