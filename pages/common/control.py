"""Controls as data: each declares its default and its range once, from which it is read from an address,
written to one, and drawn.

A page declares its controls as the fields of a frozen dataclass::

    @dataclass(frozen=True)
    class Setting:
        K: int = declare(Number(25, "Parts K", 1, 100))

`Setting` is then plain data, the rest of the page is a function of it, and `Address` keeps it in the address
bar, under the names of its fields. Values in an address are not trusted: one that its control could not have
given is replaced by the default.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from typing import Any, TypeVar

import streamlit as st

T = TypeVar("T")
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

    def read(self, text: str) -> Any:
        """The value of a text in an address; None or a ValueError if it is not a value of this control."""
        raise NotImplementedError

    def spell(self, value: Any) -> str:
        return f"{value:.10g}" if isinstance(value, float) else str(value)

    def draw(self, key: str, **options: Any) -> None:
        raise NotImplementedError(f"{key} has no widget of its own")

    def understand(self, text: str | None) -> Any:
        """As `read`, with the default for an invalid text or none."""
        try:
            value = None if text is None else self.read(text)
        except ValueError:
            value = None
        return self.default if value is None else value


@dataclass(frozen=True)
class Text(Control):
    """A text that matches a regular expression. No single widget sets it."""

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
        """What people read."""
        return self.form.format(stop)

    def draw(self, key: str, *, stops: Sequence[float] | None = None, **options: Any) -> None:
        """`stops` are those available now."""
        options = {"format_func": self.word, "help": self.help} | options
        value = st.session_state[key]
        st.select_slider(self.label, self.stops if stops is None else stops, value, key=key, **options)


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
        """`high` is a lower maximum; if it leaves nothing to choose, nothing is drawn."""
        most = self.high if high is None else min(high, self.high)
        if most > self.low:
            widget = st.number_input if self.typed else st.slider
            value = min(st.session_state[key], most)
            widget(self.label, self.low, most, value, key=key, **{"help": self.help} | options)


@dataclass(frozen=True)
class Real(Control):
    """Any finite number, typed."""

    step: float = 1.0

    def read(self, text: str) -> float | None:
        value = float(text)
        return value if math.isfinite(value) else None

    def draw(self, key: str, **options: Any) -> None:
        options = {"help": self.help, "value": st.session_state[key]} | options
        st.number_input(self.label, step=self.step, format="%g", key=key, **options)


@dataclass(frozen=True)
class Switch(Control):
    """On or off."""

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
        """`among` are the options available now; `widget` draws them other than as segments."""
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
        """`widget` draws them other than as pills."""
        value = st.session_state[key]
        options = {"format_func": self.options.get, "help": self.help, "default": value} | options
        if widget is None:
            st.pills(self.label, self.options, selection_mode="multi", key=key, **options)
        else:
            widget(self.label, self.options, key=key, **options)


def _kind(options: Mapping[T, str]) -> type[T]:
    return type(next(iter(options)))


def declare(control: Control) -> Any:
    """A dataclass field that this control sets."""
    return field(default=control.default, metadata={"control": control})


def redeclare(kind: type, name: str, default: Any = None) -> Any:
    """A field as another dataclass declares it, perhaps with another default."""
    control = controls_of(kind)[name]
    return declare(control if default is None else replace(control, default=default))


def controls_of(kind: type) -> dict[str, Control]:
    """The controls of a dataclass by the names of their fields."""
    return {one.name: one.metadata["control"] for one in fields(kind)}


def read_query(controls: Mapping[str, Control], query: Mapping[str, str]) -> dict[str, Any]:
    """The values in a query, which may be any."""
    return {name: control.understand(query.get(name)) for name, control in controls.items()}


def spell_query(controls: Mapping[str, Control], values: Mapping[str, Any]) -> dict[str, str]:
    """The query for values, without those at their defaults."""
    return {
        name: control.spell(values[name])
        for name, control in controls.items()
        if values[name] is not None and values[name] != control.default
    }
