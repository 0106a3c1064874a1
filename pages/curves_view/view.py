"""The page below its title, in a fragment that draws itself again while sweeps are under way."""

from __future__ import annotations

import os

import streamlit as st

from pages.common.markdown import plain
from pages.common.sweep_store import show_refusal, telling_store_errors
from pages.common.sweeping import keep_going

from .chart import choose_view, show_chart
from .curve import BUNDLED, FIRST, Curve, address_of, find_curve
from .explore import follow_click
from .state import ADDRESS, key
from .status import show_status, show_trouble
from .sweeps_list import records, show_sweeps
from .take_away import show_take_away

__all__ = ["show_curves"]

POLL_SECONDS = 1.0
UNDER_WAY = ("running", "queued")
_TURN = "curves_turn"


def show_curves() -> None:
    """The curve and the list of sweeps; polled only while there is something to wait for."""
    active = any(record.status in UNDER_WAY for record in records())
    st.fragment(_curves, run_every=POLL_SECONDS if active else None)(polled=active)


def _curves(*, polled: bool) -> None:
    ADDRESS.restore()
    show_refusal()
    with telling_store_errors():
        sweeps = records()
        active = any(record.status in UNDER_WAY for record in sweeps)
        if active:
            keep_going()
        if active != polled:
            # The whole page, because only that changes whether this is called again by itself.
            st.rerun()
        if address := os.environ.get("ATNMF_DASK"):
            st.caption(f":material/hub: Sweeps run on the Dask cluster at `{address}`.")
        show_trouble()
        _choose_bundled()
        _show_curve(_chosen_curve())
        show_sweeps(sweeps)
    ADDRESS.write()


def _chosen_curve() -> Curve:
    """The curve that the address names, else the first bundled one."""
    curve = find_curve(st.session_state[key("show")])
    if curve is None:
        st.info("This sweep is not in the store of this machine; here is the bundled curve.")
        st.session_state[key("show")] = address_of(FIRST)
        curve = find_curve(address_of(FIRST))
        assert curve is not None
    return curve


def _show_curve(curve: Curve) -> None:
    follow_click(curve)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="curves_head"):
        st.subheader(plain(curve.title), anchor=False, width="stretch")
        if curve.points:
            choose_view(curve)
    show_status(curve)
    if not curve.points:
        st.caption("The first point appears as soon as a fit is finished.")
        return
    with st.container(key="curves_chart"):
        show_chart(curve)
    if curve.note:
        st.markdown(curve.note)
    with st.expander("Take away", icon=":material/download:"):
        show_take_away(curve)


def _choose_bundled() -> None:
    """The bundled curves as pills; none is pressed while a sweep is shown."""
    state = st.session_state
    pressed = next((name for name in BUNDLED if address_of(name) == state[key("show")]), None)
    widget = _pills_key(pressed)
    state[widget] = pressed
    st.pills(
        "Bundled with the program",
        BUNDLED,
        default=pressed,
        format_func=BUNDLED.get,
        key=widget,
        on_change=_show_bundled,
        args=(widget,),
        label_visibility="collapsed",
    )


def _pills_key(pressed: str | None) -> str:
    """The key of the pills: a new one each time that a sweep replaces a bundled curve, or the reverse.

    A browser that polls before it has drawn the change still sends the pill that was pressed. Of the same
    widget, or of one that was there before, this would count as pressing it again.
    """
    turn, none = st.session_state.get(_TURN, (0, pressed is None))
    if none != (pressed is None):
        turn += 1
    st.session_state[_TURN] = turn, pressed is None
    return f"curves_bundled_{turn}"


def _show_bundled(widget: str) -> None:
    state = st.session_state
    name = state[widget]
    if name is None or widget != f"curves_bundled_{state[_TURN][0]}":
        return
    state[key("show")] = address_of(name)
    state[key("view")] = "alpha" if name.startswith("table:") else "lambda"
    state.update({key("at_alpha"): None, key("at_missing"): None, key("at_K"): None})
