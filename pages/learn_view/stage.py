"""A chapter on the page: its text, its controls and picture, its questions."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.common import style

from .chapter import show_controls
from .state import QUESTIONS, LessonState
from .text import filled

_FOLDER = Path(__file__).parent
# Text needs less room than its picture.
WIDTHS = (5, 9)


def show_style(lesson: LessonState) -> None:
    style.show_style(_FOLDER / "lesson.css", *[_FOLDER / "presenting.css"] * lesson.presenting)


def show_chapter(lesson: LessonState) -> None:
    """The text on the left, the controls and their picture on the right, questions below."""
    chapter, stage = lesson.chapter, lesson.stage
    st.title(chapter.text.title, anchor=False)
    if lesson.task is not None:
        _show_task(lesson)
    text, picture = st.container(key="side_by_side").columns(WIDTHS, gap="large")
    facts = chapter.facts(stage)
    with text:
        st.markdown(filled(chapter.text.body, facts))
    with picture:
        show_controls(chapter, stage, [name for name in chapter.controls if name not in chapter.in_picture])
        chapter.show(stage)
    if QUESTIONS not in lesson.hidden:
        for question in chapter.text.questions:
            with st.expander(f"**Think first.** {question.asked}"):
                st.markdown(filled(question.answer, facts))


def _show_task(lesson: LessonState) -> None:
    """The exercise in this chapter and, in a link to the solution, its answer."""
    task = lesson.task
    assert task is not None
    with st.container(border=True):
        st.markdown(f"**Exercise {lesson.exercise}: {task.title}.** {task.task}")
        if lesson.solution:
            st.markdown(f"**Answer.** {task.answer()}")
