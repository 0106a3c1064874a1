"""Sweeps that take turns instead of fighting for the cores: a queue in the store, and one process for it.

A sweep stays in the queue while it runs, so whatever a crash or a switched-off machine interrupted is still
queued, and is resumed by the next process that runs the queue.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from .processes import created
from .store import Store

PACKAGE = Path(__file__).resolve().parents[1]


class Queue:
    """The queue of a store, for changing it; to read it, ask the store's records."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add(self, name: str) -> None:
        """Queue a sweep; one that is already queued keeps its turn."""
        sweep = self._store.sweep_id(name)
        self._store.write("INSERT OR IGNORE INTO queue (sweep, asked) VALUES (?, ?)", sweep, time.time())

    def remove(self, name: str) -> None:
        """Take a sweep out of the queue; if it is running, the process that runs the queue stops it."""
        self._store.write("DELETE FROM queue WHERE sweep = (SELECT id FROM sweeps WHERE name = ?)", name)

    def cancel(self, name: str) -> None:
        """Take a sweep out of the queue, and stop it even if it was started at the command line."""
        self.remove(name)
        record = self._store.sweep(name)
        if record.status == "running" and record.pid not in (None, self._store.queue_process()):
            # It may have ended meanwhile, or belong to another user.
            with suppress(ProcessLookupError, PermissionError):
                os.kill(record.pid, signal.SIGTERM)

    def take_over(self) -> bool:
        """Make this process the one that runs the queue; False where another one does."""
        pid = os.getpid()
        with self._store.transaction():
            if self._store.queue_process() not in (None, pid):
                return False
            self._store.write("INSERT OR REPLACE INTO queue_process VALUES (1, ?, ?)", pid, created(pid))
        return True

    def next(self) -> str | None:
        """The sweep whose turn it is; None when there is none, and then this process has left the queue.

        In one transaction, so that whoever adds a sweep now finds either a process or none.
        """
        with self._store.transaction():
            name = next(iter(self._store.queued()), None)
            if name is None:
                self.leave()
        return name

    def leave(self) -> None:
        """Declare that this process no longer runs the queue."""
        self._store.write("DELETE FROM queue_process WHERE pid = ?", os.getpid())


def start_queue(store: Path) -> subprocess.Popen[bytes]:
    """`python -m atnmf_core queue`, in a session of its own: it outlives the process that starts it."""
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
    """Where that process writes its errors."""
    return store.with_name(store.name + ".log")
