"""How far a sweep is, in a bar and in words, with what can be done about it."""

from __future__ import annotations

import os
import time

import streamlit as st

from atnmf_core.sweep import Result, SweepRecord, default_store, open_store
from pages.common.duration_words import spoken
from pages.common.sweeping import cancel_sweep, keep_going, queue_sweep, trouble

from .shown import Shown

__all__ = ["how_far", "show_status", "show_trouble"]

MOST_FAILURES = 5
ENOUGH_TO_GUESS = 4
"""After fewer fits, the time left is that of starting up."""


def show_status(shown: Shown) -> None:
    """Progress and Cancel while it runs; Resume where it was stopped; the failed points."""
    record = shown.record
    if record is None:
        return
    if shown.is_under_way:
        with st.container(key="curves_progress", horizontal=True, vertical_alignment="center"):
            st.button("Cancel", icon=":material/stop:", on_click=cancel_sweep, args=(record.name,))
            st.progress(record.done / max(record.total, 1), how_far(record))
    elif record.status == "stopped":
        with st.container(key="curves_stopped", horizontal=True, vertical_alignment="center"):
            st.button(
                "Resume",
                type="primary",
                icon=":material/play_arrow:",
                on_click=queue_sweep,
                args=(record.name,),
            )
            st.markdown(how_far(record))
    if shown.failures:
        _failures(record, shown.failures)


def show_trouble() -> None:
    """Why nobody works the queue off, where the process for it broke down, and a way to go on."""
    said = trouble()
    if said is not None:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.error(f"The process that runs the sweeps has ended: {said}", icon=":material/error:")
            st.button("Go on", icon=":material/play_arrow:", on_click=keep_going, kwargs={"again": True})


def how_far(record: SweepRecord) -> str:
    """The state of a sweep in a sentence."""
    done = f"{record.done + record.failed} of {record.total} fits"
    if record.status == "running":
        where = " on the Dask cluster" if os.environ.get("ATNMF_DASK") else ""
        left = record.seconds_left if record.done >= ENOUGH_TO_GUESS else None
        return f"{done}{where}" + (f", about {spoken(left)} left" if left is not None else "")
    if record.status == "queued":
        ahead = (record.place or 1) - 1
        turn = "starting" if ahead == 0 else "next in the queue" if ahead == 1 else f"{ahead} before it"
        return f"{done}, {turn}"
    if record.status == "stopped":
        why = record.message or "its process ended"
        return f"Stopped after {done}: {why.rstrip('.')}."
    took = ""
    if record.started is not None and record.ended is not None:
        took = f", in {spoken(record.ended - record.started)}"
    return f"{done}{took}, {time.strftime('%d %b %Y %H:%M', time.localtime(record.ended or record.created))}"


def _failures(record: SweepRecord, failures: tuple[Result, ...]) -> None:
    number = f"{len(failures)} fits failed" if len(failures) > 1 else "One fit failed"
    with st.expander(f"{number}; the others are not affected", icon=":material/error:"):
        for failure in failures[:MOST_FAILURES]:
            lam = "" if failure.lam is None else f", λ = {failure.lam:g}"
            start = f"start {failure.start + 1}"
            st.markdown(f"α = {failure.alpha:g}, {failure.method}{lam}, {start}: `{failure.error}`")
        if len(failures) > MOST_FAILURES:
            st.caption(f"and {len(failures) - MOST_FAILURES} more")
        if record.status in ("finished", "stopped"):
            st.button("Try them again", icon=":material/replay:", on_click=_try_again, args=(record.name,))


def _try_again(name: str) -> None:
    with open_store(default_store()) as store:
        store.forget_failed(name)
    queue_sweep(name)
