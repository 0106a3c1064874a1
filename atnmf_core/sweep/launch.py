"""Starting the process that works a store's queue off, and asking a sweep to end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from .process import host_name
from .records import SweepRecord

__all__ = ["log_file", "start_queue", "stop"]

PACKAGE = Path(__file__).resolve().parents[1]


def start_queue(store: Path) -> subprocess.Popen[bytes]:
    """`python -m atnmf_core queue`, in a session of its own: it outlives whoever started it."""
    paths = [str(PACKAGE.parent), os.environ.get("PYTHONPATH", "")]
    with log_file(store).open("w") as log:
        return subprocess.Popen(
            [sys.executable, "-m", PACKAGE.name, "queue", f"--store={store.resolve()}"],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in paths if path)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,
        )


def log_file(store: Path) -> Path:
    """Where that process writes what went wrong."""
    return store.with_name(store.name + ".log")


def stop(record: SweepRecord) -> None:
    """Ask the process that works on a sweep to end; what it has finished is kept."""
    if record.status != "running" or record.host != host_name() or record.pid is None:
        return
    try:
        os.kill(record.pid, signal.SIGTERM)
    except (ProcessLookupError, PermissionError):
        # It ended in between, or is not ours to end.
        return
