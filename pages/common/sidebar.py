"""What the sidebars of Explore, Hyperspectral and Curves have in common."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from atnmf_core import Dataset
from atnmf_core.analysis import pictures

from .address import Address, change
from .components import component
from .setting import MAX_K, PATTERNS, PATTERNS_OF

PATTERN_HELP = {
    "faces": "Single entries as in the paper, or one block in each face.",
    "cube": "Single entries as in the paper, lines in single bands, or whole bands.",
}


def clamp_to_data(data: Dataset) -> None:
    """Limit the controls to what this data allows."""
    clamp({"K": min(*data.shape, MAX_K), "image": pictures.count(data)})
    if st.session_state["pattern"] not in PATTERNS_OF[data.kind]:
        change(pattern="entries")


def clamp(limits: Mapping[str, int]) -> None:
    """Lower the controls, by session key, that are above their limits."""
    # Only these: setting a widget, even to its own value, makes it jump back in the browser, where somebody
    # may have moved it on.
    state = st.session_state
    change(**{key: limit for key, limit in limits.items() if key in state and state[key] > limit})


def draw_hiding_and_model(address: Address, data: Dataset | None) -> None:
    """What is hidden, lambda and its leash, K, the treatment of hidden entries and the solver."""
    address.draw("alpha", format_func=lambda alpha: f"{alpha:.2f}" if alpha else "0")
    draw_pattern(address, data)
    address.draw("lam")
    st.html('<div class="lam-marks" aria-hidden="true"><i>strong</i><i>2</i><i>5</i><i>≈ plain NMF</i></div>')
    address.draw("leash", disabled=st.session_state["solver"] == "paper")
    address.draw("K", high=None if data is None else min(data.shape))
    address.draw("missing", width="stretch")
    address.draw("solver", width="stretch")


def draw_pattern(address: Address, data: Dataset | None) -> None:
    """The hiding patterns for this kind of data, if there are several."""
    names = {pattern: PATTERNS[pattern] for pattern in (() if data is None else PATTERNS_OF[data.kind])}
    if len(names) > 1:
        address.draw("pattern", among=names, width="stretch", help=PATTERN_HELP[data.kind])


def draw_seeds_and_colour(address: Address) -> None:
    """What is seldom changed."""
    with st.expander("Seeds and colour"):
        address.draw("seed")
        address.draw("mask_seed")
        address.draw("colour", width="stretch")


def draw_reset_and_link(address: Address) -> None:
    """Back to the first view, and the address of this one."""
    reset, link = st.columns(2, gap="small", vertical_alignment="center")
    with reset:
        st.button("Reset", on_click=change, kwargs=address.read({}), width="stretch")
    with link:
        component("copy")(key="copy")
