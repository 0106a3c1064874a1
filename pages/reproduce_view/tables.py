"""The four tables to choose from, and the chosen one with a cell to choose in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import streamlit as st

from atnmf_core.figures.images import data_url
from atnmf_core.figures.mosaic import agreement_mosaic
from atnmf_core.figures.report import comparison_table, legend, noise_note
from atnmf_core.reference import NAMES, TITLES, measured
from atnmf_core.reference.compare import Cell, agreement_counts, compare_table
from atnmf_core.reference.protocol import PROTOCOLS
from pages.common.address import change
from pages.common.components import component

from .setting import ADDRESS, ReproduceSetting, columns, key, method_of


def bundled_cells(table: str) -> tuple[Cell, ...]:
    """The cells of a table with the bundled measurements."""
    return compare_table(table, measured(table))


def show_tables(setting: ReproduceSetting) -> None:
    """One card per table of the paper: how much of it agrees, as a small picture and in words."""
    # A tuple: for a list, Streamlit imports pandas to see whether it is a table.
    cards = tuple(
        {
            "title": TITLES[name],
            "note": _agreeing(bundled_cells(name)),
            "src": data_url(
                agreement_mosaic([cell.agreement for cell in bundled_cells(name)], len(columns(name)))
            ),
            "active": name == setting.table,
        }
        for name in NAMES
    )
    component("cards")(
        data={"cards": cards, "label": "The paper's tables"},
        key="reproduce_cards",
        on_chosen_change=_choose_table,
    )


def show_numbers(setting: ReproduceSetting, here: Sequence[Cell]) -> None:
    """The chosen table, as numbers or as a plot."""
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        protocol = PROTOCOLS[setting.table]
        st.subheader(f"{TITLES[setting.table]}, K = {protocol.K}", anchor=False, width="content")
        ADDRESS.draw("look", label_visibility="collapsed")
    counts = agreement_counts(bundled_cells(setting.table))
    st.markdown("  \n".join(f"**{group}:** {counted}" for group, counted in counts.items()))
    show = {"table": _show_table, "chart": _show_chart}[setting.look]
    show(setting, here)


def _show_chart(setting: ReproduceSetting, here: Sequence[Cell]) -> None:
    # Plotly takes a third of a second to import, which the table of numbers need not wait for.
    from atnmf_core.figures.reproduction import reproduction_figure

    st.plotly_chart(
        reproduction_figure(bundled_cells(setting.table)),
        key="reproduce_chart",
        config={"displaylogo": False, "toImageButtonOptions": {"filename": setting.table, "scale": 2}},
        alt=f"{TITLES[setting.table]}: published and measured RMSE against the share of hidden entries",
    )
    st.caption(
        "Open marks and lines: published, with one standard deviation. Filled marks: measured. All unmarked."
    )


def _show_table(setting: ReproduceSetting, here: Sequence[Cell]) -> None:
    cells = bundled_cells(setting.table)
    keys = [cell.key for cell in cells]
    component("comparison", page="reproduce_view")(
        data={
            "table": comparison_table(setting.table, cells, here),
            "label": f"{TITLES[setting.table]}, choose a cell",
            "chosen": keys.index(setting.cell_key),
        },
        key=f"reproduce_cells_{setting.table}",
        on_chosen_change=lambda: _choose_cell(setting.table),
    )
    st.caption(legend(cells))
    if note := noise_note(cells):
        st.caption(note)


def _choose_table() -> None:
    table = NAMES[int(st.session_state["reproduce_cards"]["chosen"])]
    change(**{key("table"): table, key("method"): method_of(table, st.session_state[key("method")])})


def _choose_cell(table: str) -> None:
    cell = bundled_cells(table)[int(st.session_state[f"reproduce_cells_{table}"]["chosen"])]
    alpha, *column = cell.key
    method = next(name for name, found in columns(table).items() if found == tuple(column))
    change(**{key("alpha"): alpha, key("method"): method})


def _agreeing(cells: Sequence[Cell]) -> str:
    counts: Counter[Any] = Counter(cell.agreement for cell in cells)
    done = sum(counts.values()) - counts[None]
    return f"{counts['within']} of {done} measured ✓"
