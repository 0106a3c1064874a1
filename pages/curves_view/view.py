"""The page below its title, in a fragment that is redrawn while sweeps are under way."""

from __future__ import annotations

import os
import re

import streamlit as st

from atnmf_core.sweep.measurements import csv_text
from pages.common.components import component
from pages.common.markdown import plain
from pages.common.sweeps import ensure_queue_runs, show_refusal, showing_store_errors
from pages.common.take_away import download

from .chart import choose_view, figure_of, show_chart
from .curve import BUNDLED, Curve, find_curve
from .open_in_explore import follow_click
from .state import ADDRESS, FIRST, key, select_curve
from .sweeps import records, show_status, show_sweeps, show_trouble

POLL_SECONDS = 1.0
_TURN = "curves_turn"


def show_curves() -> None:
    """The curve and the list of sweeps; polled only while there is something to wait for."""
    active = any(record.is_under_way for record in records())
    st.fragment(_curves, run_every=POLL_SECONDS if active else None)(polled=active)


def _curves(*, polled: bool) -> None:
    ADDRESS.restore()
    show_refusal()
    with showing_store_errors():
        sweeps = records()
        active = any(record.is_under_way for record in sweeps)
        if active:
            ensure_queue_runs()
        if active != polled:
            # The whole page, because only that changes whether this fragment is polled.
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
        st.info("This sweep is not stored on this machine; here is a bundled curve instead.")
        select_curve(FIRST)
        curve = find_curve(FIRST)
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
        st.caption("The first point appears as soon as a fit has finished.")
        return
    with st.container(key="curves_chart"):
        show_chart(curve)
    if curve.note:
        st.markdown(curve.note)
    with st.expander("Take away", icon=":material/download:"):
        _show_take_away(curve)


def _show_take_away(curve: Curve) -> None:
    """The curve as a picture, as a page, as a table, and as the command that reproduces it."""
    state = st.session_state
    name = re.sub(r"[^\w.]+", "-", curve.name).strip("-") or "curve"
    alpha = f"-alpha{state[key('at_alpha')]:g}" if state[key("view")] == "lambda" else ""
    stem = f"{name}-{state[key('view')]}{alpha}-{state[key('at_missing')]}"
    # The figure is drawn here: the page is made on request, by a thread outside this session.
    figure = figure_of(curve)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="curves_take"):
        component("picture", page="curves_view")(
            data={"stem": stem, "chart": "curves_chart"}, key="curves_picture", width="content"
        )
        page = "A page of its own that needs no network."
        download("HTML", lambda: figure.to_html(include_plotlyjs=True), f"{stem}.html", "text/html", page)
        table = "Mean, deviation and number of starts of every combination."
        download("CSV", lambda: csv_text(curve.rows), f"{name}.csv", "text/csv", table)
    for command in curve.commands:
        st.code(command, language=None, wrap_lines=True)


def _choose_bundled() -> None:
    """The bundled curves as pills; none is pressed while a sweep is shown."""
    state = st.session_state
    pressed = state[key("show")] if state[key("show")] in BUNDLED else None
    widget = pills_key(pressed)
    state[widget] = pressed
    st.pills(
        "Bundled with the program",
        BUNDLED,
        default=pressed,
        format_func=BUNDLED.get,
        key=widget,
        on_change=show_bundled,
        args=(widget,),
        label_visibility="collapsed",
    )


def pills_key(pressed: str | None) -> str:
    """The key of the pills: a new one each time a sweep replaces a bundled curve, or the reverse.

    A browser that polls before it has drawn the change still sends the pill that was pressed. With the same
    key, or an earlier one, this would count as pressing it again.
    """
    turn, none = st.session_state.get(_TURN, (0, pressed is None))
    if none != (pressed is None):
        turn += 1
    st.session_state[_TURN] = turn, pressed is None
    return f"curves_bundled_{turn}"


def show_bundled(widget: str) -> None:
    curve = st.session_state[widget]
    if curve is not None and widget == f"curves_bundled_{st.session_state[_TURN][0]}":
        select_curve(curve, view="alpha" if "table:" in curve else "lambda")
