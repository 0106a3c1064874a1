"""Getting the fits of a setting onto the page: at once, after a Run, or while they are still improving."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import streamlit as st

from atnmf_core import Dataset
from atnmf_core.film import Frame

from . import solving
from .fits import Job, store
from .panels_view import show_improving
from .setting import VIEW, Setting

__all__ = ["Shown", "obtain", "show_wait"]

FIRST_VIEW_SECONDS = 60.0
"""A link that opens on something longer asks before it computes."""
PATIENCE_SECONDS = 4.0
"""A fit that was expected to be quick and is not is watched instead of waited for."""
POLL_SECONDS = 0.5


@dataclass(frozen=True, eq=False)
class Shown:
    """What there is to show: the fits of `setting`, which is the last solved one while `waits_for` is not."""

    setting: Setting
    pair: solving.Pair
    waits_for: Setting | None = None


def obtain(setting: Setting, data: Dataset) -> Shown | None:
    """The fits asked for where they are there or quick to get, else the last ones of this data."""
    if solving.kept_pair(setting, data) is None:
        _begin(setting, data)
        deadline = time.monotonic() + PATIENCE_SECONDS
        for job in solving.jobs(setting, data):
            if not job.long:
                job.wait(max(0.0, deadline - time.monotonic()))
    pair = solving.kept_pair(setting, data)
    if pair is not None:
        st.session_state["last_solved"] = (setting.solved, data.content_hash)
        return Shown(setting, pair)
    last, content_hash = st.session_state.get("last_solved", (None, ""))
    if last is None or content_hash != data.content_hash:
        return None
    pair = solving.kept_pair(last, data)
    looked_at = replace(last, **{name: getattr(setting, name) for name in VIEW})
    return None if pair is None else Shown(looked_at, pair, waits_for=setting)


def _begin(setting: Setting, data: Dataset) -> None:
    asked = st.session_state.pop("run_asked", False)
    if solving.jobs(setting, data):
        return
    seconds = solving.expected(setting, data)
    first_view = "last_solved" not in st.session_state and setting.solved != st.session_state.get("cancelled")
    if asked or seconds < solving.LIVE_SECONDS or (first_view and seconds < FIRST_VIEW_SECONDS):
        solving.start(setting, data, long=seconds >= solving.LIVE_SECONDS)


def show_wait(setting: Setting, data: Dataset) -> None:
    """A Run button that says how long it will take; or, while it runs, progress, Cancel and what is there so
    far.
    """
    if solving.jobs(setting, data):
        st.fragment(_progress, run_every=POLL_SECONDS)(setting, data)
        return
    with st.container(key="wait", horizontal=True, vertical_alignment="center"):
        st.button("Run", type="primary", icon=":material/play_arrow:", on_click=_ask)
        st.markdown(
            f"This setting takes about **{_spoken(solving.expected(setting, data))}**. Until then you see the last one."
        )


def _ask() -> None:
    st.session_state["run_asked"] = True


def _cancel(setting: Setting, data: Dataset) -> None:
    st.session_state["cancelled"] = setting.solved
    for key in solving.keys(setting, data):
        store().cancel(key)


def _progress(setting: Setting, data: Dataset) -> None:
    running = solving.jobs(setting, data)
    for job in running:
        if job.error is not None:
            raise job.error
    if not running:
        st.rerun()
    slowest = min(running, key=lambda job: job.share)
    with st.container(key="wait", horizontal=True, vertical_alignment="center"):
        st.button("Cancel", icon=":material/stop:", on_click=_cancel, args=(setting, data))
        st.progress(min(slowest.share, 1.0), _how_far(slowest))
    frames = [_latest(key) for key in solving.keys(setting, data)]
    if None not in frames:
        show_improving(setting, data, frames)


def _latest(key: solving.FitKey) -> Frame | None:
    run, job = store().get(key), store().job(key)
    film = run.film if run is not None else job.film if job is not None else None
    return film.frames[-1] if film is not None and film.frames else None


def _how_far(job: Job) -> str:
    if job.share <= 0:
        return "Starting"
    left = job.seconds * (1 - job.share) / job.share
    return f"Iteration {job.iteration} · {_spoken(job.seconds)} gone, at most {_spoken(left)} left"


def _spoken(seconds: float) -> str:
    if seconds < 1:
        return "a moment"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
