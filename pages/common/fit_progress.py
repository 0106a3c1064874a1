"""Getting the fits of a setting onto the page: at once, after a Run, or while they are still improving."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from atnmf_core import Dataset
from atnmf_core.running.cost import expected_bytes
from atnmf_core.running.film import Frame

from . import fit_pair
from .duration_words import spoken
from .fit_cache import Job, store
from .setting import FitKey, Setting

__all__ = ["POLL_SECONDS", "Shown", "improving", "obtain", "show_wait"]

FIRST_VIEW_SECONDS = 60.0
"""A link that opens on something longer asks before it computes."""
POLL_SECONDS = 0.5
MUCH_MEMORY = 500_000_000


@dataclass(frozen=True, eq=False)
class Shown:
    """What there is to show: the fits of the setting asked for or, until that is solved, of the last one."""

    setting: Setting
    pair: fit_pair.Pair
    is_current: bool


def obtain(setting: Setting, data: Dataset) -> Shown | None:
    """The fits asked for where they are there or quick to get, else the last ones of this data."""
    asked = st.session_state.pop("run_asked", False)
    if fit_pair.kept_pair(setting, data) is None:
        _begin(setting, data, asked=asked)
    pair = fit_pair.wait_a_little(setting, data)
    if pair is not None:
        st.session_state[_last_solved(setting)] = (setting.solved, data.content_hash)
        return Shown(setting, pair, is_current=True)
    last, content_hash = st.session_state.get(_last_solved(setting), (None, ""))
    if last is None or content_hash != data.content_hash:
        return None
    pair = fit_pair.kept_pair(last, data)
    return None if pair is None else Shown(last.looked_at_as(setting), pair, is_current=False)


def _last_solved(setting: Setting) -> str:
    """Where the session keeps the last solved setting of the page whose setting this is."""
    return f"last_solved_{type(setting).__name__}"


def _begin(setting: Setting, data: Dataset, *, asked: bool) -> None:
    if fit_pair.jobs(setting, data) or (_failures(setting, data) and not asked):
        return
    seconds = fit_pair.expected(setting, data)
    first_view = _last_solved(setting) not in st.session_state and setting.solved != st.session_state.get(
        "cancelled"
    )
    if asked or seconds < fit_pair.LIVE_SECONDS or (first_view and seconds < FIRST_VIEW_SECONDS):
        fit_pair.start(setting, data, long=seconds >= fit_pair.LIVE_SECONDS)


def show_wait(setting: Setting, data: Dataset, *, something_shown: bool) -> None:
    """A Run button that says how long it will take; while it runs, how far it is and Cancel."""
    if fit_pair.jobs(setting, data):
        st.fragment(_progress, run_every=POLL_SECONDS)(setting, data)
        return
    failures = _failures(setting, data)
    if not failures and fit_pair.expected(setting, data) < fit_pair.LIVE_SECONDS:
        # It was solved, or given up as nobody seemed to wait, since this run of the page has asked for it.
        st.rerun()
    for failure in failures:
        st.error(f"This setting could not be solved: {failure}", icon=":material/error:")
    until = " Until then you see the last one." if something_shown else ""
    with st.container(key="wait", horizontal=True, vertical_alignment="center"):
        st.button("Run", type="primary", icon=":material/play_arrow:", on_click=_ask)
        st.markdown(f"This setting takes about **{_cost(setting, data)}**.{until}")


def improving(setting: Setting, data: Dataset) -> list[Frame]:
    """The latest of both fits while they run, AT-NMF's first; empty before there is something of each."""
    frames = [_latest(key) for key in fit_pair.keys(setting, data)]
    found = [frame for frame in frames if frame is not None]
    return found if len(found) == len(frames) and fit_pair.jobs(setting, data) else []


def _cost(setting: Setting, data: Dataset) -> str:
    """Of both fits: seconds and, where it matters, memory."""
    memory = 2 * expected_bytes(data.shape)
    words = f" and {memory / 1e9:.1f} GB of memory" if memory > MUCH_MEMORY else ""
    return spoken(fit_pair.expected(setting, data)) + words


def _failures(setting: Setting, data: Dataset) -> list[Exception]:
    found = (store().failure(key) for key in fit_pair.keys(setting, data))
    return [failure for failure in found if failure is not None]


def _ask() -> None:
    st.session_state["run_asked"] = True


def _cancel(setting: Setting, data: Dataset) -> None:
    st.session_state["cancelled"] = setting.solved
    for key in fit_pair.keys(setting, data):
        store().cancel(key)


def _progress(setting: Setting, data: Dataset) -> None:
    running = fit_pair.jobs(setting, data)
    if not running:
        st.rerun()
    with st.container(key="wait", horizontal=True, vertical_alignment="center"):
        st.button("Cancel", icon=":material/stop:", on_click=_cancel, args=(setting, data))
        st.progress(*_how_far(setting, data, running))


def _latest(key: FitKey) -> Frame | None:
    run, job = store().get(key), store().job(key)
    if run is not None:
        return run.frames[-1]
    return None if job is None else job.latest


def _how_far(setting: Setting, data: Dataset, running: list[Job]) -> tuple[float, str]:
    """How much of the slower fit is done, and the same in words."""
    slowest = min(running, key=lambda job: job.share)
    if slowest.latest is None:
        return 0.0, "Starting"
    if setting.solver == "fast":
        # It ends when it has converged, long before its last allowed sweep.
        expected = fit_pair.expected(setting, data)
        share, left = min(0.95, slowest.seconds / expected), max(0.0, expected - slowest.seconds)
    else:
        share = max(slowest.share, 1e-3)
        left = slowest.seconds * (1 - share) / share
    gone = f"Iteration {slowest.latest.iteration} · {spoken(slowest.seconds)} gone"
    return share, f"{gone}, at most {spoken(left)} left" if left else gone
