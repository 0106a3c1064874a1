"""From chapter to chapter: the list at the top, the buttons at the end."""

from __future__ import annotations

import streamlit as st

from pages.common.address import change

from .chapters import CHAPTERS
from .components import moving_picture
from .state import CHAPTER, EXERCISE, NAVIGATION, NOTES, PRESENT, SOLUTION, LessonState


def show_chapters(lesson: LessonState) -> None:
    """The list of chapters; if a link hides it, a presenter's keys still turn them."""
    moving_picture("chapters")(
        data={
            "titles": [chapter.short for chapter in CHAPTERS],
            "chosen": 0 if lesson.notes else lesson.number,
            "shown": NAVIGATION not in lesson.hidden,
            "keys": lesson.presenting,
        },
        key="learn_chapters",
        on_chosen_change=lambda: _turn_to(int(st.session_state["learn_chapters"]["chosen"])),
    )


def show_previous_and_next(lesson: LessonState) -> None:
    """Buttons to the previous and next chapter, and to stop presenting."""
    first = lesson.number == 1
    with st.container(horizontal=True, horizontal_alignment="right" if first else "distribute"):
        if NAVIGATION not in lesson.hidden:
            _button(lesson.number - 1, "← {number} · {title}")
            _button(lesson.number + 1, "{number} · {title} →")
        if lesson.presenting:
            st.button("Stop presenting", on_click=change, kwargs={PRESENT: False}, icon=":material/close:")


def _button(number: int, label: str) -> None:
    if 1 <= number <= len(CHAPTERS):
        words = label.format(number=number, title=CHAPTERS[number - 1].short)
        st.button(words, on_click=_turn_to, args=(number,), key=f"learn_turn_{number}")


def _turn_to(number: int) -> None:
    change(**{CHAPTER: number, EXERCISE: 0, SOLUTION: False, NOTES: False})
