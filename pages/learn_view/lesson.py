"""The lesson: its state and address; on the page a chapter, navigation, exercises, notes for teachers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from pages.common import widgets
from pages.common.address import Address, change, last_shown, read_query, spell_query
from pages.common.controls import Control, Number, Several, Switch
from pages.common.widgets import show_style

from .chapter import Chapter, Stage, filled, moving_picture, show_controls
from .chapters import CHAPTERS
from .exercises import EXERCISES, Exercise

PAGE = "learn"
NAVIGATION, QUESTIONS = "chapters", "questions"  # What a link can hide besides controls
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
    return f"{PAGE}_{name}" if name in OF_THE_PAGE else f"{PAGE}_{number}_{name}"


CHAPTER, HIDE, PRESENT, EXERCISE, SOLUTION, NOTES, STUDENT, SHEET, TASKS = (
    control_key(0, name) for name in OF_THE_PAGE
)


@dataclass(frozen=True)
class LessonState:
    """The state of the page.

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
            number=values[CHAPTER], hidden=frozenset(values[HIDE]), presenting=values[PRESENT],
            exercise=values[EXERCISE], solution=values[SOLUTION] and not values[STUDENT],
            notes=values[NOTES] and not values[STUDENT], student=values[STUDENT],
            sheet=values[SHEET], tasks=values[TASKS], values=values,
        )  # fmt: skip


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
    chapter, *others = OF_THE_PAGE
    return (
        {chapter: OF_THE_PAGE[chapter]}
        | dict(CHAPTERS[number - 1].controls)
        | {name: OF_THE_PAGE[name] for name in others}
    )


ADDRESS = LessonAddress(PAGE)


# Notes for teachers: beside each chapter, and all together on a page to print.

_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class ChapterNotes:
    """How long a chapter takes in class, what to ask, and what students answer."""

    minutes: int
    body: str


@cache
def chapter_notes() -> dict[str, ChapterNotes]:
    source = (_FOLDER / "teaching.md").read_text("utf-8")
    sections = (section.partition("\n") for section in re.split(r"^## ", source, flags=re.MULTILINE)[1:])
    return {name: _notes(text) for name, _, text in sections}


def _notes(text: str) -> ChapterNotes:
    minutes, _, body = text.removeprefix("Minutes: ").partition("\n")
    return ChapterNotes(
        int(minutes), re.sub(r"^(Ask|Students answer):", r"**\1:**", body.strip(), flags=re.MULTILINE)
    )


def show_chapter_notes(name: str) -> None:
    notes = chapter_notes()[name]
    st.markdown(f"*About {notes.minutes} minutes*\n\n{notes.body}")


LESSON = (2, 3, 5, 8)  # Chapters that fill a lesson


def _lessons() -> str:
    minutes = [chapter_notes()[chapter.name].minutes for chapter in CHAPTERS]
    *first, last = map(str, LESSON)
    return (
        f"{len(CHAPTERS)} chapters, about {sum(minutes)} minutes in all; each can be taken alone. "
        f"{', '.join(first)} and {last} make a lesson of {sum(minutes[number - 1] for number in LESSON)} "
        "minutes on marked and unmarked losses."
    )


def by_chapter() -> list[tuple[int, Exercise]]:
    return sorted(enumerate(EXERCISES, start=1), key=lambda one: one[1].chapter)


def show_exercises(*, answers: bool) -> None:
    for number, one in by_chapter():
        links = f"[open it]({one.link(number)}) · [open its solution]({one.link(number, solution=True)})"
        st.markdown(f"**{one.title}** (chapter {one.chapter}). {one.task} {links}")
        if answers:
            st.markdown(f"**Answer.** {one.answer()}")


def show_sheet(lesson: LessonState) -> None:
    show_style(_FOLDER / "print.css")
    st.title("Exercises: NMF and its adversary", anchor=False)
    moving_picture("print", "field")(key="learn_print")
    chosen = [one for one in by_chapter() if not lesson.tasks or one[0] in lesson.tasks]
    for place, (number, one) in enumerate(chosen, start=1):
        st.markdown(f"**{place}. {one.title}.** {one.task}")
        st.markdown(f"[Solve it on the page]({one.link(number)}), which checks your answer.")
        st.html(f'<div class="answer-line">{one.unknown} =</div>')


def show_notes() -> None:
    show_style(_FOLDER / "print.css")
    st.title("Teaching this lesson", anchor=False)
    st.markdown(f"{_lessons()} Let students guess before they drag.")
    moving_picture("print", "field")(key="learn_print")
    for number, chapter in enumerate(CHAPTERS, start=1):
        st.header(f"{number} · {chapter.text.title}", anchor=False)
        show_chapter_notes(chapter.name)
    st.header("Exercises", anchor=False)
    show_exercises(answers=True)


# For a class: notes and exercises, and links to the chapter as it is, without some of its controls, or
# large for a projector.


def show_teaching(lesson: LessonState) -> None:
    with st.expander("For teachers: notes, exercises, a link to this chapter", icon=":material/school:"):
        st.caption(_lessons())
        show_chapter_notes(lesson.chapter.name)
        st.markdown("**Exercises**")
        show_exercises(answers=False)
        titles = {number: f"{one.title} ({one.chapter})" for number, one in by_chapter()}
        tasks = st.multiselect(
            "A sheet for students, to print and to link, with",
            titles,
            default=list(lesson.tasks),
            format_func=titles.get,
            key="learn_sheet_tasks",
            placeholder="all exercises",
        )
        sheet = {"sheet": "1", "student": "1"}
        if tasks:
            sheet["tasks"] = "-".join(map(str, sorted(tasks)))
        moving_picture("share", "field")(data={"query": urlencode(sheet)}, key="learn_sheet")
        st.button("All notes on one page, to print", on_click=change, kwargs={NOTES: True})
        st.markdown("**A link to this chapter**")
        names = {name: control.label for name, control in lesson.chapter.controls.items()}
        names |= {NAVIGATION: "the list of chapters", QUESTIONS: "the questions"}
        away = st.multiselect(
            "Leave out",
            names,
            default=[name for name in names if name in lesson.hidden],
            format_func=names.get,
            key=f"learn_away_{lesson.number}",
            help="A control that is left out keeps its present value.",
        )
        large = st.toggle(
            "Presenting: large letters, no sidebar, arrow keys turn chapters", key="learn_large"
        )
        student = st.toggle("For students: no teacher's panel, no solutions", True, key="learn_for_students")
        query = ADDRESS.spell(
            lesson.values | {HIDE: tuple(sorted(away)), PRESENT: large, STUDENT: student, SOLUTION: False}
        )
        moving_picture("share", "field")(data={"query": urlencode(query, safe=",")}, key="learn_share")
        st.button("Present now", on_click=change, kwargs={PRESENT: True}, icon=":material/slideshow:")


def show_chapters(lesson: LessonState) -> None:
    """The list of chapters; if a link hides it, a presenter's keys still turn them."""
    moving_picture("chapters")(
        data={
            "titles": [chapter.short for chapter in CHAPTERS],
            "chosen": 0 if lesson.notes or lesson.sheet else lesson.number,
            "shown": NAVIGATION not in lesson.hidden,
            "keys": lesson.presenting,
        },
        key="learn_chapters",
        on_chosen_change=lambda: _turn_to(int(st.session_state["learn_chapters"]["chosen"])),
    )


def show_previous_and_next(lesson: LessonState) -> None:
    if lesson.presenting:
        with st.container(key="learn_wall_end", horizontal=True):
            with st.popover("Text", icon=":material/notes:"):
                st.markdown(filled(lesson.chapter.text.body, lesson.chapter.facts(lesson.stage)))
            st.button("Stop presenting", on_click=change, kwargs={PRESENT: False}, icon=":material/close:")
        return
    first = lesson.number == 1
    with st.container(horizontal=True, horizontal_alignment="right" if first else "distribute"):
        if NAVIGATION not in lesson.hidden:
            _button(lesson.number - 1, "← {number} · {title}")
            _button(lesson.number + 1, "{number} · {title} →")


def _button(number: int, label: str) -> None:
    if 1 <= number <= len(CHAPTERS):
        words = label.format(number=number, title=CHAPTERS[number - 1].short)
        st.button(words, on_click=_turn_to, args=(number,), key=f"learn_turn_{number}")


def _turn_to(number: int) -> None:
    change(**{CHAPTER: number, EXERCISE: 0, SOLUTION: False, NOTES: False, SHEET: False})


WIDTHS = (5, 9)  # Text needs less room than its picture


def show_lesson_style(lesson: LessonState) -> None:
    widgets.show_style(_FOLDER / "lesson.css", *[_FOLDER / "presenting.css"] * lesson.presenting)


def show_chapter(lesson: LessonState) -> None:
    chapter, stage = lesson.chapter, lesson.stage
    st.title(chapter.text.title, anchor=False)
    if lesson.task is not None:
        _show_task(lesson)
    facts = chapter.facts(stage)
    above = [name for name in chapter.controls if name not in chapter.in_picture]
    if lesson.presenting:
        # On a wall the picture is shown, and the text is told.
        with st.container(key="learn_wall"):
            show_controls(chapter, stage, above)
            chapter.show(stage)
        return
    text, picture = st.container(key="side_by_side").columns(WIDTHS, gap="large")
    with text:
        st.markdown(filled(chapter.text.body, facts))
    with picture:
        show_controls(chapter, stage, above)
        chapter.show(stage)
    if QUESTIONS not in lesson.hidden:
        for question in chapter.text.questions:
            with st.expander(f"**Think first.** {question.asked}"):
                st.markdown(filled(question.answer, facts))


def _show_task(lesson: LessonState) -> None:
    task = lesson.task
    assert task is not None
    with st.container(border=True):
        st.markdown(f"**Exercise: {task.title}.** {task.task}")
        if lesson.solution:
            st.markdown(f"**Answer.** {task.answer()}")
            return
        given = st.number_input(
            task.unknown, value=None, step=0.01, format="%g", key=f"learn_answer_{lesson.exercise}",
            placeholder="your answer", width=240,
        )  # fmt: skip
        if given is not None:
            right, words = task.judge(given)
            if right:
                st.success(f"**Right.** {words}", icon=":material/check:")
            else:
                st.warning(f"**Not yet.** {words}", icon=":material/lightbulb:")
