"""Where a reader is: the chapter, what its controls say, and what a teacher's link asks for. All of it is in
the address.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pages.common.address import Address, remembered

from .chapter import Chapter, Stage
from .chapters import CHAPTERS
from .control import Control

__all__ = ["Place", "address", "control_key", "query_of"]

PAGE = "learn"
CHAPTER, HIDE, PRESENT = "learn_chapter", "learn_hide", "learn_present"
NAVIGATION, QUESTIONS = "chapters", "questions"
"""Names that a link can hide beside those of controls."""


@dataclass(frozen=True)
class Place:
    """The page as one value."""

    number: int
    hidden: frozenset[str]
    presenting: bool
    values: Mapping[str, Any]

    @property
    def chapter(self) -> Chapter:
        return CHAPTERS[self.number - 1]

    @property
    def stage(self) -> Stage:
        said = {control.name: self.values[self.key(control.name)] for control in self.chapter.controls}
        return Stage(said, self.key, self.hidden, self.presenting)

    def key(self, name: str) -> str:
        return control_key(self.number, name)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Place:
        return cls(values[CHAPTER], frozenset(values[HIDE]), values[PRESENT], values)


def control_key(number: int, name: str) -> str:
    """The session key of a chapter's control."""
    return f"learn_{number}_{name}"


def query_of(place: Place) -> dict[str, str]:
    """How an address spells a place: the chapter, and what differs from its first view."""
    query = {"chapter": str(place.number)} if place.number != 1 else {}
    for control in place.chapter.controls:
        value = place.values[place.key(control.name)]
        if value != control.default:
            query[control.name] = control.spell(value)
    if place.hidden:
        query["hide"] = ",".join(sorted(place.hidden))
    if place.presenting:
        query["present"] = "1"
    return query


def _read(query: Mapping[str, str]) -> dict[str, Any]:
    """Every value of the page. What an address does not say of its own chapter, or says wrongly, is as on the
    first view; other chapters stay as they were left.
    """
    left = remembered(PAGE) or {}
    number = int(query["chapter"]) if query.get("chapter") in map(str, range(1, len(CHAPTERS) + 1)) else 1
    values: dict[str, Any] = {
        key: control.default if at == number else left.get(key, control.default)
        for at, chapter in enumerate(CHAPTERS, start=1)
        for control in chapter.controls
        for key in (control_key(at, control.name),)
    }
    for control in CHAPTERS[number - 1].controls:
        if control.name in query:
            values[control_key(number, control.name)] = _attempt(control, query[control.name])
    words = tuple(sorted(set(query.get("hide", "").split(",")) & _can_be_hidden()))
    return values | {CHAPTER: number, HIDE: words, PRESENT: query.get("present") == "1"}


def _attempt(control: Control, text: str) -> Any:
    try:
        value = control.read(text)
    except ValueError:
        value = None
    return control.default if value is None else value


def _can_be_hidden() -> set[str]:
    names = {control.name for chapter in CHAPTERS for control in chapter.controls}
    return names | {NAVIGATION, QUESTIONS}


address = Address(PAGE, _read, lambda values: query_of(Place.of(values)))
