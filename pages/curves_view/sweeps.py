"""The sweeps on this machine: their progress, and what can be done with them."""

import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from atnmf_core.jobs.fit_task import rough_duration
from atnmf_core.model.problem import METHOD_NAMES, SOLVER_NAMES, TREATMENT_NAMES
from atnmf_core.sweep import (
    MAX_NAME_LENGTH,
    FinishedPoint,
    Grid,
    SweepRecord,
    default_store,
    load_source,
    open_store,
)
from pages.common.address import K_CHOSEN, change
from pages.common.data import UPLOAD, entry_of
from pages.common.jobs import JobProgress, draw_job
from pages.common.sweeps import (
    cancel_sweep,
    ensure_queue_runs,
    own_sweep,
    own_sweeps,
    queue_sweep,
    reading_store,
    report_errors,
    why_queue_failed,
)
from pages.common.uploads import uploads
from pages.common.widgets import escape_markdown, show_error

from .curve import Curve
from .setting import ADDRESS, FIRST, METHODS, CurveSelection, key, select_curve

ICONS = {
    "running": "progress_activity",
    "queued": "schedule",
    "stopped": "pause_circle",
    "finished": "check_circle",
}
LISTED_AT_FIRST = 8  # How many are listed until somebody asks for all
MAX_FAILURES_SHOWN = 5
MIN_FITS_FOR_ESTIMATE = 4  # With fewer fits, the pace is mostly start-up time


def records() -> list[SweepRecord]:
    """This person's sweeps, those under way first, then the newest."""
    with reading_store() as store:
        found = [] if store is None else own_sweeps(store)
    return sorted(found, key=lambda record: (not record.is_under_way, record.place or 0))


def show_sweeps(sweeps: list[SweepRecord]) -> None:
    st.header("Your sweeps", anchor=False)
    if not sweeps:
        st.caption(
            "None yet. Choose values in the sidebar and press Start: the curve grows here, keeps growing "
            "after this page is closed, and is stored."
        )
        return
    everything = st.session_state.get("curves_all", False)
    for record in sweeps if everything else sweeps[:LISTED_AT_FIRST]:
        _line(record)
    if len(sweeps) > LISTED_AT_FIRST and not everything:
        st.button(f"Show all {len(sweeps)}", type="tertiary", on_click=change, kwargs={"curves_all": True})


def _line(record: SweepRecord) -> None:
    name = record.name
    shown = _is_shown(name)
    with st.container(
        key=f"curves_line_{record.created:.6f}".replace(".", "_"),
        horizontal=True,
        vertical_alignment="center",
        gap="small",
        border=shown,
    ):
        with st.container(width="stretch", gap=None):
            st.markdown(f":material/{ICONS[record.status]}: **{escape_markdown(name)}**")
            st.caption(f"{_settings(record.grid)} · {_how_far(record)}")
        if not shown:
            _button("Open", "show_chart", _open, record, key=f"Open {name}")
        _cancel_or_resume(record, "line")
        _menu(record)


def _is_shown(name: str) -> bool:
    return ADDRESS.get(CurveSelection).show == f"sweep:{name}"


def _open(record: SweepRecord) -> None:
    grid = record.grid
    select_curve(f"sweep:{record.name}")
    change(K=grid.Ks[0], **{K_CHOSEN: True})
    if entry_of(grid.dataset) is not None:
        change(data=grid.dataset)
    else:
        change(data=UPLOAD, upload=uploads().keep(load_source(grid.dataset)))


def _button(label: str, icon: str | None, action: Callable[..., object], *args: Any, **options: Any) -> None:
    icon = icon and f":material/{icon}:"
    st.button(label, icon=icon, on_click=report_errors(action), args=args, **options)


def _cancel_or_resume(record: SweepRecord, place: str, **options: Any) -> None:
    if record.is_under_way:
        _button("Cancel", "stop", cancel_sweep, record.name, key=f"cancel {place} {record.name}")
    elif record.status == "stopped":
        _button(
            "Resume", "play_arrow", queue_sweep, record.name, key=f"resume {place} {record.name}", **options
        )


def _menu(record: SweepRecord) -> None:
    name = record.name
    with st.popover("More", help=f"Rename or delete {escape_markdown(name)}"):
        if record.is_under_way:
            st.caption("Cancel it before renaming or deleting it.")
            return
        st.text_input("Name", value=name, max_chars=MAX_NAME_LENGTH, key=f"name {name}")
        _button("Rename", None, _rename, name, key=f"rename {name}")
        st.divider()
        st.caption(f"Its {record.done} fits are deleted with it, except those that another sweep shares.")
        _button("Delete for good", None, _delete, name, key=f"delete {name}")


def _rename(name: str) -> None:
    with open_store(default_store()) as store:
        own_sweep(store, name)
        new = store.rename_sweep(name, st.session_state[f"name {name}"])
    if _is_shown(name):
        change(**{key("show"): f"sweep:{new}"})


def _delete(name: str) -> None:
    with open_store(default_store()) as store:
        own_sweep(store, name)
        store.delete_sweep(name)
    if _is_shown(name):
        select_curve(FIRST)


def show_status(curve: Curve) -> None:
    record = curve.record
    if record is None:
        return
    if record.status != "finished":
        if record.is_under_way:
            progress = JobProgress(record.done / max(record.total, 1), _how_far(record))
            draw_job(progress, partial(report_errors(cancel_sweep), record.name), key="curves_progress")
        else:
            with st.container(key="curves_stopped", horizontal=True, vertical_alignment="center"):
                _cancel_or_resume(record, "head", type="primary")
                st.markdown(_how_far(record))
    if curve.failures:
        _show_failures(record, curve.failures)


def show_trouble() -> None:
    """Why the process that runs the sweeps has ended, if it failed, and a button to start it again."""
    reason = why_queue_failed()
    if reason is not None:
        with st.container(horizontal=True, vertical_alignment="center"):
            show_error(reason, "The process that runs the sweeps has ended:")
            _button("Start it again", "play_arrow", lambda: ensure_queue_runs(again=True))


def _how_far(record: SweepRecord) -> str:
    done = f"{record.done + record.failed} of {record.total} fits"
    if record.status == "running":
        where = " on the Dask cluster" if os.environ.get("ATNMF_DASK") else ""
        left = record.seconds_left if record.done >= MIN_FITS_FOR_ESTIMATE else None
        return f"{done}{where}" + (f", about {rough_duration(left)} left" if left is not None else "")
    if record.status == "queued":
        ahead = (record.place or 1) - 1
        turn = "starting" if ahead == 0 else "next in the queue" if ahead == 1 else f"{ahead} before it"
        return f"{done}, {turn}"
    if record.status == "stopped":
        why = record.message or "its process ended"
        return f"Stopped after {done}: {escape_markdown(why.rstrip('.'))}."
    took = "" if record.started is None else f", in {rough_duration(record.seconds)}"
    return f"{done}{took}, {time.strftime('%d %b %Y %H:%M', time.localtime(record.ended or record.created))}"


def _show_failures(record: SweepRecord, failures: tuple[FinishedPoint, ...]) -> None:
    number = f"{len(failures)} fits failed" if len(failures) > 1 else "One fit failed"
    with st.expander(f"{number}; the others are not affected", icon=":material/error:"):
        for failure in failures[:MAX_FAILURES_SHOWN]:
            fit = failure.identity
            lam = "" if fit["lam"] is None else f", λ = {fit['lam']:g}"
            where = f"α = {fit['alpha']:g}, {METHOD_NAMES[fit['method']]}{lam}, start {fit['start'] + 1}"
            st.markdown(f"{where}: {escape_markdown(failure.error or '')}")
        if len(failures) > MAX_FAILURES_SHOWN:
            st.caption(f"and {len(failures) - MAX_FAILURES_SHOWN} more")
        if not record.is_under_way:
            _button("Try them again", "replay", _try_again, record.name)


def _try_again(name: str) -> None:
    with open_store(default_store()) as store:
        own_sweep(store, name)
        store.forget(store.sweep_id(name), only_failed=True)
    queue_sweep(name)


def _settings(grid: Grid) -> str:
    alphas = ", ".join(f"{alpha:g}" for alpha in grid.alphas)
    lams = f", λ {min(grid.lams):g}–{max(grid.lams):g} ({len(grid.lams)})" if grid.lams else ""
    methods = ", ".join(METHODS[method] for method in grid.methods)
    hidden = " and ".join(TREATMENT_NAMES[one] for one in grid.missing)
    Ks = ", ".join(map(str, grid.Ks))
    starts = f"{grid.starts} starts" if grid.starts > 1 else "one start"
    return f"{methods}, α {alphas}{lams}, K {Ks}, hidden {hidden}, {SOLVER_NAMES[grid.solver]}, {starts}"
