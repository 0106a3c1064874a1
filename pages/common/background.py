"""What the server runs in the background for all its sessions, and how its process is set up for that."""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
import time

import streamlit as st
from threadpoolctl import threadpool_limits

from atnmf_core.running.scheduler import Scheduler

from .streamlit_private import compose_theme_once, finish_runs_first, refer_to_last_run_only

SWITCH_SECONDS = 0.0005
M_MMAP_THRESHOLD, MAPPED_BYTES = -3, 256 * 1024
COLLECT_SECONDS = 60.0


@st.cache_resource(show_spinner=False)
def scheduler() -> Scheduler:
    """The one scheduler of this server."""
    _set_up_process()
    return Scheduler()


def _set_up_process() -> None:
    # A page hands over a hundred messages, and gives up the interpreter with each: where ten sessions are at
    # work, Python's usual 5 ms until it gets it back add up to many seconds.
    sys.setswitchinterval(SWITCH_SECONDS)
    # Sessions already run side by side; BLAS threads on top of them would only fight over the cores.
    threadpool_limits(limits=1, user_api="blas")
    _map_large_arrays_one_by_one()
    compose_theme_once()
    finish_runs_first()
    refer_to_last_run_only()
    threading.Thread(target=_collect_garbage_regularly, daemon=True).start()


def _map_large_arrays_one_by_one() -> None:
    """Have the memory of large arrays go back to the system as soon as they are dropped; where they share a
    heap, it stays with the process, between those that are still there.
    """
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    if hasattr(library, "mallopt"):
        library.mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES)


def _collect_garbage_regularly() -> None:
    """Collect garbage in place of Streamlit's forced collection after every run of a page or fragment, which
    .streamlit/config.toml switches off. Nothing is frozen: the first session, which is there by now, must be
    freed like any other.
    """
    while True:
        time.sleep(COLLECT_SECONDS)
        gc.collect()
