"""What the user may decide about the reading of a file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from ..normalisation import NORMALISATIONS
from .errors import UnreadableData

__all__ = ["Options"]


@dataclass(frozen=True)
class Options:
    """Overrides of the stated rules; None leaves a rule in force. See `read_dataset` for their meaning."""

    name: str | None = None
    variable: str | None = None
    kind: Any = None
    bands_axis: int | None = None
    order: Any = None
    image_shape: tuple[int, int] | None = None
    negative: str = "refuse"
    nodata: Any = ()
    normalisation: str = "none"

    def __post_init__(self) -> None:
        _one_of("kind", self.kind, (None, "faces", "cube", "matrix"))
        _one_of("order", self.order, (None, "F", "C"))
        _one_of("negative", self.negative, ("refuse", "zero"))
        _one_of("normalisation", self.normalisation, tuple(NORMALISATIONS))
        if self.bands_axis is not None and not isinstance(self.bands_axis, Integral):
            raise UnreadableData(
                f"bands_axis={self.bands_axis!r}: the number of an axis is needed, 0, 1 or 2."
            )
        object.__setattr__(self, "image_shape", _image_shape(self.image_shape))
        object.__setattr__(self, "nodata", _numbers(self.nodata))


def _one_of(name: str, value: object, allowed: tuple[object, ...]) -> None:
    if value not in allowed:
        raise UnreadableData(
            f"{name}={value!r}: choose one of {', '.join(repr(one) for one in allowed if one)}."
        )


def _image_shape(given: Any) -> tuple[int, int] | None:
    if given is None:
        return None
    sizes = tuple(given) if isinstance(given, Iterable) else ()
    if len(sizes) != 2 or not all(isinstance(size, Integral) and int(size) > 0 for size in sizes):
        raise UnreadableData(f"image_shape={given!r}: two whole numbers (rows, cols) are needed.")
    return int(sizes[0]), int(sizes[1])


def _numbers(given: Any) -> tuple[float, ...]:
    if given is None:
        return ()
    values = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
    if not all(isinstance(value, Real) for value in values):
        raise UnreadableData(f"nodata={given!r}: one or several numbers are needed.")
    return tuple(float(value) for value in values)
