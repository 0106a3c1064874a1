"""The processes of this program on this machine: which still run, and with what priority."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

import psutil

CLOCK_TOLERANCE = 2.0
"""The clock that dates the creation of a process may be adjusted by this many seconds."""
NICENESS = 4
"""Enough for a dashboard in use to get most of a core, but little enough for sweeps to progress on a busy
machine.
"""
AUTOGROUP = Path("/proc/self/autogroup")
LOOK_FOR_PARENT = 1.0


def created(pid: int) -> float:
    """When a process was created, in seconds since 1970, which distinguishes it from a later one with the
    same number.
    """
    return float(psutil.Process(pid).create_time())


def is_running(pid: int, since: float) -> bool:
    """Whether the process that had this number at that time still runs."""
    try:
        process = psutil.Process(pid)
        same = process.create_time() < since + CLOCK_TOLERANCE
        return bool(same and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        # It belongs to another user, so it exists.
        return True


def lower_priority() -> None:
    """Let everything else on this machine go first: this process and all that it starts from now on."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    if AUTOGROUP.exists() and os.getsid(0) == os.getpid():
        # Linux shares cores among sessions first; niceness counts only within one.
        with suppress(OSError):
            AUTOGROUP.write_text(str(NICENESS))


def serve_parent(pid: int) -> None:
    """Make this worker process end with its parent, however that ends, and leave Ctrl-C to the parent.

    Ctrl-C reaches every process of a terminal; a parent that is killed can tell its workers nothing.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(pid,), daemon=True).start()


def _end_with(pid: int) -> None:
    while os.getppid() == pid:
        time.sleep(LOOK_FOR_PARENT)
    os._exit(1)
