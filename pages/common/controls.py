"""Controls as data: each declares its default and its range once, from which it is read from an address,
written to one, and drawn.

A page declares its controls as the fields of a frozen dataclass::

    @dataclass(frozen=True)
    class Setting:
        K: int = Number.field(25, "Parts K", 1, 100)

`Setting` is then plain data, the rest of the page is a function of it, and `address.Address` keeps it in the
address bar, under the names of its fields. Values in an address are not trusted: one that its control could
not have given is replaced by the default.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from typing import Any, TypeVar

import streamlit as st

from atnmf_core import Dataset

Pixel = tuple[int, int]  # Row and column of a pixel, counted from 1
COUNT = r"[1-9]\d{0,5}"
T = TypeVar("T")
PIXEL = rf"{COUNT}\.{COUNT}"


def parse_pixel(text: str) -> Pixel:
    row, _, col = text.partition(".")
    return (int(row), int(col)) if col else (0, 0)


def spell_pixel(pixel: Pixel) -> str:
    return f"{pixel[0]}.{pixel[1]}"


def clip_pixel(pixel: Pixel, data: Dataset) -> Pixel:
    rows, cols = data.image_shape
    if pixel == (0, 0):
        return (rows + 1) // 2, (cols + 1) // 2
    return min(pixel[0], rows), min(pixel[1], cols)


EDGE = 1e-9


@dataclass(frozen=True)
class Control:
    """A value that people set; `label` and `help` are what they read.

    `draw` shows the widget, whose value is already in the session under `key`. Other arguments are passed to
    Streamlit's widget.

    Every widget is also given that value as its initial one. A value set through the session is sent with one
    run only: a browser that has not mounted the widget when the next run arrives (its code is still loading,
    or the machine is busy) would start a slider at its minimum and send that back.
    """

    default: Any
    label: str = ""
    _: KW_ONLY
    help: str | None = None

    @classmethod
    def field(cls, *args: Any, **options: Any) -> Any:
        """A dataclass field that such a control sets."""
        return _declare(cls(*args, **options))

    def read(self, text: str) -> Any:
        """The value of a text in an address; None or a ValueError if it is not a value of this control."""
        raise NotImplementedError

    def spell(self, value: Any) -> str:
        return f"{value:.10g}" if isinstance(value, float) else str(value)

    def draw(self, key: str, **options: Any) -> None:
        raise NotImplementedError(f"{key} has no widget of its own")

    def parse_or_default(self, text: str | None) -> Any:
        """As `read`, with the default for an invalid text or none."""
        try:
            value = None if text is None else self.read(text)
        except ValueError:
            value = None
        return self.default if value is None else value


@dataclass(frozen=True)
class Text(Control):
    pattern: str = r"[\x00-\x7f]{0,80}"

    def read(self, text: str) -> str | None:
        return text if re.fullmatch(self.pattern, text, re.DOTALL) else None


@dataclass(frozen=True)
class Stops(Control):
    """A slider over given numbers; an address may name any between the first and the last."""

    stops: Sequence[float] = ()
    form: str = "{:g}"

    def read(self, text: str) -> float | None:
        value = float(text)
        if not self.stops[0] - EDGE <= value <= self.stops[-1] + EDGE:
            return None
        return min(self.stops, key=lambda stop: abs(stop - value))

    def word(self, stop: float) -> str:
        return self.form.format(stop)

    def draw(self, key: str, *, stops: Sequence[float] | None = None, **options: Any) -> None:
        options = {"format_func": self.word, "help": self.help} | options
        value = st.session_state[key]
        st.select_slider(self.label, self.stops if stops is None else stops, value, key=key, **options)


@dataclass(frozen=True)
class FreeSlider(Stops):
    """A slider; an address may name any number above `low` up to `high`. `none` is read for infinity."""

    low: float = 0.0
    high: float = math.inf
    none: str = "none"

    def read(self, text: str) -> float | None:
        value = float(text)
        return value if self.low < value <= self.high else None

    def spell(self, value: float) -> str:
        """With all its digits: rounded, it would name another fit."""
        return repr(float(value)).removesuffix(".0")

    def draw(self, key: str, **options: Any) -> None:
        state = st.session_state
        if state[key] not in self.stops:
            state[f"{key}_beside"] = state[key]
        beside = state.get(f"{key}_beside", self.default)
        super().draw(key, stops=sorted({*self.stops, beside}), **options)

    def word(self, stop: float) -> str:
        # Streamlit tells options apart by their words, so no two of them may be rounded to the same.
        return self.none if math.isinf(stop) else self.spell(stop)


@dataclass(frozen=True)
class Number(Control):
    """A whole number: on a slider, or `typed` if there are too many for one."""

    low: int = 0
    high: int = 10**6
    typed: bool = False

    def read(self, text: str) -> int | None:
        value = int(text)
        return value if self.low <= value <= self.high else None

    def draw(self, key: str, *, high: int | None = None, **options: Any) -> None:
        most = self.high if high is None else min(high, self.high)
        if most > self.low:
            widget = st.number_input if self.typed else st.slider
            value = min(st.session_state[key], most)
            widget(self.label, self.low, most, value, key=key, **{"help": self.help} | options)


@dataclass(frozen=True)
class Real(Control):
    step: float = 1.0

    def read(self, text: str) -> float | None:
        value = float(text)
        return value if math.isfinite(value) else None

    def draw(self, key: str, **options: Any) -> None:
        options = {"help": self.help, "value": st.session_state[key]} | options
        st.number_input(self.label, step=self.step, format="%g", key=key, **options)


@dataclass(frozen=True)
class Switch(Control):
    def read(self, text: str) -> bool:
        return text == "1"

    def spell(self, value: bool) -> str:
        return "1" if value else "0"

    def draw(self, key: str, **options: Any) -> None:
        st.toggle(self.label, st.session_state[key], key=key, **{"help": self.help} | options)


@dataclass(frozen=True)
class OneOf(Control):
    """One of several values. `options` maps each to what people read."""

    options: Mapping[Any, str] = field(default_factory=dict)

    def read(self, text: str) -> Any:
        value = _kind(self.options)(text)
        return value if value in self.options else None

    def draw(
        self,
        key: str,
        *,
        among: Mapping[Any, str] | None = None,
        widget: Callable[..., Any] | None = None,
        **options: Any,
    ) -> None:
        names = self.options if among is None else among
        options = {"format_func": names.get, "help": self.help} | options
        value = st.session_state[key]
        if widget is None:
            st.segmented_control(self.label, names, default=value, key=key, required=True, **options)
        else:
            widget(self.label, names, index=list(names).index(value), key=key, **options)


@dataclass(frozen=True)
class Several(Control):
    """Any of several values; the control's value is a tuple in the order of the options."""

    options: Mapping[Any, str] = field(default_factory=dict)
    separator: str = ","

    def read(self, text: str) -> tuple[Any, ...] | None:
        asked = {_kind(self.options)(word) for word in text.split(self.separator) if word}
        return tuple(option for option in self.options if option in asked)

    def spell(self, value: Sequence[Any]) -> str:
        # Streamlit returns them in the order of the clicks.
        offered = (option for option in self.options if option in value)
        return self.separator.join(f"{one:.10g}" if isinstance(one, float) else str(one) for one in offered)

    def draw(self, key: str, *, widget: Callable[..., Any] | None = None, **options: Any) -> None:
        value = st.session_state[key]
        options = {"format_func": self.options.get, "help": self.help, "default": value} | options
        if widget is None:
            st.pills(self.label, self.options, selection_mode="multi", key=key, **options)
        else:
            widget(self.label, self.options, key=key, **options)


def _kind(options: Mapping[T, str]) -> type[T]:
    return type(next(iter(options)))


def _declare(control: Control) -> Any:
    return field(default=control.default, metadata={"control": control})


def redeclare(kind: type, name: str, default: Any = None) -> Any:
    """A field as another dataclass declares it, perhaps with another default."""
    control = controls_of(kind)[name]
    return _declare(control if default is None else replace(control, default=default))


def controls_of(kind: type) -> dict[str, Control]:
    return {one.name: one.metadata["control"] for one in fields(kind)}
