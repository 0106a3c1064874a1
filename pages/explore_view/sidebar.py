"""The sidebar of the Explore page."""

from __future__ import annotations

import streamlit as st

from atnmf_core import Dataset
from pages.common.address import Address
from pages.common.cube_handover import is_cube, take_over_cube
from pages.common.data_choice import choose_data, chosen_data
from pages.common.file_setting import FileSetting
from pages.common.setting import Setting
from pages.common.sidebar import (
    clamp_to_data,
    draw_hiding_and_model,
    draw_reset_and_link,
    draw_seeds_and_colour,
)

ADDRESS = Address("explore", Setting, FileSetting)


def show_sidebar() -> tuple[Setting, Dataset | None]:
    """Draw the sidebar, and return the setting and its data, if available."""
    if ADDRESS.follow() and is_cube(st.session_state):
        take_over_cube("hyperspectral")
    with st.sidebar:
        choose_data()
        data = chosen_data()
        if data is not None:
            clamp_to_data(data)
        draw_hiding_and_model(ADDRESS, data)
        draw_seeds_and_colour(ADDRESS)
        draw_reset_and_link(ADDRESS)
    ADDRESS.write()
    return ADDRESS.get(Setting), data
