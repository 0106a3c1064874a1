"""Reproduce: the paper's tables beside what this program measures, and any cell run again."""

from pathlib import Path

import streamlit as st

from atnmf_core.reference.compare import compare_table
from pages.common.streamlit_patches import ensure_app_frame
from pages.common.widgets import show_style
from pages.reproduce_view.run import choose_run, read_runs, show_run, show_take_away
from pages.reproduce_view.tables import (
    ADDRESS,
    ReproduceSetting,
    arrive,
    bundled_cells,
    show_cell,
    show_notes,
    show_numbers,
    show_tables,
    show_treatments,
)

ensure_app_frame()
show_style(Path(__file__).parent / "common" / "style.css")
arrive()
st.title("The paper's tables, published and measured", anchor=False)
table, beside = st.container(key="side_by_side").columns([11, 4], gap="medium")
with beside:
    cell = st.container()
    with st.container(border=True):
        choose_run()
        run = st.container()
setting = ADDRESS.get(ReproduceSetting)
ADDRESS.write()

runs = read_runs(setting)
cells, run_here = bundled_cells(setting.table), compare_table(setting.table, runs.rows)
with table:
    show_tables(setting)
    show_numbers(setting, run_here)
    show_notes(setting.table, cells)
    show_treatments(cells, setting.alpha)
    show_take_away(setting, cells, run_here)
chosen = next(number for number, one in enumerate(cells) if one.key == setting.cell_key)
with cell:
    show_cell(cells[chosen], run_here[chosen])
with run:
    show_run(setting, runs)
