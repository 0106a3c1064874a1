"""Cells rerun on this machine: stored results, expected time, progress, Cancel."""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from atnmf_core import InputError
from atnmf_core.figures.report import comparison_page
from atnmf_core.jobs.fit_task import beside_others, rough_duration
from atnmf_core.recipe import command_line
from atnmf_core.reference import TITLES, measured
from atnmf_core.reference.compare import Cell, comparison_csv, expected_run_seconds, method_title
from atnmf_core.reference.paper_tables import PROTOCOLS, local_runs, sweep_name
from atnmf_core.sweep import Measurement, SweepRecord, default_store, open_store
from pages.common.data import entry_of, load, offer_data
from pages.common.jobs import JobProgress, draw_job, poll_interval
from pages.common.sweeps import (
    STORE_ERRORS,
    STORE_POLL_SECONDS,
    add_sweep,
    cancel_sweep,
    ensure_queue_runs,
    is_own,
    message_of,
    queue_sweep,
    reading_store,
    report_errors,
    show_refusal,
    why_queue_failed,
)
from pages.common.take_away import chart_files, download, show_figures
from pages.common.widgets import show_code, show_error

from .tables import ADDRESS, ReproduceSetting, key


def show_take_away(setting: ReproduceSetting, cells: Sequence[Cell], here: Sequence[Cell]) -> None:
    table, name = setting.table, f"reproduce-{setting.table}"
    st.markdown("**Download**")
    with st.container(horizontal=True, gap="small"):
        download("Table, CSV", lambda: comparison_csv(table, cells), f"{name}.csv", "text/csv")
        download("Table, HTML", lambda: comparison_page(table, cells, here), f"{name}.html", "text/html")
        # In a pop-up, because the code element is the slowest to load.
        with st.popover("Command line"):
            st.caption("The whole table again, and the chosen cell")
            show_code(f"{command_line('reproduce', table)}\n{setting.command_line()}")
    if setting.look == "chart":
        # Imported here because Plotly is slow to import.
        from atnmf_core.figures.report import reproduction_figure

        show_figures(f"{name}-chart", chart_files({"": ("Chart", partial(reproduction_figure, cells))}))


CORES = os.cpu_count() or 1


@dataclass(frozen=True)
class StoredRuns:
    """What the store says about the paper's tables.

    rows : measurements of the chosen table on this machine.
    active : all running and queued runs, of any table.
    failures : the distinct errors of the chosen cell's run.
    """

    rows: tuple[Measurement, ...] = ()
    active: tuple[SweepRecord, ...] = ()
    chosen: SweepRecord | None = None
    failures: tuple[str, ...] = ()
    unreadable: str = ""


def read_runs(setting: ReproduceSetting) -> StoredRuns:
    try:
        return _read(setting)
    except STORE_ERRORS as error:
        return StoredRuns(unreadable=message_of(error))


def _read(setting: ReproduceSetting) -> StoredRuns:
    ensure_queue_runs()
    name = sweep_name(setting.table, setting.grid())
    with reading_store() as store:
        if store is None:
            return StoredRuns()
        records = [record for record in store.sweeps() if record.reproduces]
        chosen = next((record for record in records if record.name == name), None)
        failures = store.outcomes(name, failed=True) if chosen is not None else ()
        return StoredRuns(
            rows=local_runs(store, setting.table),
            active=tuple(record for record in records if record.is_under_way),
            chosen=chosen,
            failures=tuple(dict.fromkeys(result.error or "" for result in failures)),
        )


def choose_run() -> None:
    """How thoroughly to run the chosen cell; all one kind of widget, because each kind takes time to load."""
    st.caption("Run the chosen cell here. Click in the table to choose another.")
    is_algorithm_1 = st.session_state[key("missing")] == "zero" and st.session_state[key("method")] != "anmf"
    ADDRESS.draw("missing", width="stretch")
    ADDRESS.draw("starts", width="stretch")
    ADDRESS.draw("outer", width="stretch", disabled=not is_algorithm_1)


def show_run(setting: ReproduceSetting, runs: StoredRuns) -> None:
    if runs.active:
        st.fragment(_progress, run_every=poll_interval(STORE_POLL_SECONDS))(setting, runs.active)
    entry = entry_of(PROTOCOLS[setting.table].dataset)
    assert entry is not None
    if not entry.available:
        offer_data(entry)
        return
    _show_outcome(runs)
    if runs.unreadable:
        return
    if runs.chosen is None or runs.chosen not in runs.active:
        again = "Run it again" if runs.chosen is not None and runs.chosen.done else "Run this cell"
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(again, type="primary", icon=":material/play_arrow:", on_click=_start, args=(setting,))
            st.markdown(f"about **{rough_duration(_expected(setting, runs))}**", width="content")


@report_errors
def _start(setting: ReproduceSetting) -> None:
    """Put the chosen cell in the queue. A finished one is fitted again, because somebody asked for it."""
    grid, data = setting.grid(), load(PROTOCOLS[setting.table].dataset)
    name = sweep_name(setting.table, grid)
    with open_store(default_store()) as store:
        sweep = add_sweep(store, name, grid, data.content_hash, reproduces=setting.table)
        record = store.sweep(name)
        if record.status == "finished" and not is_own(record):
            raise InputError("somebody else has run this cell; what they measured is in the table.")
        if record.status == "finished":
            store.forget(sweep, only_failed=False)
    queue_sweep(name)


def _expected(setting: ReproduceSetting, runs: StoredRuns) -> float:
    grid = setting.grid()
    # This machine's own pace, if known, is a better guide than another's.
    own = [cell for cell in runs.rows if (cell.method, cell.missing) == (grid.methods[0], setting.missing)]
    seconds = expected_run_seconds(setting.table, grid, own or measured(setting.table), CORES)
    return beside_others(seconds, min(CORES, setting.starts))


def _show_outcome(runs: StoredRuns) -> None:
    show_refusal()
    problems = [
        f"The process that runs the cells has ended: {reason}" if (reason := why_queue_failed()) else "",
        runs.unreadable,
        *(f"A fit failed: {failure}" for failure in runs.failures),
    ]
    for problem in filter(None, problems):
        show_error(problem)
    record = runs.chosen
    if record is None or record.status != "stopped":
        return
    if record.message and record.message != "stopped by the user":
        show_error(record.message, "The run ended:")
    elif record.message:
        st.caption(f"Stopped: {record.done} of {record.total} starts are done. Run to resume there.")


def _progress(setting: ReproduceSetting, drawn: tuple[SweepRecord, ...]) -> None:
    runs = read_runs(setting)
    if [(one.name, one.done) for one in runs.active] != [(one.name, one.done) for one in drawn]:
        st.rerun()
    for number, record in enumerate(runs.active):
        cancel = partial(report_errors(cancel_sweep), record.name) if is_own(record) else None
        draw_job(_how_far(record), cancel, key=f"run_{number}")


def _how_far(record: SweepRecord) -> JobProgress:
    table, points = record.reproduces, list(record.grid.points())
    assert table is not None
    alphas = ", ".join(f"{alpha:g}" for alpha in record.grid.alphas)
    methods = ", ".join(dict.fromkeys(method_title(point.method, point.lam) for point in points))
    title = f"{TITLES[table]}, α = {alphas}, {methods}"
    if record.status == "queued":
        return JobProgress(0.0, f"{title}: waiting for its turn")
    elapsed = 0.0 if record.started is None else time.time() - record.started
    whole = expected_run_seconds(table, record.grid, measured(table), CORES)
    expected = elapsed + record.seconds_left if record.seconds_left else whole
    share = max(record.done / record.total, min(0.95, elapsed / expected))
    left = f", about {rough_duration(expected - elapsed)} left" if expected > elapsed + 1 else ""
    done = f"{record.done} of {record.total} done"
    return JobProgress(share, f"{title}: {done}, {rough_duration(elapsed)} elapsed{left}")
