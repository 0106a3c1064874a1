"""The sidebar of the Hyperspectral page: Explore's controls, and which part of which cube."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from atnmf_core import Dataset
from atnmf_core.datasets import Truth
from pages.common.address import change
from pages.common.cube_handover import take_over_cube
from pages.common.data_choice import choose_data, chosen_data
from pages.common.markdown import plain
from pages.common.sidebar import (
    clamp,
    clamp_to_data,
    draw_hiding_and_model,
    draw_reset_and_link,
    draw_seeds_and_colour,
)

from .cube_setting import ADDRESS, SIZES, CubeSetting, span
from .library_choice import draw_library_choice
from .truth_choice import known_truth

SCENE = "simulated-scene"


def show_sidebar() -> tuple[CubeSetting, Dataset | None]:
    """Draw the sidebar, and return the setting and the chosen part of its data, if available."""
    if ADDRESS.follow():
        take_over_cube("explore")
    with st.sidebar:
        choose_data(("cube",), then=_start_afresh)
        data = _cube()
        draw_hiding_and_model(ADDRESS, data)
        ADDRESS.draw("start", width="stretch")
        draw_library_choice()
        draw_seeds_and_colour(ADDRESS)
        draw_reset_and_link(ADDRESS)
    ADDRESS.write()
    return ADDRESS.get(CubeSetting), data


def _cube() -> Dataset | None:
    state = st.session_state
    options = {}
    if state["data"] == SCENE:
        ADDRESS.draw("size", width="stretch", on_change=_start_afresh)
        options = SIZES[state["size"]]
    whole = chosen_data(**options)
    if whole is None:
        return None
    if whole.kind != "cube":
        st.error(f"{plain(whole.title)} is not a cube: open it on the Explore page.", icon=":material/error:")
        return None
    _cut_out(whole)
    truth = known_truth(whole)
    truth_hash = "" if truth is None else truth.content_hash
    cut = (state["rows"], state["cols"], state["bands"])
    data = _part(whole.content_hash, truth_hash, cut, whole, truth)
    clamp_to_data(data)
    clamp(dict.fromkeys(("red", "green", "blue"), data.shape[0]))
    return data


def _cut_out(whole: Dataset) -> None:
    rows, cols = whole.image_shape
    with st.expander("Cut out a part"):
        st.caption("The part becomes a cube of its own, counted from 1.")
        for name, length in (("rows", rows), ("cols", cols), ("bands", whole.shape[0])):
            if length > 1:
                key, wanted = f"{name}_span", span(st.session_state[name], length)
                if st.session_state.get(key) != wanted:
                    change(**{key: wanted})
                label = ADDRESS.controls[name].label
                st.slider(label, 1, length, wanted, key=key, on_change=_set_span, args=(name, length))


def _set_span(name: str, length: int) -> None:
    first, last = st.session_state[f"{name}_span"]
    change(**{name: "" if (first, last) == (1, length) else f"{first}-{last}"}, pixel="", pins="")


@st.cache_resource(show_spinner=False, max_entries=4)
def _part(
    content_hash: str, truth_hash: str, cut: tuple[str, str, str], _whole: Dataset, _truth: Truth | None
) -> Dataset:
    known = _whole if _truth is _whole.truth else replace(_whole, truth=_truth)
    rows, cols, bands = cut
    return CubeSetting(rows=rows, cols=cols, bands=bands).cut(known)


def _start_afresh() -> None:
    """Another cube: the part and the pixels chosen in the last one mean nothing in it."""
    first = CubeSetting()
    names = ("rows", "cols", "bands", "triplet", "pixel", "pins")
    change(**{name: getattr(first, name) for name in names})
