"""What a chapter is: one idea, its controls, and a picture that follows them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from pages.common.control import Control

from .text import Text, read_text

__all__ = ["Chapter", "Stage"]


@dataclass(frozen=True)
class Stage:
    """Where and how a chapter is shown.

    Attributes
    ----------
    values : what the controls say, by name.
    key : the session key of a control.
    hidden : names of the controls that must not be shown.
    presenting : whether everything is to be large.
    """

    values: Mapping[str, Any]
    key: Callable[[str], str]
    hidden: frozenset[str] = frozenset()
    presenting: bool = False

    @property
    def letters(self) -> int:
        """The size of a plot's letters, in pixels."""
        return 20 if self.presenting else 14

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


def no_facts(stage: Stage) -> dict[str, str]:
    """Of a text that needs none."""
    return {}


@dataclass(frozen=True)
class Chapter:
    """One idea.

    Attributes
    ----------
    name : of its text.
    short : what it is called in the list of chapters.
    controls : everything the reader can set, by the word that an address has for it.
    in_picture : names of the controls that the picture draws itself.
    show : draws the picture.
    facts : computes the numbers that its text has gaps for.
    """

    name: str
    short: str
    controls: Mapping[str, Control]
    show: Callable[[Stage], None]
    in_picture: Collection[str] = ()
    facts: Callable[[Stage], dict[str, str]] = no_facts

    @property
    def text(self) -> Text:
        return read_text(self.name)
