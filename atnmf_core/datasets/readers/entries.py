"""The entries of V: which are missing, and what happens to negative and infinite ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import Remedy, UnreadableData
from .limits import Limits
from .options import ReadingOptions
from .stored import StoredArray

__all__ = ["clean_entries", "stored_numbers"]

Array = npt.NDArray[np.floating]
Mask = npt.NDArray[np.bool_]
# What people write where there is no value, if it is far below what the data has otherwise.
PLACEHOLDERS = {-9999.0, -999.0, -99999.0, -32768.0, -32767.0, -1e20, -1e30, -1e34, -9990.0, -9998.0}


def clean_entries(
    to_V: Callable[[npt.NDArray[Any]], npt.NDArray[Any]],
    stored: StoredArray,
    options: ReadingOptions,
    limits: Limits,
) -> tuple[Array, tuple[str, ...]]:
    """V as floating-point numbers that are nonnegative or NaN, with sentences about what was changed.

    What the file or the user declares to be missing becomes NaN, "not observed". Negative entries are
    refused, set to 0 or missing, as the user says. Infinite entries are refused.
    """
    values = to_V(stored.values)
    dtype = np.float32 if values.size > limits.float32_above else np.float64
    with np.errstate(all="ignore"):
        V: Array = np.array(values, dtype=dtype, order="C")
        _scale(V, stored.gain, stored.offset)
    notes = []
    for what, missing in _declared_missing(values, to_V, stored, options):
        count = int(missing.sum())
        if count:
            V[missing] = np.nan
            notes.append(f"{_count(count, 'entry', 'entries')} {what}: not observed.")
    if dtype == np.float32 and values.dtype.itemsize > 4:
        notes.append("A matrix of this size is held in single precision.")
    _refuse_useless(V, stored.label)
    notes.extend(_without_negative(V, values, stored, options))
    return V, tuple(notes)


def stored_numbers(V: Array, stored: StoredArray) -> npt.NDArray[Any]:
    """Entries of V as the file would store them: the inverse of the scaling, rounded for whole numbers.

    NaN becomes the file's no-data value.
    """
    dtype = stored.values.dtype
    numbers = np.array(V, dtype=np.float64)
    gap = np.isnan(numbers)
    numbers = (numbers - stored.offset) / stored.gain
    placeholder = stored.nodata[0] if stored.nodata else np.nan
    if dtype.kind == "f":
        return np.where(gap, placeholder, numbers).astype(dtype)
    if gap.any() and np.isnan(placeholder):
        raise UnreadableData(
            f"{stored.label} holds whole numbers and declares no value for missing entries: they cannot be "
            "written in its format."
        )
    bounds = np.iinfo(dtype) if dtype.kind in "iu" else np.iinfo(np.uint8)
    high = bounds.max if dtype.kind in "iu" else 1
    rounded = np.clip(np.rint(np.where(gap, 0, numbers)), bounds.min, high)
    return np.where(gap, placeholder, rounded).astype(dtype)


def _scale(V: Array, gain: float, offset: float) -> None:
    divisor = 1 / gain
    # Dividing by 10,000 gives the nearest number to 0.1234; multiplying by 0.0001 often does not.
    if gain < 1 and abs(divisor - round(divisor)) < 1e-6 * divisor:
        V /= round(divisor)
    elif gain != 1:
        V *= gain
    if offset:
        V += offset


def _declared_missing(
    values: npt.NDArray[Any],
    to_V: Callable[[npt.NDArray[Any]], npt.NDArray[Any]],
    stored: StoredArray,
    options: ReadingOptions,
) -> list[tuple[str, Mask]]:
    """What is missing and why, as masks of the shape of V; an entry is counted once, for the first reason."""
    found: list[tuple[str, Mask]] = []
    if stored.missing is not None:
        found.append(
            ("marked as bad in the file", to_V(np.broadcast_to(stored.missing, stored.values.shape)))
        )
    nodata = _equal_to_any(values, (*stored.nodata, *options.nodata))
    if nodata is not None:
        found.append(("with the no-data value", nodata))
    if stored.valid_range is not None:
        low, high = stored.valid_range
        found.append(("outside the valid range that the file states", (values < low) | (values > high)))
    if options.saturated is not None:
        found.append(("saturated", values >= options.saturated))
    already = np.zeros(values.shape, dtype=bool)
    once = []
    for what, mask in found:
        once.append((what, mask & ~already))
        already |= mask
    return once


def _equal_to_any(values: npt.NDArray[Any], numbers: tuple[float, ...]) -> Mask | None:
    missing = None
    for number in numbers:
        stored = _as_stored(number, values.dtype)
        if stored is not None:
            here = values == stored
            missing = here if missing is None else missing | here
    return missing


def _as_stored(number: float, dtype: np.dtype[Any]) -> Any:
    """The number as an entry of this type would have it, None where no entry can be equal to it."""
    if np.isnan(number):
        return None
    if dtype.kind == "f":
        with np.errstate(all="ignore"):
            return dtype.type(number)
    if dtype.kind == "b" or not float(number).is_integer():
        return None
    bounds = np.iinfo(dtype)
    return dtype.type(int(number)) if bounds.min <= number <= bounds.max else None


def _refuse_useless(V: Array, label: str) -> None:
    if np.isnan(V).all():
        raise UnreadableData(f"{label} has no value at all: every entry is missing.")
    infinite = int(np.isinf(V).sum())
    if infinite:
        raise UnreadableData(
            f"{label} has {_count(infinite, 'infinite entry', 'infinite entries')}.",
            [Remedy("nodata", float("inf"), "count them as missing")],
        )


def _without_negative(
    V: Array, values: npt.NDArray[Any], stored: StoredArray, options: ReadingOptions
) -> list[str]:
    negative = V < 0
    count = int(negative.sum())
    if not count:
        return []
    if options.negative == "refuse":
        raise UnreadableData(
            f"{stored.label} has {_count(count, 'negative entry', 'negative entries')}, down to "
            f"{np.nanmin(V):.4g}; a nonnegative factorization cannot use them.",
            _remedies(V, values[negative]),
        )
    V[negative] = 0 if options.negative == "zero" else np.nan
    became = "set to 0" if options.negative == "zero" else "taken as missing"
    return [f"{_count(count, 'negative entry was', 'negative entries were')} {became}."]


def _remedies(V: Array, negative: npt.NDArray[Any]) -> list[Remedy]:
    """A value that stands for "no data" is better left out than set to 0; noise around 0 is not."""
    lowest = float(negative.min())
    alone = bool((negative == lowest).all())
    far = -lowest > 10 * float(np.nanmax(np.abs(V[V >= 0]), initial=0)) if alone else False
    remedies = []
    if lowest in PLACEHOLDERS or lowest < -1e19 or (alone and far and negative.size > 1):
        remedies.append(Remedy("nodata", lowest, f"read {lowest:.6g} as missing"))
    if not (remedies and alone):
        remedies.append(Remedy("negative", "zero", "set negative entries to 0"))
        remedies.append(Remedy("negative", "missing", "read them as missing"))
    return remedies


def _count(number: int, one: str, many: str) -> str:
    return f"1 {one}" if number == 1 else f"{number:,} {many}"
