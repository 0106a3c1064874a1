"""What the server runs in the background for all its sessions, and how its process is set up for that."""

import ctypes
import gc
import hashlib
import ipaddress
import logging
import os
import secrets
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from typing import NamedTuple

import streamlit as st
from threadpoolctl import threadpool_limits

from atnmf_core.jobs.scheduler import Scheduler

from .streamlit_patches import browser_token, finish_runs_first, refer_to_last_run_only

# A server for others: who its visitors are, and how much of it each of them may use.
#
# A server that answers to this machine alone has one user, who sees everything and has no quotas.

_LOG = logging.getLogger(__name__)
_PERSON = "hosting_person"


@dataclass(frozen=True)
class Quotas:
    """Limits of a server for others, each set by its name in capitals after ATNMF_MAX_: open pages in all;
    megabytes of uploads, stored sweeps and long fits (a picture needs two) per person; sweeps in the queue.
    """

    sessions: int = 60
    upload_mb: int = 400
    sweeps: int = 20
    queue: int = 20
    long_fits: int = 4


def quotas() -> Quotas | None:
    """None where the server is for this machine alone."""
    if not is_hosted():
        return None
    variables = {one.name: f"ATNMF_MAX_{one.name.upper()}" for one in fields(Quotas)}
    return Quotas(**{name: _limit(one, os.environ.get(one), name) for name, one in variables.items()})


@cache
def _limit(variable: str, value: str | None, name: str) -> int:
    """The number that a variable has; the default if it has none, which the log says where it should."""
    default = int(getattr(Quotas, name))
    if value and not value.isdecimal():
        _LOG.warning("%s=%s is not a whole number; the limit is %d.", variable, value, default)
    return int(value) if value and value.isdecimal() else default


def is_hosted() -> bool:
    """Whether others can connect, by the server's address or, behind a proxy here, by ATNMF_HOSTED=1."""
    forced = os.environ.get("ATNMF_HOSTED")
    return forced != "0" if forced else not _is_loopback(st.get_option("server.address"))


def _is_loopback(address: str | None) -> bool:
    try:
        return address == "localhost" or ipaddress.ip_address(address or "").is_loopback
    except ValueError:
        return False


def person() -> str | None:
    """Who this is: the same in all tabs of a browser, and not to be guessed; None on one's own machine."""
    if not is_hosted():
        return None
    if _PERSON not in st.session_state:
        token = browser_token() or secrets.token_bytes(16)
        st.session_state[_PERSON] = hashlib.sha256(token).hexdigest()
    return str(st.session_state[_PERSON])


SWITCH_SECONDS = 0.0005
M_MMAP_THRESHOLD, MAPPED_BYTES = -3, 256 * 1024
COLLECT_SECONDS = 60.0


@st.cache_resource(show_spinner=False)
def scheduler() -> Scheduler:
    _set_up_process()
    return Scheduler()


def _set_up_process() -> None:
    # A page hands over a hundred messages, and gives up the interpreter with each: where ten sessions are at
    # work, Python's usual 5 ms until it gets it back add up to many seconds.
    sys.setswitchinterval(SWITCH_SECONDS)
    # Sessions already run side by side; BLAS threads on top of them would only fight over the cores.
    threadpool_limits(limits=1, user_api="blas")
    _map_large_arrays_one_by_one()
    finish_runs_first()
    refer_to_last_run_only()
    threading.Thread(target=_collect_garbage_regularly, daemon=True).start()


def _map_large_arrays_one_by_one() -> None:
    """Have large arrays' memory go back to the system when they are dropped, not stay in a shared heap."""
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    if hasattr(library, "mallopt"):
        library.mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES)


def _collect_garbage_regularly() -> None:
    """Collect garbage now and then; config.toml turns off Streamlit's collection after every run."""
    while True:
        time.sleep(COLLECT_SECONDS)
        gc.collect()


LOOK_SECONDS = 10.0
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
    st.fragment(_wait, run_every=LOOK_SECONDS)()
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
