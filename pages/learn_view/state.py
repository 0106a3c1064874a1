"""The state of the lesson: the chapter, its controls, and what a teacher's link asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pages.common.state import Address, Control, Number, Several, Switch, last_shown, read_query, spell_query

from .chapter import Chapter, Stage
from .chapters import CHAPTERS
from .exercises import EXERCISES, Exercise

PAGE = "learn"
NAVIGATION, QUESTIONS = "chapters", "questions"
"""What a link can hide besides controls."""
HIDEABLE = sorted({NAVIGATION, QUESTIONS, *(name for chapter in CHAPTERS for name in chapter.controls)})
OF_THE_PAGE: dict[str, Control] = {
    "chapter": Number(1, "Chapter", 1, len(CHAPTERS)),
    "hide": Several((), "Leave out", dict.fromkeys(HIDEABLE, "")),
    "present": Switch(False, "Presenting"),
    "exercise": Number(0, "Exercise", 0, len(EXERCISES)),
    "solution": Switch(False, "Solution"),
    "notes": Switch(False, "Notes for teachers"),
    "student": Switch(False, "For students"),
    "sheet": Switch(False, "Exercises on one page"),
    "tasks": Several((), "Exercises", dict(enumerate((one.title for one in EXERCISES), start=1)), "-"),
}


def control_key(number: int, name: str) -> str:
    """The session key of a control, of the page or of a chapter."""
    return f"{PAGE}_{name}" if name in OF_THE_PAGE else f"{PAGE}_{number}_{name}"


CHAPTER, HIDE, PRESENT, EXERCISE, SOLUTION, NOTES, STUDENT, SHEET, TASKS = (
    control_key(0, name) for name in OF_THE_PAGE
)


@dataclass(frozen=True)
class LessonState:
    """The state of the page.

    Attributes
    ----------
    exercise : the number of the chosen exercise; 0 for none.
    solution : whether its answer is shown.
    notes : whether the notes for teachers are shown instead of a chapter.
    student : whether there is nothing for teachers, and no solution.
    sheet : whether exercises are shown instead of a chapter; `tasks` are their numbers, none for all.
    """

    number: int
    hidden: frozenset[str]
    presenting: bool
    exercise: int
    solution: bool
    notes: bool
    student: bool
    sheet: bool
    tasks: tuple[int, ...]
    values: Mapping[str, Any]

    @property
    def chapter(self) -> Chapter:
        return CHAPTERS[self.number - 1]

    @property
    def stage(self) -> Stage:
        said = {name: self.values[self.key(name)] for name in self.chapter.controls}
        return Stage(said, self.key, self.hidden, self.presenting)

    @property
    def task(self) -> Exercise | None:
        """The exercise, in its own chapter."""
        asked = EXERCISES[self.exercise - 1] if self.exercise else None
        return asked if asked is not None and asked.chapter == self.number else None

    def key(self, name: str) -> str:
        return control_key(self.number, name)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> LessonState:
        return cls(
            number=values[CHAPTER],
            hidden=frozenset(values[HIDE]),
            presenting=values[PRESENT],
            exercise=values[EXERCISE],
            solution=values[SOLUTION] and not values[STUDENT],
            notes=values[NOTES] and not values[STUDENT],
            student=values[STUDENT],
            sheet=values[SHEET],
            tasks=values[TASKS],
            values=values,
        )


class LessonAddress(Address):
    """An address has the controls of its own chapter; those of the others stay as they were."""

    def read(self, query: Mapping[str, str]) -> dict[str, Any]:
        number = OF_THE_PAGE["chapter"].parse_or_default(query.get("chapter"))
        first = {}
        for other in range(1, len(CHAPTERS) + 1):
            first |= _read_chapter(other, {})
        return first | (last_shown(PAGE) or {}) | _read_chapter(number, query)

    def spell(self, values: Mapping[str, Any]) -> dict[str, str]:
        number = values[CHAPTER]
        controls = _controls(number)
        return spell_query(controls, {name: values[control_key(number, name)] for name in controls})


def _read_chapter(number: int, query: Mapping[str, str]) -> dict[str, Any]:
    said = read_query(_controls(number), query)
    return {control_key(number, name): value for name, value in said.items()}


def _controls(number: int) -> dict[str, Control]:
    """The controls of the page and of a chapter, in the order of an address."""
    chapter, *others = OF_THE_PAGE
    return (
        {chapter: OF_THE_PAGE[chapter]}
        | dict(CHAPTERS[number - 1].controls)
        | {name: OF_THE_PAGE[name] for name in others}
    )


ADDRESS = LessonAddress(PAGE)
