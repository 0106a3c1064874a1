"""The comparison to download: as data, as a page, and as the command that reproduces it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from atnmf_core.figures.report import comparison_page
from atnmf_core.recipe import command_line
from atnmf_core.reference.compare import Cell, comparison_csv
from pages.common.take_away import download

from .setting import ReproduceSetting


def show_take_away(setting: ReproduceSetting, cells: Sequence[Cell], here: Sequence[Cell]) -> None:
    """Downloads, and the command lines of the whole table and of the chosen cell."""
    table, name = setting.table, f"reproduce-{setting.table}"
    st.markdown("**Take away**")
    with st.container(horizontal=True, gap="small"):
        download("Table, CSV", lambda: comparison_csv(table, cells), f"{name}.csv", "text/csv")
        download("Table, HTML", lambda: comparison_page(table, cells, here), f"{name}.html", "text/html")
        if setting.look == "chart":
            download("Chart, HTML", lambda: _chart_page(cells), f"{name}-chart.html", "text/html")
        # In a pop-up, because the code element is the slowest to load.
        with st.popover("Command line"):
            st.caption("The whole table again, and the chosen cell")
            commands = f"{command_line('reproduce', table)}\n{setting.command_line()}"
            st.code(commands, language=None, wrap_lines=True)


def _chart_page(cells: Sequence[Cell]) -> str:
    # Imported here because Plotly is slow to import.
    from atnmf_core.figures.reproduction import reproduction_figure

    page: str = reproduction_figure(cells).to_html(include_plotlyjs=True)
    return page
