"""What a chapter is: one idea, its controls, and a picture that follows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .control import Control
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
    """For a text that needs none."""
    return {}


@dataclass(frozen=True)
class Chapter:
    """One idea.

    Attributes
    ----------
    name : of its text.
    short : what it is called in the list of chapters.
    controls : everything the reader can set.
    show : draws the picture.
    facts : computes what its text leaves open.
    """

    name: str
    short: str
    controls: tuple[Control, ...]
    show: Callable[[Stage], None]
    facts: Callable[[Stage], dict[str, str]] = no_facts

    @property
    def text(self) -> Text:
        return read_text(self.name)
