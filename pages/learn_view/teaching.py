"""Links for a class: a chapter as it stands, with some controls taken away, and large on a wall."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlencode

import streamlit as st

from pages.common.address import change

from .components import moving_picture
from .state import NAVIGATION, PRESENT, QUESTIONS, Place, query_of

__all__ = ["show_teaching"]


def show_teaching(place: Place) -> None:
    """Choose what a class should not see, and take the link."""
    with st.expander("For teachers: a link to this chapter as it stands", icon=":material/school:"):
        names = {control.name: control.label for control in place.chapter.controls}
        names |= {NAVIGATION: "the list of chapters", QUESTIONS: "the questions"}
        away = st.multiselect(
            "Leave out",
            names,
            default=[name for name in names if name in place.hidden],
            format_func=names.get,
            key=f"learn_away_{place.number}",
            help="A control that is left out keeps the value that it has now.",
        )
        large = st.toggle(
            "Presenting: large letters, no sidebar, arrow keys turn chapters", key="learn_large"
        )
        link = replace(place, hidden=frozenset(away), presenting=large)
        moving_picture("share")(data={"query": urlencode(query_of(link), safe=",")}, key="learn_share")
        st.button("Present now", on_click=change, kwargs={PRESENT: True}, icon=":material/slideshow:")
