"""The sidebar of the Curves page: what to fit, how long that takes, and Start."""

from __future__ import annotations

import os
import time

import streamlit as st

from atnmf_core import Dataset
from atnmf_core.running.duration import in_words
from atnmf_core.sweep import (
    Grid,
    default_store,
    expected_sweep_seconds,
    open_store,
    save_upload,
    upload_path,
)
from pages.common.components import component
from pages.common.data_choice import UPLOAD, choose_data, chosen_data
from pages.common.sidebar import clamp_to_data, draw_pattern
from pages.common.sweeps import add_sweep, queue_sweep, reading_store, refusing

from .plan import Plan
from .state import ADDRESS, select_curve

CORES = os.cpu_count() or 1
SECONDS_TO_START = 3.0
"""Seconds until the process that makes the fits is ready."""


def show_form() -> tuple[Plan, Dataset | None]:
    """Draw the sidebar, and return the sweep that it describes and its data, if available."""
    with st.sidebar:
        choose_data()
        data = chosen_data()
        if data is not None:
            clamp_to_data(data)
        _draw_controls(data)
        plan = ADDRESS.get(Plan)
        if data is not None:
            _start(plan, data)
        component("copy")(key="copy")
    return plan, data


def _draw_controls(data: Dataset | None) -> None:
    ADDRESS.draw("alphas", widget=st.multiselect, placeholder="one or more")
    for column, name in zip(st.columns(3, gap="small"), ("low", "high", "count"), strict=True):
        with column:
            ADDRESS.draw(name)
    ADDRESS.draw("K", high=None if data is None else min(data.shape))
    for name in ("methods", "missing", "solver"):
        ADDRESS.draw(name, width="stretch")
    ADDRESS.draw("starts")
    with st.expander("Seeds and pattern"):
        ADDRESS.draw("seed", help="Decides the first random start; the others count up from it.")
        ADDRESS.draw("mask_seed")
        draw_pattern(ADDRESS, data)


def _start(plan: Plan, data: Dataset) -> None:
    """The cost of the sweep or its problems, and the button."""
    problems = plan.problems(data.shape)
    for problem in problems:
        st.warning(problem, icon=":material/edit:")
    if not problems:
        st.markdown(_cost(plan.grid(plan.data), data))
    st.button(
        "Start",
        type="primary",
        icon=":material/play_arrow:",
        width="stretch",
        disabled=bool(problems),
        on_click=refusing(_begin),
        args=(plan, data),
        key="curves_start",
    )


def _cost(grid: Grid, data: Dataset) -> str:
    """How many fits, how many of them are already stored, and how long the others take."""
    with reading_store() as store:
        tried = {} if store is None else store.tried(grid, data.content_hash)
    stored = sum(tried.values())
    fits = f"**{len(grid):,} fits**" if len(grid) > 1 else "**One fit**"
    if stored == len(grid):
        return f"{fits}, already stored"
    known = f", {stored:,} of them already stored" if stored else ""
    seconds = SECONDS_TO_START + expected_sweep_seconds(grid, data.shape, tried) / CORES
    return f"{fits}{known}, about **{in_words(seconds)}** {_where()}"


def _where() -> str:
    address = os.environ.get("ATNMF_DASK")
    if address:
        return f"of one core, on the Dask cluster at `{address}`"
    return f"on {CORES} cores" if CORES > 1 else "on one core"


def _begin(plan: Plan, data: Dataset) -> None:
    """Add the sweep to the store and the queue, and show it."""
    path = default_store()
    uploaded = plan.data == UPLOAD
    grid = plan.grid(str(upload_path(path, data)) if uploaded else plan.data)
    with open_store(path) as store:
        name = _free_name(_name(plan, data), store.names())
        add_sweep(store, name, grid, data.content_hash)
    if uploaded:
        save_upload(path, data)
    queue_sweep(name)
    select_curve(f"sweep:{name}")


def _name(plan: Plan, data: Dataset) -> str:
    alphas = plan.alphas if len(plan.alphas) < 4 else (min(plan.alphas), max(plan.alphas))
    what = (", " if len(plan.alphas) < 4 else "–").join(f"{alpha:g}" for alpha in sorted(alphas))
    return f"{data.name}, α {what}, K {plan.K}, {time.strftime('%d %b %H:%M')}"


def _free_name(name: str, taken: set[str]) -> str:
    names = (name, *(f"{name} ({number})" for number in range(2, len(taken) + 2)))
    return next(one for one in names if one not in taken)
