"""What a user may say about how to read a file, and how that is written."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any

from ..dataset import Kind
from ..normalisation import NORMALISATIONS
from .errors import Remedy, UnreadableData, number_text


@dataclass(frozen=True)
class ReadingOptions:
    """Answers to what a file does not say, or says wrongly; None lets the rules decide.

    Attributes
    ----------
    variable : which array of the file to read.
    kind : "faces", "cube" or "matrix".
    image_shape : (rows, cols), for arrays that have all pixels on one axis.
    order : "F" if pixels are stored column by column, "C" if row by row.
    bands_axis : which axis of the array counts the bands of a cube, or the images of faces.
    nodata : stored numbers that stand for missing entries.
    saturated : stored numbers from here up are saturated and count as missing.
    negative : "refuse" entries below 0, set them to "zero", or count them as "missing".
    normalisation : "none", "maximum" or "lee-seung".
    """

    variable: str | None = None
    kind: Kind | None = None
    image_shape: tuple[int, int] | None = None
    order: Any = None
    bands_axis: int | None = None
    nodata: Any = ()
    saturated: float | None = None
    negative: str = "refuse"
    normalisation: str = "none"

    def __post_init__(self) -> None:
        _one_of("kind", self.kind, (None, "faces", "cube", "matrix"))
        _one_of("order", self.order, (None, "F", "C"))
        _one_of("negative", self.negative, ("refuse", "zero", "missing"))
        _one_of("normalisation", self.normalisation, tuple(NORMALISATIONS))
        if self.bands_axis is not None and not isinstance(self.bands_axis, Integral):
            raise _wrong("bands_axis", self.bands_axis, "the number of an axis is needed, 0, 1 or 2")
        if self.saturated is not None and not isinstance(self.saturated, Real):
            raise _wrong("saturated", self.saturated, "a number is needed")
        object.__setattr__(self, "image_shape", _image_shape(self.image_shape))
        object.__setattr__(self, "nodata", _numbers(self.nodata))

    def arguments(self) -> dict[str, Any]:
        """The settings that differ from the default, as arguments of `read_dataset`."""
        return {
            field.name: value
            for field in fields(self)
            if (value := getattr(self, field.name)) != field.default
        }

    def words(self) -> dict[str, str]:
        """The settings that differ from the default, each as one word, for an address or a command line."""
        return {name: SPELLINGS[name][0](value) for name, value in self.arguments().items()}

    @classmethod
    def from_words(cls, words: Mapping[str, str]) -> ReadingOptions:
        """The inverse of `words`; other names are ignored."""
        given = {}
        for name in SPELLINGS.keys() & words.keys():
            try:
                given[name] = SPELLINGS[name][1](words[name])
            except ValueError as error:
                raise _wrong(name, words[name], "that is not understood") from error
        return cls(**given)

    def python(self) -> str:
        """The settings as they follow the file in a call of `read_dataset`."""
        return "".join(f", {Remedy(name, value, '').python()}" for name, value in self.arguments().items())

    def command_line(self) -> str:
        """The settings as options of a command that reads a file."""
        return "".join(f" {option_text(name, value)}" for name, value in self.arguments().items())


def option_text(name: str, value: Any) -> str:
    """A setting as it is given on a command line."""
    option = f"--{name.replace('_', '-')}"
    if value is None:
        return option
    values = value if name == "nodata" and isinstance(value, tuple) else (value,)
    # With an equals sign, because a negative number after a space looks like another option.
    return " ".join(shlex.quote(f"{option}={SPELLINGS[name][0](one)}") for one in values)


def parse_image_shape(text: str) -> tuple[int, int]:
    """(rows, cols) from a text such as 50x40.

    Examples
    --------
    >>> parse_image_shape("50x40")
    (50, 40)
    """
    rows, _, cols = text.lower().partition("x")
    if not (rows.isdecimal() and cols.isdecimal() and int(rows) and int(cols)):
        raise ValueError(f"{text!r} is not an image size: write it as 50x40")
    return int(rows), int(cols)


def _nodata_text(value: float | tuple[float, ...]) -> str:
    return ",".join(number_text(one) for one in (value if isinstance(value, tuple) else (value,)))


SPELLINGS: dict[str, tuple[Callable[[Any], str], Callable[[str], Any]]] = {
    "variable": (str, str),
    "kind": (str, str),
    "image_shape": (lambda shape: f"{shape[0]}x{shape[1]}", parse_image_shape),
    "order": (str, str),
    "bands_axis": (str, int),
    "nodata": (_nodata_text, lambda text: tuple(float(word) for word in text.split(","))),
    "saturated": (number_text, float),
    "negative": (str, str),
    "normalisation": (str, str),
}


def _wrong(setting: str, value: object, why: str) -> UnreadableData:
    return UnreadableData(f"{setting}={value!r}: {why}.", setting=setting)


def _one_of(name: str, value: object, allowed: tuple[object, ...]) -> None:
    if value not in allowed:
        raise _wrong(name, value, f"choose one of {', '.join(repr(one) for one in allowed if one)}")


def _image_shape(given: Any) -> tuple[int, int] | None:
    if given is None:
        return None
    sizes = tuple(given) if isinstance(given, Iterable) else ()
    if len(sizes) != 2 or not all(isinstance(size, Integral) and int(size) > 0 for size in sizes):
        raise _wrong("image_shape", given, "two whole numbers (rows, cols) are needed")
    return int(sizes[0]), int(sizes[1])


def _numbers(given: Any) -> tuple[float, ...]:
    if given is None:
        return ()
    values = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
    if not all(isinstance(value, Real) for value in values):
        raise _wrong("nodata", given, "one or several numbers are needed")
    return tuple(float(value) for value in values)
