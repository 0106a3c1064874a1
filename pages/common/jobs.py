"""What the server runs in the background for all its sessions: the one scheduler, the sessions that own its
jobs and how often they may look at them, and the progress that they see.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import streamlit as st

from atnmf_core.jobs.scheduler import Scheduler

from .hosting import person, quotas, set_up_process


@st.cache_resource(show_spinner=False)
def scheduler() -> Scheduler:
    set_up_process()
    return Scheduler()


FULL_SERVER_POLL_SECONDS = 10.0
VISITORS_AT_FULL_RATE = 8
"""Up to this many sessions poll at full rate; with many more, polling would take all of the server's time."""
_ADMITTED = "admitted"


@dataclass(frozen=True, eq=False)
class Visitor:
    """A session. On a server for others a person may have several."""

    person: str | None


def _leave(visitor: Visitor) -> None:
    _present().discard(visitor)
    scheduler().leave(visitor)


@st.cache_resource(show_spinner=False, scope="session", on_release=_leave)
def visitor() -> Visitor:
    """This session, as the owner of what it asks for; it leaves when its browser disconnects."""
    arrived = Visitor(person())
    _present().add(arrived)
    return arrived


@st.cache_resource(show_spinner=False)
def _present() -> set[Visitor]:
    return set()


def admit() -> None:
    """Admit this session, for good, or let it wait where the server is full."""
    if _ADMITTED in st.session_state or _has_room():
        st.session_state[_ADMITTED] = True
        visitor()
        return
    st.fragment(_wait, run_every=FULL_SERVER_POLL_SECONDS)()
    st.stop()


def poll_interval(seconds: float) -> float:
    """How often to poll where `seconds` suit a few sessions: the more sessions, the less often, so that the
    server has time for more than polls.
    """
    return seconds * max(1.0, len(_present()) / VISITORS_AT_FULL_RATE)


def long_fit_refusal() -> str:
    """Why this person may not start another long fit now; empty if they may."""
    limits, me = quotas(), person()
    if limits is None:
        return ""
    own = [job for job in scheduler().long_jobs() if any(one.person == me for one in job.owners)]
    if len(own) < limits.long_fits:
        return ""
    return (
        f"You have {len(own)} long fits under way, as many as one person may have on this server at a time. "
        "Wait for one to end, or cancel it."
    )


def _has_room() -> bool:
    limits = quotas()
    return limits is None or len(_present()) < limits.sessions


def _wait() -> None:
    if _has_room():
        st.rerun()
    st.info(
        "This server is full. Keep this page open: you are let in as soon as somebody leaves.",
        icon=":material/hourglass_top:",
    )


JOB_POLL_SECONDS = 0.5


class JobProgress(NamedTuple):
    share: float
    words: str


Look = Callable[[], JobProgress | None]


def show_job(look: Look, cancel: Callable[[], object] | None = None, **style: str) -> None:
    """The progress that `look` reports, until that is None; then the whole page is drawn again."""
    st.fragment(_poll, run_every=poll_interval(JOB_POLL_SECONDS))(look, cancel, style)


def _poll(look: Look, cancel: Callable[[], object] | None, style: dict[str, str]) -> None:
    progress = look()
    if progress is None:
        st.rerun()
    draw_job(progress, cancel, **style)


def draw_job(
    progress: JobProgress,
    cancel: Callable[[], object] | None = None,
    *,
    key: str = "wait",
    label: str = "Cancel",
    help: str | None = None,
) -> None:
    """The bar and, for those who may end the work, the button; `key` is that of both together."""
    with st.container(key=key, horizontal=True, vertical_alignment="center"):
        if cancel is not None:
            st.button(label, icon=":material/stop:", key=f"{key}_cancel", on_click=cancel, help=help)
        st.progress(min(max(progress.share, 0.0), 1.0), progress.words)
