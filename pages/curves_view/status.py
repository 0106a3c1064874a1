"""How far a sweep is, as a bar and in words, with buttons to cancel, resume and retry."""

from __future__ import annotations

import os
import time

import streamlit as st

from atnmf_core.problem import METHOD_NAMES
from atnmf_core.running.duration import in_words
from atnmf_core.sweep import Outcome, SweepRecord, default_store, open_store
from pages.common.markdown import plain
from pages.common.sweep_store import refusing
from pages.common.sweeping import cancel_sweep, keep_going, queue_sweep, trouble

from .curve import Curve

__all__ = ["how_far", "show_status", "show_trouble"]

MAX_FAILURES_SHOWN = 5
MIN_FITS_FOR_ESTIMATE = 4
"""With fewer, the pace is that of starting up."""


def show_status(curve: Curve) -> None:
    """Progress and Cancel while it runs, Resume where it was stopped, and the fits that failed."""
    record = curve.record
    if record is None:
        return
    if curve.is_under_way:
        with st.container(key="curves_progress", horizontal=True, vertical_alignment="center"):
            st.button("Cancel", icon=":material/stop:", on_click=refusing(cancel_sweep), args=(record.name,))
            st.progress(record.done / max(record.total, 1), how_far(record))
    elif record.status == "stopped":
        with st.container(key="curves_stopped", horizontal=True, vertical_alignment="center"):
            st.button(
                "Resume",
                type="primary",
                icon=":material/play_arrow:",
                on_click=refusing(queue_sweep),
                args=(record.name,),
            )
            st.markdown(how_far(record))
    if curve.failures:
        _failures(record, curve.failures)


def show_trouble() -> None:
    """Why the process that runs the sweeps has ended, if it failed, and a button to start it again."""
    reason = trouble()
    if reason is not None:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.error(f"The process that runs the sweeps has ended: {plain(reason)}", icon=":material/error:")
            st.button(
                "Start it again",
                icon=":material/play_arrow:",
                on_click=refusing(keep_going),
                kwargs={"again": True},
            )


def how_far(record: SweepRecord) -> str:
    """The state of a sweep in a sentence, as Markdown."""
    done = f"{record.done + record.failed} of {record.total} fits"
    if record.status == "running":
        where = " on the Dask cluster" if os.environ.get("ATNMF_DASK") else ""
        left = record.seconds_left if record.done >= MIN_FITS_FOR_ESTIMATE else None
        return f"{done}{where}" + (f", about {in_words(left)} left" if left is not None else "")
    if record.status == "queued":
        ahead = (record.place or 1) - 1
        turn = "starting" if ahead == 0 else "next in the queue" if ahead == 1 else f"{ahead} before it"
        return f"{done}, {turn}"
    if record.status == "stopped":
        why = record.message or "its process ended"
        return f"Stopped after {done}: {plain(why.rstrip('.'))}."
    took = ""
    if record.started is not None and record.ended is not None:
        took = f", in {in_words(record.ended - record.started)}"
    return f"{done}{took}, {time.strftime('%d %b %Y %H:%M', time.localtime(record.ended or record.created))}"


def _failures(record: SweepRecord, failures: tuple[Outcome, ...]) -> None:
    number = f"{len(failures)} fits failed" if len(failures) > 1 else "One fit failed"
    with st.expander(f"{number}; the others are not affected", icon=":material/error:"):
        for failure in failures[:MAX_FAILURES_SHOWN]:
            fit = failure.identity
            lam = "" if fit["lam"] is None else f", λ = {fit['lam']:g}"
            where = f"α = {fit['alpha']:g}, {METHOD_NAMES[fit['method']]}{lam}, start {fit['start'] + 1}"
            st.markdown(f"{where}: {plain(failure.error or '')}")
        if len(failures) > MAX_FAILURES_SHOWN:
            st.caption(f"and {len(failures) - MAX_FAILURES_SHOWN} more")
        if record.status in ("finished", "stopped"):
            st.button(
                "Try them again", icon=":material/replay:", on_click=refusing(_try_again), args=(record.name,)
            )


def _try_again(name: str) -> None:
    with open_store(default_store()) as store:
        store.forget(store.sweep_id(name), only_failed=True)
    queue_sweep(name)
