"""Requesting the fits of a setting, and what a page shows until they are ready: Run, progress and Cancel."""

from __future__ import annotations

import time
from dataclasses import dataclass

import streamlit as st

from atnmf_core import Dataset
from atnmf_core.running.cost import expected_bytes
from atnmf_core.running.duration import in_words
from atnmf_core.running.film import Frame
from atnmf_core.running.run import RunProgress
from atnmf_core.running.scheduler import Job

from . import fit_pair
from .background import scheduler
from .fit_cache import Failure, fit_cache
from .setting import FitKey, Setting
from .visitors import long_fit_refusal, poll_interval, visitor

FIRST_VIEW_SECONDS = 60.0
"""A link to something longer asks before it computes."""
PATIENCE_SECONDS = 4.0
"""A fit that takes longer than expected delays the rest of the page by at most this."""
LOOK_SECONDS = 0.1
POLL_SECONDS = 0.5
RETRY_SECONDS = 5.0
MUCH_MEMORY = 500_000_000


@dataclass(frozen=True, eq=False)
class ShownFits:
    """The fits to show: of the current setting or, until that is solved, of the last one."""

    setting: Setting
    pair: fit_pair.Pair
    is_current: bool


def request_fits(setting: Setting, data: Dataset) -> ShownFits | None:
    """The fits of this setting if they are cached or quick, else the last ones of this data."""
    asked = st.session_state.pop("run_asked", False)
    scheduler().move_on(visitor(), keep=fit_pair.keys(setting, data))
    if fit_pair.cached_pair(setting, data) is None:
        _begin(setting, data, asked=asked)
        _wait_for_quick_fits(setting, data)
    pair = fit_pair.cached_pair(setting, data)
    if pair is not None:
        st.session_state[_last_solved(setting)] = (setting.solved, data.content_hash)
        return ShownFits(setting, pair, is_current=True)
    last, content_hash = st.session_state.get(_last_solved(setting), (None, ""))
    if last is None or content_hash != data.content_hash:
        return None
    pair = fit_pair.cached_pair(last, data)
    return None if pair is None else ShownFits(last.with_view_of(setting), pair, is_current=False)


def _last_solved(setting: Setting) -> str:
    """The session's key for the last solved setting of the page whose setting this is."""
    return f"last_solved_{type(setting).__name__}"


def _begin(setting: Setting, data: Dataset, *, asked: bool) -> None:
    for key in fit_pair.keys(setting, data):
        scheduler().join(key, visitor())
    is_live = fit_pair.expected(setting, data) < fit_pair.LIVE_SECONDS
    has_failed = not all(
        is_live and failure.may_be_over(RETRY_SECONDS) for failure in _failures(setting, data)
    )
    wanted = asked or (not has_failed and (is_live or _starts_without_asking(setting, data)))
    if wanted and (is_live or not long_fit_refusal()):
        fit_pair.start(setting, data, long=not is_live)


def _starts_without_asking(setting: Setting, data: Dataset) -> bool:
    """Whether this is the session's first view, and quick enough to start without asking."""
    first_view = _last_solved(setting) not in st.session_state
    cancelled = setting.solved == st.session_state.get("cancelled")
    return first_view and not cancelled and fit_pair.expected(setting, data) < FIRST_VIEW_SECONDS


def _wait_for_quick_fits(setting: Setting, data: Dataset) -> None:
    """Wait until both fits have ended, unless they are long."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        short = [job.key for job in fit_pair.jobs(setting, data) if not job.long]
        if scheduler().wait(short, LOOK_SECONDS):
            return
        # Reading the session lets Streamlit end this run if a control has moved meanwhile.
        st.session_state.get("run_asked")


def show_wait(setting: Setting, data: Dataset, *, something_shown: bool) -> None:
    """A Run button that says how long it will take; during the run, its progress and Cancel."""
    if fit_pair.jobs(setting, data):
        st.fragment(_progress, run_every=poll_interval(POLL_SECONDS))(setting, data, something_shown)
        return
    failures = _failures(setting, data)
    is_live = fit_pair.expected(setting, data) < fit_pair.LIVE_SECONDS
    if is_live and not failures:
        # It was solved, or another session cancelled it, since this run of the page requested it.
        st.rerun()
    for failure in failures:
        st.error(f"This setting could not be solved: {failure.error}", icon=":material/error:")
    if is_live and not any(failure.is_refusal for failure in failures):
        st.fragment(_try_again, run_every=RETRY_SECONDS)(time.monotonic())
    until = " Until then you see the last one." if something_shown else ""
    refusal = "" if is_live else long_fit_refusal()
    with st.container(key="wait", horizontal=True, vertical_alignment="center"):
        st.button("Run", type="primary", icon=":material/play_arrow:", on_click=_ask)
        st.markdown(refusal or f"This setting takes about **{_cost(setting, data)}**.{until}")


def latest_frames(setting: Setting, data: Dataset) -> list[Frame]:
    """The latest frame of both running fits, AT-NMF's first; empty until each has one."""
    frames = [_latest(key) for key in fit_pair.keys(setting, data)]
    found = [frame for frame in frames if frame is not None]
    return found if len(found) == len(frames) and fit_pair.jobs(setting, data) else []


def _latest(key: FitKey) -> Frame | None:
    run, job = fit_cache().get(key), fit_cache().job(key)
    if run is not None:
        return run.frames[-1]
    return None if job is None or job.progress is None else job.progress.frame


def _cost(setting: Setting, data: Dataset) -> str:
    """Of both fits: seconds and, where it matters, memory."""
    memory = 2 * expected_bytes(data.shape)
    words = f" and {memory / 1e9:.1f} GB of memory" if memory > MUCH_MEMORY else ""
    return in_words(fit_pair.expected(setting, data)) + words


def _failures(setting: Setting, data: Dataset) -> list[Failure]:
    found = (fit_cache().failure(key) for key in fit_pair.keys(setting, data))
    return [failure for failure in found if failure is not None]


def _try_again(since: float) -> None:
    if time.monotonic() - since >= RETRY_SECONDS:
        st.rerun()


def _ask() -> None:
    st.session_state["run_asked"] = True


def _cancel(setting: Setting, data: Dataset) -> None:
    st.session_state["cancelled"] = setting.solved
    for key in fit_pair.keys(setting, data):
        fit_cache().cancel(key)


def _progress(setting: Setting, data: Dataset, something_shown: bool) -> None:
    running = fit_pair.jobs(setting, data)
    if not running:
        st.rerun()
    share, words = how_far(_slowest(running), setting.solver, fit_pair.expected(setting, data))
    if not all(job.is_running for job in running):
        words = "Busy: this waits for its turn" + (", the last picture is shown" if something_shown else "")
    with st.container(key="wait", horizontal=True, vertical_alignment="center"):
        st.button("Cancel", icon=":material/stop:", on_click=_cancel, args=(setting, data))
        st.progress(share, words)


def _slowest(running: list[Job]) -> RunProgress | None:
    progress = [job.progress for job in running]
    return None if None in progress else min(progress, key=lambda one: one.share)


def how_far(progress: RunProgress | None, solver: str, expected: float) -> tuple[float, str]:
    """How much of a fit is done, and the same in words. `expected` is the number of seconds that the missing
    fits take; 0 if the last of them has just ended.
    """
    if progress is None:
        return 0.0, "Starting"
    seconds, share = progress.seconds, max(progress.share, 1e-3)
    if solver == "fast":
        # It converges long before its iteration limit.
        left = max(0.0, expected - seconds)
        share = min(0.95, seconds / expected) if left else 0.95
    else:
        left = seconds * (1 - share) / share
    gone = f"Iteration {progress.frame.iteration} · {in_words(seconds)} gone"
    return share, f"{gone}, at most {in_words(left)} left" if left else gone
