"""The server's process and whom it serves: how it is set up, who somebody is, and how much each may use.

A server that answers to this machine alone has one user, who sees everything and has no quotas.
"""

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
from dataclasses import dataclass, fields
from functools import cache

import streamlit as st
from threadpoolctl import threadpool_limits

from .streamlit_patches import browser_token, finish_runs_first, refer_to_last_run_only

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


def set_up_process() -> None:
    """Set this process up to run many sessions side by side."""
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
