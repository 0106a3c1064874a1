"""Running a cell again, here and now: how long it will take, how far it is, and a way to end it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from typing import Any

import streamlit as st

from atnmf_core.datasets import DataUnavailable
from atnmf_core.reference import measured
from atnmf_core.reference.compare import TITLES, method_title
from atnmf_core.reference.effort import expected_run_seconds
from atnmf_core.reference.protocol import PROTOCOLS
from atnmf_core.reference.stored import belongs_to
from atnmf_core.sweep import StoreError, SweepRecord
from atnmf_core.sweep.grid import Grid
from pages.common.data_choice import entry_of, load
from pages.common.download_offer import offer_data
from pages.common.duration_words import spoken
from pages.common.sweeping import cancel_sweep, trouble

from .choice import OUTER, STARTS, Choice, key
from .store import Here, look_up, start

__all__ = ["choose_run", "show_run"]

POLL_SECONDS = 1.0
CORES = os.cpu_count() or 1
TREATMENTS = {"zero": "as zeros (published)", "ignore": "ignored"}


def choose_run() -> None:
    """How thoroughly the chosen cell is run; all in one kind of widget, because each takes time to load."""
    st.caption("Run the chosen cell here. A click in the table chooses another.")
    _segments("Hidden entries", TREATMENTS, "missing", format_func=TREATMENTS.get)
    _segments("Starts", STARTS, "starts", help="The first so many of the authors' ten.")
    _segments(
        "Outer iterations",
        OUTER,
        "outer",
        disabled=st.session_state[key("missing")] == "ignore" or st.session_state[key("method")] == "anmf",
        help="After so many Algorithm 1 is ended; the authors allowed 100. Others have none.",
    )


def _segments(label: str, options: Iterable[Any], name: str, **more: Any) -> None:
    st.segmented_control(label, options, key=key(name), required=True, width="stretch", **more)


def show_run(choice: Choice, here: Here) -> None:
    """The button with its price; while runs are under way, how far they are."""
    if here.active:
        st.fragment(_progress, run_every=POLL_SECONDS)(choice, here.active)
    dataset = PROTOCOLS[choice.table].dataset
    entry = entry_of(dataset)
    assert entry is not None
    if not entry.available:
        offer_data(entry)
        return
    _tell_outcome(here)
    if here.unreadable:
        return
    if here.chosen is None or here.chosen not in here.active:
        again = "Run it again" if here.chosen is not None and here.chosen.done else "Run this cell"
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(again, type="primary", icon=":material/play_arrow:", on_click=_start, args=(choice,))
            st.markdown(f"about **{spoken(_expected(choice, here))}**", width="content")


def _start(choice: Choice) -> None:
    try:
        start(choice, load(PROTOCOLS[choice.table].dataset))
    except (DataUnavailable, StoreError) as error:
        st.session_state["reproduce_refused"] = str(error)


def _expected(choice: Choice, here: Here) -> float:
    grid = choice.grid()
    # This machine's own pace, where it is known, tells more than that of another.
    own = [cell for cell in here.cells if (cell.method, cell.missing) == (grid.methods[0], choice.missing)]
    return expected_run_seconds(choice.table, grid, own or measured(choice.table), CORES)


def _tell_outcome(here: Here) -> None:
    """How the last run of the chosen cell ended, where it did not just finish."""
    if broken := trouble():
        st.error(f"What was to be run could not be: {broken}", icon=":material/error:")
    for refusal in (st.session_state.pop("reproduce_refused", ""), here.unreadable):
        if refusal:
            st.error(refusal, icon=":material/error:")
    for failure in here.failures:
        st.error(f"A fit failed: {failure}", icon=":material/error:")
    record = here.chosen
    if record is None or record.status != "stopped":
        return
    if record.message and record.message != "stopped by the user":
        st.error(f"The run ended: {record.message}", icon=":material/error:")
    elif record.message:
        st.caption(f"Stopped: {record.done} of {record.total} starts are done. Run goes on from there.")


def _progress(choice: Choice, shown: tuple[SweepRecord, ...]) -> None:
    here = look_up(choice)
    if _state(here.active) != _state(shown):
        st.rerun()
    for record in here.active:
        st.progress(*_how_far(record))
        st.button(
            "Cancel",
            icon=":material/stop:",
            key=f"cancel {record.name}",
            on_click=cancel_sweep,
            args=(record.name,),
        )


def _state(records: tuple[SweepRecord, ...]) -> list[tuple[str, int]]:
    return [(record.name, record.done) for record in records]


def _how_far(record: SweepRecord) -> tuple[float, str]:
    title = _title(record)
    if record.status == "queued":
        return 0.0, f"{title}: waits for its turn"
    gone = 0.0 if record.started is None else time.time() - record.started
    table = belongs_to(record.name)
    assert table is not None
    whole = expected_run_seconds(table, record.grid, measured(table), CORES)
    expected = gone + record.seconds_left if record.seconds_left else whole
    share = max(record.done / record.total, min(0.95, gone / expected))
    left = f", about {spoken(expected - gone)} left" if expected > gone + 1 else ""
    return share, f"{title}: {record.done} of {record.total} done, {spoken(gone)} gone{left}"


def _title(record: SweepRecord) -> str:
    table, grid = belongs_to(record.name), record.grid
    assert table is not None
    return f"{TITLES[table]}, α = {', '.join(f'{alpha:g}' for alpha in grid.alphas)}, {_methods(grid)}"


def _methods(grid: Grid) -> str:
    titles = [
        method_title(method, lam)
        for method in grid.methods
        for lam in (grid.lams if method == "atnmf" else (None,))
    ]
    return ", ".join(titles)
