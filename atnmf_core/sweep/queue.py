"""Sweeps that take turns instead of fighting for the cores: a queue in the store, and one process for it.

A sweep stays in the queue while it runs, so what a crash or a switched-off machine interrupted is still in it
and goes on when somebody works the queue off again.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from .processes import birth_mark, host_name, is_alive
from .records import SweepRecord
from .store import Store, sweep_id

__all__ = ["Queue", "Turn", "log_file", "start_queue", "stop"]

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
        """Let a sweep be run when its turn comes; one that is in the queue already keeps its place."""
        with self._store.transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO queue (sweep, asked) VALUES (?, ?)",
                (sweep_id(connection, name), time.time()),
            )

    def remove(self, name: str) -> None:
        """Take a sweep out; the process that works the queue off ends it if it is running."""
        with self._store.transaction() as connection:
            connection.execute(
                "DELETE FROM queue WHERE sweep = (SELECT id FROM sweeps WHERE name = ?)", (name,)
            )

    def take_over(self) -> bool:
        """Make this process the one that works the queue off; False where another one does."""
        pid, host = os.getpid(), host_name()
        with self._store.transaction() as connection:
            holder = connection.execute("SELECT * FROM runners").fetchone()
            if holder and _lives(holder) and (holder["pid"], holder["host"]) != (pid, host):
                return False
            connection.execute(
                "INSERT OR REPLACE INTO runners (only, pid, host, process_born, alive)"
                " VALUES (1, ?, ?, ?, ?)",
                (pid, host, birth_mark(pid), time.time()),
            )
        return True

    def next(self) -> Turn | None:
        """The sweep whose turn it is; None when there is none, and then this process has left the queue.

        Both at once, so that a sweep which is added now finds either a process or the place empty.
        """
        with self._store.transaction() as connection:
            first = connection.execute(
                "SELECT name, asked FROM queue JOIN sweeps ON id = sweep ORDER BY asked, sweep LIMIT 1"
            ).fetchone()
            if first is None:
                connection.execute("DELETE FROM runners WHERE pid = ?", (os.getpid(),))
        return None if first is None else Turn(first["name"], first["asked"])

    def has(self, turn: Turn) -> bool:
        """Whether a turn is still wanted: not taken out, nor taken out and asked for anew."""
        found = self._store.query(
            "SELECT 1 FROM queue JOIN sweeps ON id = sweep WHERE name = ? AND asked = ?", turn
        )
        return bool(found)

    def end(self, turn: Turn) -> None:
        """Take a turn out that was had; a later one of the same sweep stays."""
        with self._store.transaction() as connection:
            connection.execute(
                "DELETE FROM queue WHERE sweep = (SELECT id FROM sweeps WHERE name = ?) AND asked = ?", turn
            )

    def leave(self) -> None:
        """Say that this process no longer works the queue off."""
        with self._store.transaction() as connection:
            connection.execute("DELETE FROM runners WHERE pid = ?", (os.getpid(),))

    def sign_of_life(self) -> None:
        """Let processes on other hosts know that the queue is worked off."""
        with self._store.transaction() as connection:
            connection.execute("UPDATE runners SET alive = ? WHERE pid = ?", (time.time(), os.getpid()))


def _lives(holder: sqlite3.Row) -> bool:
    return is_alive(holder["pid"], holder["host"], holder["process_born"], holder["alive"])


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
