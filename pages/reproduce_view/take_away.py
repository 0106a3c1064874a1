"""The comparison to take away: as data, as a page, and as the command that makes it again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from atnmf_core.figures.report import comparison_page
from atnmf_core.recipe import command_line
from atnmf_core.reference.compare import Cell, comparison_csv

from .choice import Choice

__all__ = ["show_take_away"]


def show_take_away(choice: Choice, cells: Sequence[Cell], here: Sequence[Cell]) -> None:
    """Downloads, and the command lines of the whole table and of the chosen cell."""
    st.markdown("**Take away**")
    with st.container(horizontal=True, gap="small"):
        _download("Table, CSV", comparison_csv(choice.table, cells), f"{choice.table}.csv", "text/csv")
        _download(
            "Table, HTML", comparison_page(choice.table, cells, here), f"{choice.table}.html", "text/html"
        )
        if choice.look == "chart":
            _download("Chart, HTML", lambda: _chart_page(cells), f"{choice.table}-chart.html", "text/html")
        # In a pop-up, because the code element is the largest thing that a page can load.
        with st.popover("Command line"):
            st.caption("The whole table again, and the chosen cell")
            st.code(
                f"{command_line('reproduce', choice.table)}\n{choice.command_line()}",
                language=None,
                wrap_lines=True,
            )


def _chart_page(cells: Sequence[Cell]) -> str:
    # Only now, because it imports Plotly, which is slow.
    from atnmf_core.figures.reproduction import reproduction_figure

    page: str = reproduction_figure(cells).to_html(include_plotlyjs=True)
    return page


def _download(label: str, content: str | Callable[[], str], file_name: str, mime: str) -> None:
    st.download_button(
        label, content, file_name=f"reproduce-{file_name}", mime=mime, on_click="ignore", key=f"take_{label}"
    )
