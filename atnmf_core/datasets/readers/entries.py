"""The entries of V: which are missing, and what happens to negative and infinite ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from ...problem import Array, Mask
from .errors import Remedy, UnreadableData
from .limits import Limits
from .options import ReadingOptions
from .stored import StoredArray

# Values that people use for missing entries, if far below the rest of the data.
PLACEHOLDERS = {-9999.0, -999.0, -99999.0, -32768.0, -32767.0, -1e20, -1e30, -1e34, -9990.0, -9998.0}


def clean_entries(
    stored: StoredArray, options: ReadingOptions, limits: Limits, *, part: bool = False
) -> tuple[Array, tuple[str, ...]]:
    """The stored numbers, nonnegative or NaN, with notes on what was changed.

    They become floating-point values if anything is changed, and keep their own type otherwise. What the
    file or the user declares missing becomes NaN, "not observed". Negative entries are rejected, set to 0 or
    read as missing, as the user says. Infinite entries are rejected. Only a `part` of an array may be missing
    entirely.
    """
    values = stored.values
    dtype = limits.float_type(values.size)
    missing = list(_declared_missing(stored, options))
    untouched = stored.gain == 1 and stored.offset == 0 and not missing and options.negative == "refuse"
    # A copy of a large array takes a while: only where something is changed, or a number would not fit.
    untouched = untouched and values.flags.aligned and values.dtype.kind != "b"
    kept = values.dtype.newbyteorder("=") if untouched and np.can_cast(values.dtype, dtype) else dtype
    with np.errstate(all="ignore"):
        entries: Array = values.astype(kept, copy=not untouched)
        _scale(entries, stored.gain, stored.offset)
    notes = []
    # The minimum is NaN where any entry is: found without an array of that size.
    empty = int(np.isnan(entries).sum()) if np.isnan(entries.min()) else 0
    if empty:
        notes.append(f"{_count(empty, 'entry is NaN', 'entries are NaN')}: not observed.")
    for what, where in missing:
        gaps = where & ~np.isnan(entries)
        count = int(gaps.sum())
        if count:
            entries[gaps] = np.nan
            notes.append(f"{_count(count, 'entry', 'entries')} {what}: not observed.")
    if dtype == np.float32 and values.dtype.itemsize > 4:
        notes.append("A matrix of this size is held in single precision.")
    lowest = _lowest(entries, stored.label, part)
    if lowest < 0:
        notes.append(_without_negative(entries, stored, options))
    return entries, tuple(notes)


def stored_numbers(V: Array, stored: StoredArray) -> npt.NDArray[Any]:
    """Entries of V as the file would store them: with the scaling undone, rounded for whole numbers.

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


def _declared_missing(stored: StoredArray, options: ReadingOptions) -> Iterator[tuple[str, Mask]]:
    """Which entries are missing, and why."""
    values = stored.values
    if stored.missing is not None:
        yield "marked as bad in the file", np.broadcast_to(stored.missing, values.shape)
    nodata = _equal_to_any(values, (*stored.nodata, *options.nodata))
    if nodata is not None:
        yield "with the no-data value", nodata
    if stored.valid_range is not None:
        low, high = stored.valid_range
        yield "outside the valid range that the file states", (values < low) | (values > high)
    if options.saturated is not None:
        yield "saturated", values >= options.saturated


def _equal_to_any(values: npt.NDArray[Any], numbers: tuple[float, ...]) -> Mask | None:
    missing = None
    for number in numbers:
        stored = _as_stored(number, values.dtype)
        if stored is not None:
            here = values == stored
            missing = here if missing is None else missing | here
    return missing


def _as_stored(number: float, dtype: np.dtype[Any]) -> Any:
    """The number as an entry of this type; None if no entry can equal it."""
    if np.isnan(number):
        return None
    if dtype.kind == "f":
        with np.errstate(all="ignore"):
            return dtype.type(number)
    if dtype.kind == "b" or not float(number).is_integer():
        return None
    bounds = np.iinfo(dtype)
    return dtype.type(int(number)) if bounds.min <= number <= bounds.max else None


def _lowest(entries: Array, label: str, part: bool) -> float:
    """The smallest entry; an error if there is none, or if some are infinite."""
    low, high = float(entries.min()), float(entries.max())
    if np.isnan(low):
        low, high = (float(extreme.reduce(entries, axis=None)) for extreme in (np.fmin, np.fmax))
    if np.isnan(low) and not part:
        raise UnreadableData(f"{label} has no value at all: every entry is missing.")
    if np.isinf(low) or np.isinf(high):
        infinite = int(np.isinf(entries).sum())
        raise UnreadableData(
            f"{label} has {_count(infinite, 'infinite entry', 'infinite entries')}.",
            [Remedy("nodata", float("inf"), "count them as missing")],
        )
    return low


def _without_negative(entries: Array, stored: StoredArray, options: ReadingOptions) -> str:
    negative = entries < 0
    count = int(negative.sum())
    if options.negative == "refuse":
        raise UnreadableData(
            f"{stored.label} has {_count(count, 'negative entry', 'negative entries')}, down to "
            f"{np.nanmin(entries):.4g}; a nonnegative factorization cannot use them.",
            _remedies(entries, stored.values[negative]),
        )
    entries[negative] = 0 if options.negative == "zero" else np.nan
    became = "set to 0" if options.negative == "zero" else "taken as missing"
    return f"{_count(count, 'negative entry was', 'negative entries were')} {became}."


def _remedies(entries: Array, negative: npt.NDArray[Any]) -> list[Remedy]:
    """Offer to leave out what looks like a no-data value, and to set noise around 0 to 0."""
    lowest = float(negative.min())
    alone = bool((negative == lowest).all())
    far = -lowest > 10 * float(np.max(entries[entries >= 0], initial=0)) if alone else False
    remedies = []
    if lowest in PLACEHOLDERS or lowest < -1e19 or (alone and far and negative.size > 1):
        remedies.append(Remedy("nodata", lowest, f"read {lowest:.6g} as missing"))
    if not (remedies and alone):
        remedies.append(Remedy("negative", "zero", "set negative entries to 0"))
        remedies.append(Remedy("negative", "missing", "read them as missing"))
    return remedies


def _count(number: int, one: str, many: str) -> str:
    return f"1 {one}" if number == 1 else f"{number:,} {many}"
