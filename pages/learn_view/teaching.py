"""For a class: notes and exercises, and links to the chapter as it is, without some of its controls, or large
for a projector.
"""

from __future__ import annotations

from urllib.parse import urlencode

import streamlit as st

from pages.common.address import change

from .components import moving_picture
from .notes import show_chapter_notes, show_exercises
from .state import ADDRESS, HIDE, NAVIGATION, NOTES, PRESENT, QUESTIONS, LessonState


def show_teaching(lesson: LessonState) -> None:
    """Notes on this chapter and the exercises; and a link without what a class should not see."""
    with st.expander("For teachers: notes, exercises, a link to this chapter", icon=":material/school:"):
        show_chapter_notes(lesson.chapter.name)
        st.markdown("**Exercises**")
        show_exercises(answers=False)
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
        query = ADDRESS.spell(lesson.values | {HIDE: tuple(sorted(away)), PRESENT: large})
        moving_picture("share", "field")(data={"query": urlencode(query, safe=",")}, key="learn_share")
        st.button("Present now", on_click=change, kwargs={PRESENT: True}, icon=":material/slideshow:")
