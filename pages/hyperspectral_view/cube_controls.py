"""The sidebar of the Hyperspectral page: Explore's knobs, and which part of which cube."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from atnmf_core import Dataset
from atnmf_core.datasets import Truth
from pages.common.address import change
from pages.common.controls import chosen_data, fit_to, links, seeds_and_colour, segments, sliders, treatment
from pages.common.data_carryover import take_along
from pages.common.data_choice import choose_data

from .cube_setting import ADDRESS, SIZES, CubeSetting, span
from .truth_choice import known_truth

__all__ = ["cube_controls"]

SCENE = "simulated-scene"
SIZE_NAMES = {name: f"{size['rows']}²" for name, size in SIZES.items()}
START_NAMES = {"pure-pixels": "pure pixels", "random": "random"}


def cube_controls() -> tuple[CubeSetting, Dataset | None]:
    """Draw the sidebar; the setting, and its data, cut out, where that is at hand."""
    if ADDRESS.follow():
        take_along("explore")
    with st.sidebar:
        choose_data(("cube",), then=_start_afresh)
        data = _cube()
        sliders(data, "cube")
        treatment()
        segments(
            "Start",
            START_NAMES,
            "start",
            "Pure pixels: at spectra that show one material each. Random: as in the paper.",
        )
        seeds_and_colour()
        links(CubeSetting())
    setting = CubeSetting(**ADDRESS.values())
    ADDRESS.write()
    return setting, data


def _cube() -> Dataset | None:
    state = st.session_state
    options = {}
    if state["data"] == SCENE:
        st.segmented_control(
            "Size of the scene",
            SIZE_NAMES,
            format_func=SIZE_NAMES.get,
            key="size",
            required=True,
            width="stretch",
            on_change=_start_afresh,
            help="In pixels. The largest, with 162 bands, is as big as a real scene, and fitted on request.",
        )
        options = SIZES[state["size"]]
    whole = chosen_data(**options)
    if whole is None:
        return None
    if whole.kind != "cube":
        st.error(f"{whole.title} is no cube: look at it on the Explore page.", icon=":material/error:")
        return None
    _cut_out(whole)
    truth = known_truth(whole)
    truth_hash = "" if truth is None else truth.content_hash
    cut = (state["rows"], state["cols"], state["bands"])
    data = _part(whole.content_hash, truth_hash, cut, whole, truth)
    fit_to(data)
    channels = ("red", "green", "blue")
    # Only what is too large: a widget that is set jumps back to that in the browser.
    change(**{channel: data.shape[0] for channel in channels if state[channel] > data.shape[0]})
    return data


def _cut_out(whole: Dataset) -> None:
    rows, cols = whole.image_shape
    with st.expander("Cut out a part"):
        st.caption("What is cut out is a cube of its own, counted from 1.")
        for name, label, length in (
            ("rows", "Rows", rows),
            ("cols", "Columns", cols),
            ("bands", "Bands", whole.shape[0]),
        ):
            if length > 1:
                wanted = span(st.session_state[name], length)
                if st.session_state.get(f"{name}_span") != wanted:
                    change(**{f"{name}_span": wanted})
                st.slider(label, 1, length, key=f"{name}_span", on_change=_set_span, args=(name, length))


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
    """Another cube: what was cut out of and pointed at in the last one means nothing in it."""
    first = CubeSetting()
    names = ("rows", "cols", "bands", "triplet", "pixel", "pins")
    change(**{name: getattr(first, name) for name in names})
