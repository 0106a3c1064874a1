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
from typing import NamedTuple

from .processes import created
from .store import Store

__all__ = ["Queue", "Turn", "log_file", "start_queue"]

PACKAGE = Path(__file__).resolve().parents[1]


class Turn(NamedTuple):
    """A sweep and when it was asked for, which tells this turn from a later one of the same sweep."""

    name: str
    asked: float


class Queue:
    """The queue of a store, for those who change it. Whoever only looks asks the store's records."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add(self, name: str) -> None:
        """Let a sweep be run when its turn comes; one that is already queued keeps its place."""
        with self._store.transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO queue (sweep, asked) VALUES (?, ?)",
                (self._store.sweep_id(name), time.time()),
            )

    def remove(self, name: str) -> None:
        """Take a sweep out; the process that runs the queue ends it if it is running."""
        with self._store.transaction() as connection:
            connection.execute(
                "DELETE FROM queue WHERE sweep = (SELECT id FROM sweeps WHERE name = ?)", (name,)
            )

    def cancel(self, name: str) -> None:
        """Take a sweep out, and end it also where it was started at the command line."""
        self.remove(name)
        record = self._store.sweep(name)
        if (
            record.status == "running"
            and record.pid is not None
            and record.pid != self._store.queue_process()
        ):
            # It may have ended in between, or not be ours to end.
            with suppress(ProcessLookupError, PermissionError):
                os.kill(record.pid, signal.SIGTERM)

    def take_over(self) -> bool:
        """Make this process the one that runs the queue; False where another one does."""
        pid = os.getpid()
        with self._store.transaction() as connection:
            if self._store.queue_process() not in (None, pid):
                return False
            connection.execute(
                "INSERT OR REPLACE INTO queue_process (only, pid, process_created) VALUES (1, ?, ?)",
                (pid, created(pid)),
            )
        return True

    def next(self) -> Turn | None:
        """The sweep whose turn it is; None when there is none, and then this process has left the queue.

        Both at once, so that a sweep that is added now finds either a process or the place empty.
        """
        with self._store.transaction() as connection:
            first = connection.execute(
                "SELECT name, asked FROM queue JOIN sweeps ON id = sweep ORDER BY asked, sweep LIMIT 1"
            ).fetchone()
            if first is None:
                connection.execute("DELETE FROM queue_process WHERE pid = ?", (os.getpid(),))
        return None if first is None else Turn(first["name"], first["asked"])

    def has(self, turn: Turn) -> bool:
        """Whether a turn is still wanted: neither taken out, nor taken out and asked for anew."""
        found = self._store.query(
            "SELECT 1 FROM queue JOIN sweeps ON id = sweep WHERE name = ? AND asked = ?", turn
        )
        return bool(found)

    def end(self, turn: Turn) -> None:
        """Take out a turn that is over; a later one of the same sweep stays."""
        with self._store.transaction() as connection:
            connection.execute(
                "DELETE FROM queue WHERE sweep = (SELECT id FROM sweeps WHERE name = ?) AND asked = ?", turn
            )

    def leave(self) -> None:
        """Declare that this process no longer runs the queue."""
        with self._store.transaction() as connection:
            connection.execute("DELETE FROM queue_process WHERE pid = ?", (os.getpid(),))


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
    """Where that process writes what went wrong."""
    return store.with_name(store.name + ".log")
