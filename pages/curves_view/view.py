"""The page below its title, in a fragment that draws itself again while sweeps are under way."""

from __future__ import annotations

import os

import streamlit as st

from pages.common.sweeping import keep_going

from .chart import choose_view, show_chart
from .explore import follow_click
from .shown import FIRST, KEPT, Shown, find
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
    sweeps = records()
    active = any(record.status in UNDER_WAY for record in sweeps)
    if active:
        keep_going()
    if active != polled:
        # The whole page, because only that changes whether this is called again by itself.
        st.rerun()
    if refused := st.session_state.pop("curves_refused", None):
        st.error(refused, icon=":material/error:")
    if address := os.environ.get("ATNMF_DASK"):
        st.caption(f":material/hub: Sweeps run on the Dask cluster at `{address}`.")
    show_trouble()
    _kept()
    shown = find(st.session_state[key("show")])
    if shown is None:
        st.info("This sweep is not in the store of this machine; here is the bundled curve.")
        st.session_state[key("show")] = f"kept:{FIRST}"
        shown = find(f"kept:{FIRST}")
        assert shown is not None
    _curve(shown)
    show_sweeps(sweeps)
    ADDRESS.write()


def _curve(shown: Shown) -> None:
    follow_click(shown)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium", key="curves_head"):
        st.subheader(shown.title, anchor=False, width="stretch")
        if shown.points:
            choose_view(shown)
    show_status(shown)
    if not shown.points:
        st.caption("The first point comes as soon as a fit is finished.")
        return
    with st.container(key="curves_chart"):
        show_chart(shown)
    if shown.note:
        st.markdown(shown.note)
    with st.expander("Take away", icon=":material/download:"):
        show_take_away(shown)


def _kept() -> None:
    """Curves that are there at once, as pills; none is pressed while a sweep is shown."""
    state = st.session_state
    kind, _, name = state[key("show")].partition(":")
    pressed = name if kind == "kept" and name in KEPT else None
    widget = _pills_for(pressed)
    state[widget] = pressed
    st.pills(
        "Kept with the program",
        KEPT,
        format_func=KEPT.get,
        key=widget,
        on_change=_show_kept,
        args=(widget,),
        label_visibility="collapsed",
    )


def _pills_for(pressed: str | None) -> str:
    """The key of the pills: another one each time that a sweep comes in place of a kept curve, or goes.

    A browser that polls before it has drawn the change still sends the pill that was pressed. Of the same
    widget, or of one that was there before, this would count as pressing it again.
    """
    turn, none = st.session_state.get(_TURN, (0, pressed is None))
    if none != (pressed is None):
        turn += 1
    st.session_state[_TURN] = turn, pressed is None
    return f"curves_kept_{turn}"


def _show_kept(widget: str) -> None:
    state = st.session_state
    name = state[widget]
    if name is None or widget != f"curves_kept_{state[_TURN][0]}":
        return
    state[key("show")] = f"kept:{name}"
    state[key("view")] = "alpha" if name.startswith("table:") else "lambda"
    state.update({key("at_alpha"): None, key("at_missing"): None, key("at_K"): None})
