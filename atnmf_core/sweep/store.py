"""Where results of sweeps are kept: one SQLite file, written by any number of processes, read at any time.

The file must lie on a disk of the machine itself: SQLite's write-ahead log does not work over network file
systems.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path

import pooch

from ..factorization import SOLVER_VERSIONS
from ..problem import InputError
from .grid import Grid, Point
from .processes import birth_mark, host_name
from .reader import StoreReader, lives
from .records import Measures
from .schema import StoreError
from .sources import is_upload_of

__all__ = [
    "MAX_NAME_LENGTH",
    "Claim",
    "Store",
    "StoreError",
    "default_store",
    "default_store_path",
    "open_store",
    "store_from_environment",
    "sweep_id",
]

MAX_NAME_LENGTH = 80
Claim = tuple[str, Point]
"""A point's key and the point."""
_POINT = [field.name for field in fields(Point)]


def open_store(path: str | Path) -> Store:
    """The store in the file `path`, made if it is not there, for reading and writing.

    Raises
    ------
    StoreError : the file is damaged, of another program, or cannot be written.
    """
    return Store(Path(path), read_only=False)


class Store(StoreReader):
    """A store that can be written: what the engine needs, on top of what anybody reads."""

    def add_sweep(self, name: str, grid: Grid, content_hash: str) -> int:
        """Enter a grid under a name, with all its points; a sweep that is there already is gone on with.

        Raises
        ------
        InputError : the name belongs to a grid with other settings.
        """
        points = [(point.key(content_hash), point) for point in grid.points()]
        with self.transaction() as connection:
            sweep = self._named_sweep(connection, name, grid, content_hash)
            columns = ["key", "dataset", "content_hash", "version", *_POINT]
            connection.executemany(
                f"INSERT OR IGNORE INTO points ({', '.join(columns)})"
                f" VALUES ({', '.join('?' * len(columns))})",
                [
                    (key, grid.dataset, content_hash, SOLVER_VERSIONS[point.solver], *asdict(point).values())
                    for key, point in points
                ],
            )
            # The same grid on changed data, or with a changed solver, has other points.
            connection.executemany(
                "INSERT OR REPLACE INTO sweep_points (sweep, position, key) VALUES (?, ?, ?)",
                [(sweep, position, key) for position, (key, _) in enumerate(points)],
            )
        return sweep

    def _named_sweep(self, connection: sqlite3.Connection, name: str, grid: Grid, content_hash: str) -> int:
        known = connection.execute("SELECT id, settings FROM sweeps WHERE name = ?", (name,)).fetchone()
        if known and known["settings"] != grid.as_json():
            raise InputError(f"{self.path} has a sweep {name!r} with other settings; choose another name.")
        if known:
            connection.execute("UPDATE sweeps SET content_hash = ? WHERE id = ?", (content_hash, known["id"]))
            return int(known["id"])
        added = connection.execute(
            "INSERT INTO sweeps (name, settings, content_hash, created) VALUES (?, ?, ?, ?) RETURNING id",
            (name, grid.as_json(), content_hash, time.time()),
        )
        return int(added.fetchone()["id"])

    def begin_run(self, sweep: int) -> int:
        """Enter this process as one that works on a sweep."""
        now, pid = time.time(), os.getpid()
        with self.transaction() as connection:
            added = connection.execute(
                "INSERT INTO runs (sweep, pid, host, process_born, started, alive) VALUES (?, ?, ?, ?, ?, ?)"
                " RETURNING id",
                (sweep, pid, host_name(), birth_mark(pid), now, now),
            )
            return int(added.fetchone()["id"])

    def sign_of_life(self, run: int) -> None:
        """Let processes on other hosts know that this run still works."""
        with self.transaction() as connection:
            connection.execute("UPDATE runs SET alive = ? WHERE id = ?", (time.time(), run))

    def end_run(self, run: int, outcome: str, message: str | None = None) -> None:
        """Note how a run ended; the points that it had claimed and not finished are free again."""
        with self.transaction() as connection:
            connection.execute(
                "UPDATE runs SET ended = ?, outcome = ?, message = ? WHERE id = ?",
                (time.time(), outcome, message, run),
            )

    def note_failure(self, name: str, message: str) -> None:
        """Keep why a process could not work on a sweep, where it had no chance to say so itself."""
        (row,) = self.query("SELECT id FROM sweeps WHERE name = ?", (name,))
        self.end_run(self.begin_run(row["id"]), "failed", message)

    def claims(self, sweep: int, run: int) -> Iterator[Claim]:
        """Points to fit, each claimed for this run as it is taken, until only those of other live runs wait.

        To be called while this run has no fits under way: what it claimed before counts as free.
        """
        free = [run, *self._gone()]
        after = -1
        while True:
            with self.transaction() as connection:
                row = connection.execute(
                    f"SELECT position, key, {', '.join(_POINT)} FROM sweep_points JOIN points USING (key)"
                    " WHERE sweep = ? AND position > ? AND status = 'waiting'"
                    f" AND (run IS NULL OR run IN ({', '.join('?' * len(free))})) ORDER BY position LIMIT 1",
                    (sweep, after, *free),
                ).fetchone()
                if row is None:
                    return
                connection.execute("UPDATE points SET run = ? WHERE key = ?", (run, row["key"]))
            after = row["position"]
            yield row["key"], Point(**{name: row[name] for name in _POINT})

    def _gone(self) -> list[int]:
        """The runs that hold claims but have ended, in whatever way."""
        rows = self.query("SELECT * FROM runs WHERE id IN (SELECT run FROM points WHERE status = 'waiting')")
        return [row["id"] for row in rows if not lives(row)]

    def waiting(self, sweep: int) -> int:
        """How many points of a sweep are still to be fitted, by whomever."""
        return self._counts(sweep)["waiting"]

    def keep(self, key: str, outcome: Measures | str) -> bool:
        """Enter what a fit gave, or the message with which it failed; False where it was in already."""
        if isinstance(outcome, str):
            values: dict[str, object] = {"status": "failed", "error": outcome}
        else:
            values = {"status": "done", **asdict(outcome)}
        values["finished"] = time.time()
        with self.transaction() as connection:
            changed = connection.execute(
                f"UPDATE points SET {', '.join(f'{name} = :{name}' for name in values)}"
                " WHERE key = :key AND status = 'waiting'",
                {**values, "key": key},
            ).rowcount
        return changed == 1

    def forget(self, sweep: int, *, only_failed: bool) -> int:
        """Let the failed points of a sweep, or all of them, be fitted again; how many those are."""
        which = "status = 'failed'" if only_failed else "status <> 'waiting'"
        with self.transaction() as connection:
            return connection.execute(
                "UPDATE points SET status = 'waiting', run = NULL, error = NULL, finished = NULL"
                f" WHERE {which} AND key IN (SELECT key FROM sweep_points WHERE sweep = ?)",
                (sweep,),
            ).rowcount

    def forget_failed(self, name: str) -> int:
        """Let the failed points of the sweep of that name be fitted again; how many those are."""
        (row,) = self.query("SELECT id FROM sweeps WHERE name = ?", (name,))
        return self.forget(row["id"], only_failed=True)

    def rename_sweep(self, name: str, new: str) -> str:
        """Rename a sweep; returns the new name as stored, without surplus spaces.

        Raises
        ------
        InputError : the name is empty, too long or taken, or the sweep is running or queued.
        """
        new = " ".join(new.split())
        if not new or len(new) > MAX_NAME_LENGTH:
            raise InputError(f"a name has 1 to {MAX_NAME_LENGTH} characters, this one has {len(new)}.")
        if new == name:
            return new
        self._refuse_if_active(name, "renamed")
        with self.transaction() as connection:
            if connection.execute("SELECT 1 FROM sweeps WHERE name = ?", (new,)).fetchone():
                raise InputError(f"there is a sweep {new!r} already; choose another name.")
            connection.execute("UPDATE sweeps SET name = ? WHERE id = ?", (new, sweep_id(connection, name)))
        return new

    def delete_sweep(self, name: str) -> None:
        """Delete a sweep with its points and its uploaded data, except what another sweep shares.

        Raises
        ------
        InputError : the sweep is running or queued.
        """
        self._refuse_if_active(name, "deleted")
        source = self.sweep(name).grid.dataset
        with self.transaction() as connection:
            sweep = sweep_id(connection, name)
            own = "SELECT key FROM sweep_points WHERE sweep = ?"
            others = "SELECT key FROM sweep_points WHERE sweep <> ?"
            connection.execute(
                f"DELETE FROM points WHERE key IN ({own}) AND key NOT IN ({others})", (sweep, sweep)
            )
            runs = "SELECT id FROM runs WHERE sweep = ?"
            connection.execute(f"UPDATE points SET run = NULL WHERE run IN ({runs})", (sweep,))
            for table in ("sweep_points", "queue", "runs"):
                connection.execute(f"DELETE FROM {table} WHERE sweep = ?", (sweep,))
            connection.execute("DELETE FROM sweeps WHERE id = ?", (sweep,))
            left = connection.execute("SELECT settings FROM sweeps")
            if is_upload_of(self.path, source) and all(
                json.loads(row["settings"])["dataset"] != source for row in left
            ):
                Path(source).unlink(missing_ok=True)

    def _refuse_if_active(self, name: str, action: str) -> None:
        if self.sweep(name).status in ("running", "queued"):
            raise InputError(f"{name!r} is running or queued; stop it before it is {action}.")

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it is kept or nothing."""
        with self._lock, self._explained():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise


def sweep_id(connection: sqlite3.Connection, name: str) -> int:
    """The number of the sweep of that name.

    Raises
    ------
    InputError : there is none.
    """
    row = connection.execute("SELECT id FROM sweeps WHERE name = ?", (name,)).fetchone()
    if row is None:
        raise InputError(f"there is no sweep {name!r}.")
    return int(row["id"])


def default_store() -> Path:
    """The file of the dashboard's store; its folder is created if need be."""
    path = default_store_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def default_store_path() -> Path:
    """The file of the dashboard's store: the one ATNMF_STORE names, else one in the user's cache folder."""
    return store_from_environment() or Path(pooch.os_cache("atnmf")) / "sweeps.sqlite"


def store_from_environment() -> Path | None:
    """The file that ATNMF_STORE names; None where it is not set."""
    named = os.environ.get("ATNMF_STORE")
    return Path(named).expanduser() if named else None
