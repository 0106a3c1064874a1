"""The sessions that are open on this server: each owns what it asks for, and their number is limited."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from .background import scheduler
from .hosting import person, quotas

LOOK_SECONDS = 10.0
VISITORS_AT_FULL_RATE = 8
"""Up to this many sessions poll at full rate; with many more, polling would take all of the server's time."""
_ADMITTED = "admitted"


@dataclass(frozen=True, eq=False)
class Visitor:
    """A session. On a server for others a person may have several."""

    person: str | None


def _leave(gone: Visitor) -> None:
    _present().discard(gone)
    scheduler().leave(gone)


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
    """Admit this session or, where the server is full, say so and show nothing else until there is room. A
    session stays admitted, also after a lost connection.
    """
    if _ADMITTED in st.session_state or _has_room():
        st.session_state[_ADMITTED] = True
        visitor()
        return
    st.fragment(_wait, run_every=LOOK_SECONDS)()
    st.stop()


def poll_interval(seconds: float) -> float:
    """Seconds between two polls of a page: more, the more sessions are open."""
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
        "This server is full: as many people use it as it can serve. Leave this page open, and you are let "
        "in as soon as somebody goes.",
        icon=":material/hourglass_top:",
    )
