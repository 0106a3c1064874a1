"""What is below the result: drawn only when somebody scrolls there.

Plotly and the colouring of code are six megabytes of script: loading and starting them would take most of
the time in which the page opens.
"""

from __future__ import annotations

import streamlit as st

from atnmf_core import Dataset
from pages.common.address import change
from pages.common.components import component

from .request import Restored
from .setting import ADDRESS, RestoreSetting
from .take_away import show_take_away
from .verdict import show_choice

REACHED = "restore_reached"


def show_when_reached(setting: RestoreSetting, data: Dataset, shown: Restored) -> None:
    """How the setting was chosen, and what can be taken away."""
    st.fragment(_below)(setting, data, shown)


def _below(setting: RestoreSetting, data: Dataset, shown: Restored) -> None:
    now = ADDRESS.get(RestoreSetting)
    if (now.task, now.others) != (setting.task, setting.others):
        # A point of the chart was clicked.
        st.rerun()
    if st.session_state.get(REACHED):
        show_choice(setting, data)
        show_take_away(setting, shown)
        return
    component("reached", page="restore_view")(
        data={"label": "Why this setting, and what to take away"},
        key="restore_end",
        on_reached_change=lambda: change(**{REACHED: True}),
    )
