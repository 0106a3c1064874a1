"""What a chapter is: one idea, its controls, and a picture that follows them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.common.control import Control

from .components import moving_picture
from .text import ChapterText, read_text

MAX_IN_A_ROW = 3


@dataclass(frozen=True)
class Stage:
    """Where and how a chapter is shown.

    Attributes
    ----------
    values : of the controls, by name.
    key : the session key of a control.
    hidden : names of the controls that are not shown.
    presenting : whether everything is large, for a projector.
    """

    values: Mapping[str, Any]
    key: Callable[[str], str]
    hidden: frozenset[str] = frozenset()
    presenting: bool = False

    @property
    def letters(self) -> int:
        """The font size of plots, in pixels."""
        return 20 if self.presenting else 14

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


@dataclass(frozen=True)
class Chapter:
    """One idea.

    Attributes
    ----------
    name : of its text.
    short : its name in the list of chapters.
    controls : everything that the reader can set, by its name in an address.
    in_picture : names of the controls that `show` draws itself.
    show : draws the picture.
    facts : computes the numbers for the gaps in its text.
    """

    name: str
    short: str
    controls: Mapping[str, Control]
    show: Callable[[Stage], None]
    in_picture: Collection[str] = ()
    facts: Callable[[Stage], dict[str, str]] = lambda stage: {}

    @property
    def text(self) -> ChapterText:
        return read_text(self.name)


def show_controls(chapter: Chapter, stage: Stage, names: Collection[str]) -> None:
    """Those that are not hidden, in rows of equal length, or nearly: four are two and two."""
    shown = [name for name in names if name not in stage.hidden]
    rows = math.ceil(len(shown) / MAX_IN_A_ROW)
    for row in range(rows):
        with st.container(horizontal=True, gap="medium"):
            for name in shown[row * len(shown) // rows : (row + 1) * len(shown) // rows]:
                chapter.controls[name].draw(stage.key(name))


def show_film(stage: Stage, picture: str, film: Mapping[str, Any], last: int, *shared: str) -> None:
    """A moving picture with a player, whose place is the control "at"."""
    key = stage.key("picture")

    def stay() -> None:
        st.session_state[stage.key("at")] = min(last, int(st.session_state[key]["at"]))

    moving_picture(picture, "agree", "player", *shared)(
        data={**film, "at": min(stage["at"], last), "player": "at" not in stage.hidden},
        key=key,
        on_at_change=stay,
    )
