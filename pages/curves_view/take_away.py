"""The curve to take away: as a picture, as a page, as a table, and as the command that makes it again."""

from __future__ import annotations

import re

import streamlit as st

from atnmf_core.sweep.measurements import csv_text
from pages.common.components import component

from . import COMPONENTS
from .chart import figure_of
from .curve import Curve
from .state import key

__all__ = ["show_take_away"]


def show_take_away(curve: Curve) -> None:
    """Downloads in a row, the commands below."""
    # The figure is drawn here: the page is made on request, by a thread that knows nothing of this session.
    stem, figure = _stem(curve), figure_of(curve)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="curves_take"):
        component("picture", folder=COMPONENTS)(
            data={"stem": stem, "chart": "curves_chart"}, key="curves_picture", width="content"
        )
        st.download_button(
            "HTML",
            lambda: figure.to_html(include_plotlyjs=True),
            file_name=f"{stem}.html",
            mime="text/html",
            on_click="ignore",
            help="A page of its own that needs no network.",
            key="curves_html",
        )
        st.download_button(
            "CSV",
            lambda: csv_text(curve.rows),
            file_name=f"{_file_name(curve.name)}.csv",
            mime="text/csv",
            on_click="ignore",
            help="Mean, deviation and number of starts of every combination.",
            key="curves_csv",
        )
    for command in curve.commands:
        st.code(command, language=None, wrap_lines=True)


def _stem(curve: Curve) -> str:
    state = st.session_state
    words = [_file_name(curve.name), state[key("view")]]
    if state[key("view")] == "lambda":
        words.append(f"alpha{state[key('at_alpha')]:g}")
    return "-".join([*words, str(state[key("at_missing")])])


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.]+", "-", name).strip("-") or "curve"
