"""Controls of the chapters, as data: each can be drawn, written in an address, read from one, and hidden."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import streamlit as st

__all__ = ["Choice", "Control", "Number", "Several", "Stops"]


@dataclass(frozen=True)
class Control:
    """A value that the reader of a chapter sets.

    `name` is its word in an address, `label` what the reader sees. With `inside`, the chapter's picture draws
    it itself.
    """

    name: str
    label: str
    default: Any
    _: KW_ONLY
    help: str = ""
    inside: bool = False

    def read(self, text: str) -> Any:
        """The value that an address spells, None (or a ValueError) where that is none of this control's."""
        raise NotImplementedError

    def spell(self, value: Any) -> str:
        return f"{value:g}" if isinstance(value, float) else str(value)

    def draw(self, key: str) -> None:
        """The widget; the session holds its value under `key` already."""
        raise NotImplementedError


@dataclass(frozen=True)
class Stops(Control):
    """A slider over given numbers."""

    stops: tuple[float, ...]
    form: str = "{:g}"

    def read(self, text: str) -> float | None:
        value = float(text)
        if not self.stops[0] - 1e-9 <= value <= self.stops[-1] + 1e-9:
            return None
        return min(self.stops, key=lambda stop: abs(stop - value))

    def draw(self, key: str) -> None:
        st.select_slider(
            self.label, self.stops, format_func=self.form.format, key=key, help=self.help or None
        )


@dataclass(frozen=True)
class Number(Control):
    """A whole number: on a slider, or typed where there are too many for one."""

    low: int
    high: int
    typed: bool = False

    def read(self, text: str) -> int | None:
        value = int(text)
        return value if self.low <= value <= self.high else None

    def draw(self, key: str) -> None:
        widget = st.number_input if self.typed else st.slider
        widget(self.label, self.low, self.high, key=key, help=self.help or None)


@dataclass(frozen=True)
class Choice(Control):
    """One of a few, by name."""

    options: Mapping[str, str]

    def read(self, text: str) -> str | None:
        return text if text in self.options else None

    def draw(self, key: str) -> None:
        st.segmented_control(
            self.label,
            self.options,
            format_func=self.options.get,
            key=key,
            required=True,
            help=self.help or None,
        )


@dataclass(frozen=True)
class Several(Control):
    """Any of a few whole numbers, at least one of which stays unchosen; the value is a sorted tuple."""

    options: tuple[int, ...]

    def read(self, text: str) -> tuple[int, ...] | None:
        chosen = tuple(sorted({int(word) for word in text.split("-") if word}))
        return chosen if set(chosen) < set(self.options) else None

    def spell(self, value: Sequence[int]) -> str:
        return "-".join(str(one) for one in sorted(value))

    def draw(self, key: str) -> None:
        widget = f"{key}_pills"
        st.session_state[widget] = list(st.session_state[key])

        def take() -> None:
            chosen = tuple(sorted(st.session_state[widget]))
            if len(chosen) < len(self.options):
                st.session_state[key] = chosen

        st.pills(
            self.label,
            self.options,
            selection_mode="multi",
            key=widget,
            on_change=take,
            help=self.help or None,
        )
