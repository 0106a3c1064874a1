"""The sidebar of the Curves page: what to fit, how long that takes, and Start."""

from __future__ import annotations

import os
import time

import streamlit as st

from atnmf_core import Dataset
from atnmf_core.sweep import (
    Grid,
    default_store,
    expected_sweep_seconds,
    open_store,
    read_store,
    save_upload,
    upload_path,
)
from pages.common.address import change
from pages.common.components import component
from pages.common.controls import PATTERN_NAMES, SOLVER_NAMES, chosen_data, segments
from pages.common.data_choice import UPLOAD, choose_data
from pages.common.duration_words import spoken
from pages.common.setting import ALPHAS, K_MOST, PATTERNS_OF, SEED_MOST
from pages.common.sweeping import queue_sweep

from .plan import METHODS, TREATMENTS, Plan
from .state import COUNT_MOST, STARTS_MOST, key, read_plan

__all__ = ["show_form"]

CORES = os.cpu_count() or 1
SECONDS_TO_START = 3.0
"""What it takes until a process of its own makes the first fit."""


def show_form() -> tuple[Plan, Dataset | None]:
    """Draw the sidebar; the sweep that it describes, and its data where that is at hand."""
    with st.sidebar:
        choose_data()
        data = chosen_data()
        if data is not None:
            _fit_to(data)
        _values(data)
        _more(data)
        plan = read_plan()
        if data is not None:
            _start(plan, data)
        component("copy")(key="copy")
    return plan, data


def _fit_to(data: Dataset) -> None:
    """Bring what the address asked for within what this data allows."""
    change(K=min(st.session_state["K"], *data.shape, K_MOST))
    if st.session_state["pattern"] not in PATTERNS_OF[data.kind]:
        change(pattern="entries")


def _values(data: Dataset | None) -> None:
    st.multiselect(
        "Hidden shares α",
        ALPHAS,
        format_func="{:.2f}".format,
        key=key("alphas"),
        placeholder="one or more",
        help="How much of the data is taken away. Several make a curve against α and a map.",
    )
    first, last, count = st.columns(3, gap="small")
    help_range = "From a strong adversary, just above 1, to hardly any; points stand evenly in log(λ − 1)."
    first.number_input("λ from", step=0.05, format="%g", key=key("low"), help=help_range)
    last.number_input("to", step=1.0, format="%g", key=key("high"), help="The largest λ.")
    count.number_input("points", 1, COUNT_MOST, key=key("count"), help="How many values of λ.")
    most = K_MOST if data is None else min(K_MOST, *data.shape)
    if most > 1:
        st.slider("Parts K", 1, most, key="K", help="How many parts every picture is put together from.")
    _pills("Methods", METHODS, "methods", "NMF and ANMF have no λ: they are fitted once per α.")
    _pills(
        "Hidden entries are",
        TREATMENTS,
        "missing",
        "Zeros: fitted as in the paper's released code. Ignored: only what was observed counts.",
    )
    segments(
        "Solver",
        SOLVER_NAMES,
        "solver",
        "Fast never oscillates and takes a moment; Algorithm 1 is the paper's own, and takes its time.",
    )
    st.slider(
        "Starts",
        1,
        STARTS_MOST,
        key=key("starts"),
        help="Each point is fitted from so many random starts; the curve shows mean and deviation.",
    )


def _more(data: Dataset | None) -> None:
    with st.expander("Seeds and pattern"):
        st.number_input(
            "Start seed", 0, SEED_MOST, key="seed", help="Of the first start; the next follow it."
        )
        st.number_input("Mask seed", 0, SEED_MOST, key="mask_seed", help="Another draw of hidden entries.")
        patterns = PATTERNS_OF["faces" if data is None else data.kind]
        if len(patterns) > 1:
            names = {pattern: PATTERN_NAMES[pattern] for pattern in patterns}
            segments("Hiding pattern", names, "pattern", "Scattered entries, or a connected piece.")


def _start(plan: Plan, data: Dataset) -> None:
    """What it amounts to, or what is wrong with it, and the button."""
    problems = plan.problems(data.shape)
    for problem in problems:
        st.warning(problem, icon=":material/edit:")
    if not problems:
        st.markdown(_price(plan.grid(plan.data), data))
    st.button(
        "Start",
        type="primary",
        icon=":material/play_arrow:",
        width="stretch",
        disabled=bool(problems),
        on_click=_begin,
        args=(plan, data),
        key="curves_start",
    )


def _price(grid: Grid, data: Dataset) -> str:
    """How many fits, how many of them are in the store already, and how long the others take."""
    path = default_store()
    tried: dict[tuple[int, str, str], int] = {}
    if path.exists():
        with read_store(path) as store:
            tried = store.tried(grid, data.content_hash)
    kept = sum(tried.values())
    fits = f"**{len(grid):,} fits**" if len(grid) > 1 else "**One fit**"
    if kept == len(grid):
        return f"{fits}, kept from an earlier sweep"
    known = f", {kept:,} of them kept from earlier sweeps" if kept else ""
    seconds = SECONDS_TO_START + expected_sweep_seconds(grid, data.shape, tried) / CORES
    return f"{fits}{known}, about **{spoken(seconds)}** {_where()}"


def _where() -> str:
    address = os.environ.get("ATNMF_DASK")
    if address:
        return f"of one core, on the Dask cluster at `{address}`"
    return f"on {CORES} cores" if CORES > 1 else "on one core"


def _begin(plan: Plan, data: Dataset) -> None:
    """Enter the sweep in the store, put it in the queue, and show it."""
    path = default_store()
    uploaded = plan.data == UPLOAD
    grid = plan.grid(str(upload_path(path, data)) if uploaded else plan.data)
    with open_store(path) as store:
        names = {record.name for record in store.sweeps()}
        name = _free_name(_name(plan, data), names)
        store.add_sweep(name, grid, data.content_hash)
    if uploaded:
        save_upload(path, data)
    queue_sweep(name)
    change(
        **{key("show"): f"sweep:{name}", key("at_alpha"): None, key("at_missing"): None, key("at_K"): None}
    )


def _name(plan: Plan, data: Dataset) -> str:
    alphas = plan.alphas if len(plan.alphas) < 4 else (min(plan.alphas), max(plan.alphas))
    joint = ", " if len(plan.alphas) < 4 else "–"
    what = joint.join(f"{alpha:g}" for alpha in sorted(alphas))
    return f"{data.name}, α {what}, K {plan.K}, {time.strftime('%d %b %H:%M')}"


def _free_name(name: str, taken: set[str]) -> str:
    if name not in taken:
        return name
    number = next(n for n in range(2, len(taken) + 3) if f"{name} ({n})" not in taken)
    return f"{name} ({number})"


def _pills(label: str, names: dict[str, str], name: str, help: str) -> None:
    st.pills(
        label, names, selection_mode="multi", format_func=names.get, key=key(name), width="stretch", help=help
    )
