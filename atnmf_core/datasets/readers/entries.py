"""The entries of V: which are missing, and what happens to negative and infinite ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import UnreadableData
from .limits import Limits
from .options import Options
from .stored import StoredArray

__all__ = ["nonnegative"]

Array = npt.NDArray[np.floating]


def nonnegative(
    values: npt.NDArray[Any], stored: StoredArray, options: Options, limits: Limits
) -> tuple[Array, tuple[str, ...]]:
    """V as floating-point numbers that are nonnegative or NaN, with sentences about what was changed.

    NaN and no-data values become NaN, "not observed". Negative entries are refused, or set to 0 on request,
    as the paper's authors did with their cubes. Infinite entries are refused.
    """
    dtype = np.float32 if values.size > limits.float32_above else np.float64
    missing = _declared_missing(values, (*stored.nodata, *options.nodata))
    with np.errstate(all="ignore"):
        V: Array = np.array(values, dtype=dtype, order="C")
        if stored.scale != 1:
            V /= stored.scale
    notes = []
    if missing is not None:
        V[missing] = np.nan
        notes.append(
            f"{_count(int(missing.sum()), 'entry has', 'entries have')} the no-data value: not observed."
        )
    if dtype == np.float32 and values.dtype.itemsize > 4:
        notes.append("So large a matrix is kept in single precision.")
    _refuse_useless(V, stored.label)
    notes.extend(_without_negative(V, stored.label, options))
    return V, tuple(notes)


def _declared_missing(values: npt.NDArray[Any], nodata: tuple[float, ...]) -> npt.NDArray[np.bool_] | None:
    missing = None
    for number in nodata:
        stored = _as_stored(number, values.dtype)
        if stored is not None:
            here = values == stored
            if here.any():
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
    missing = np.isnan(V)
    if missing.all():
        raise UnreadableData(f"{label} has no value at all: every entry is missing.")
    infinite = int(np.isinf(V).sum())
    if infinite:
        raise UnreadableData(
            f"{label} has {_count(infinite, 'infinite entry', 'infinite entries')}: "
            "if they stand for missing values, say so with nodata=inf."
        )


def _without_negative(V: Array, label: str, options: Options) -> list[str]:
    negative = V < 0
    count = int(negative.sum())
    if not count:
        return []
    if options.negative == "refuse":
        raise UnreadableData(
            f"{label} has {_count(count, 'negative entry', 'negative entries')}, down to "
            f"{np.nanmin(V):.4g}, and a nonnegative "
            "factorization has no use for them: allow them to be set to 0 (negative='zero')."
        )
    V[negative] = 0
    return [f"{_count(count, 'negative entry was', 'negative entries were')} set to 0."]


def _count(number: int, one: str, many: str) -> str:
    return f"1 {one}" if number == 1 else f"{number:,} {many}"
