"""Reading a store, even while a sweep writes to it.

A page that shows a running sweep asks again every second or so:

    with read_store(path) as store:
        record = store.sweep("my sweep")      # status, total, done, failed, started, pid, seconds_left ...
        rows = store.summary("my sweep")      # a `Measurement` per combination
        failures = store.outcomes("my sweep", failed=True)

Readers never block the writer. Results appear one by one, and are not changed afterwards.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import RLock
from typing import Any, Literal, Self

from ..jobs.processes import is_running
from ..model.problem import InputError
from .grid import Grid, identify
from .measurements import FinishedPoint, Measurement, summarise

# The file of a store: its tables, how it is opened, and what to do if it cannot be used.
#
# points   one row per fit: the JSON that identifies it and, once it is done, what was measured, as JSON
# sweeps   a grid under a name, with counts that a trigger updates; sweep_points lists its points
# runs     the processes that work or worked on a sweep
# queue    sweeps that wait for their turn, or have it; queue_process is the process that runs them

LAYOUT = 4  # Number of this layout, written in the file; a store with another one is refused
WAIT_FOR_LOCK = 60.0
LITTLE_ROOM = 1 << 18
"""With fewer bytes free, a disk error is taken to mean a full disk: SQLite does not always say so."""

TABLES = """
CREATE TABLE points (
    key TEXT PRIMARY KEY, identity TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'done', 'failed')),
    run INTEGER REFERENCES runs, measures TEXT, finished REAL, error TEXT
)

CREATE TABLE sweeps (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, settings TEXT NOT NULL,
    content_hash TEXT NOT NULL, reproduces TEXT, owner TEXT, created REAL NOT NULL,
    total INTEGER NOT NULL DEFAULT 0, done INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0
)

CREATE TABLE sweep_points (
    sweep INTEGER NOT NULL REFERENCES sweeps, position INTEGER NOT NULL, key TEXT NOT NULL REFERENCES points,
    PRIMARY KEY (sweep, position)
) WITHOUT ROWID

CREATE INDEX sweep_points_by_key ON sweep_points (key)

CREATE TRIGGER count_outcomes AFTER UPDATE OF status ON points WHEN OLD.status <> NEW.status
BEGIN
    UPDATE sweeps SET
        done = done + (NEW.status = 'done') - (OLD.status = 'done'),
        failed = failed + (NEW.status = 'failed') - (OLD.status = 'failed')
    WHERE id IN (SELECT sweep FROM sweep_points WHERE key = NEW.key);
END

CREATE TABLE runs (
    id INTEGER PRIMARY KEY, sweep INTEGER NOT NULL REFERENCES sweeps,
    pid INTEGER NOT NULL, process_created REAL NOT NULL, started REAL NOT NULL, ended REAL,
    outcome TEXT CHECK (outcome IN ('finished', 'stopped', 'failed')), message TEXT,
    results INTEGER NOT NULL DEFAULT 0
)

CREATE TABLE queue (sweep INTEGER PRIMARY KEY REFERENCES sweeps, asked REAL NOT NULL)

CREATE TABLE queue_process (
    only INTEGER PRIMARY KEY CHECK (only = 1), pid INTEGER NOT NULL, process_created REAL NOT NULL
)
"""
COUNT_POINTS = (
    "UPDATE sweeps SET (total, done, failed) ="
    " (SELECT COUNT(*), TOTAL(status = 'done'), TOTAL(status = 'failed')"
    " FROM sweep_points JOIN points USING (key) WHERE sweep = sweeps.id)"
)
"""Needed only after the list of a sweep's points has changed."""


class StoreError(Exception):
    """A store cannot be read or written; the message says why and what to do.

    wrong_file : whether another file would help; each front end then says how to choose one.
    """

    def __init__(self, message: str, *, wrong_file: bool = False) -> None:
        super().__init__(message)
        self.wrong_file = wrong_file


class NoStoreError(StoreError):
    """There is no store in this file, or not yet: it is missing or empty."""


def connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """A connection to the store at `path`; a writer creates the store if necessary."""
    if read_only and not path.is_file():
        raise NoStoreError(f"{path}: there is no store here.")
    with raising_store_errors(path):
        connection = sqlite3.connect(
            path.resolve().as_uri() + (_reading(path) if read_only else ""),
            uri=True,
            timeout=WAIT_FOR_LOCK,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            _prepare(connection, path, read_only)
        except BaseException:
            connection.close()
            raise
    return connection


def _reading(path: Path) -> str:
    """How a file is opened for reading: as one that never changes if its folder is read-only."""
    frozen = not os.access(path.parent, os.W_OK) and not path.with_name(path.name + "-wal").exists()
    return "?mode=ro&immutable=1" if frozen else "?mode=ro"


def _prepare(connection: sqlite3.Connection, path: Path, read_only: bool) -> None:
    connection.row_factory = sqlite3.Row
    if _is_empty(connection):
        if read_only:
            raise NoStoreError(f"{path}: there is no store here.")
        # Write-ahead log: readers never wait for the writer.
        connection.execute("PRAGMA journal_mode = WAL")
        with transaction(connection):
            # Another process may have come first.
            if _is_empty(connection):
                for statement in TABLES.strip().split("\n\n"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {LAYOUT}")
    # Survives killed processes without waiting for the disk after every fit.
    connection.execute("PRAGMA synchronous = NORMAL")
    layout = connection.execute("PRAGMA user_version").fetchone()[0]
    if layout != LAYOUT:
        foreign = "is a database of another program"
        other = f"has layout {layout}, this program knows {LAYOUT}; use the program that wrote it"
        raise StoreError(f"{path} {other if layout else foreign}.", wrong_file=True)
    if not read_only and not os.access(path, os.W_OK):
        raise sqlite3.OperationalError("attempt to write a readonly database")


def _is_empty(connection: sqlite3.Connection) -> bool:
    return not connection.execute("SELECT name FROM sqlite_master LIMIT 1").fetchall()


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """One transaction: all of it is stored or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def raising_store_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into a `StoreError` that names the file and says what to do."""
    try:
        yield
    except sqlite3.Error as error:
        said = str(error)
        if "disk I/O" in said and shutil.disk_usage(path.parent).free < LITTLE_ROOM:
            said = f"the disk is full: {said}"
        for part, (words, wrong_file) in _EXPLANATIONS.items():
            if part in said:
                raise StoreError(f"{path} {words} ({said}).", wrong_file=wrong_file) from error
        raise StoreError(f"{path}: {said}.") from error


_EXPLANATIONS = {
    "full": ("cannot grow, the disk is full. What was finished is stored; make room and start again", False),
    "readonly": ("cannot be written. Make the file and its folder writable", True),
    "unable to open": ("cannot be opened. Make sure that its folder exists and can be written", True),
    "not a database": ("is not a store", True),
    "malformed": ("is damaged. Move it away, or recover its rows with the sqlite3 program's .recover", True),
    "disk I/O": ("cannot be read or written, the disk reports an error. What was finished is stored", False),
    "locked": ("stays locked by another program. Close that program and try again", False),
}

Status = Literal["running", "queued", "stopped", "finished"]


@dataclass(frozen=True)
class SweepRecord:
    """A named sweep and its progress.

    status : "running" while a process works on it; "queued" while it waits for its turn; "finished" when no
        point waits; else "stopped".
    total, done, failed : numbers of points.
    created, started, ended : in seconds since 1970; the last two are of the latest run, None before the first
        and while it runs.
    seconds : that all its runs took, each until it ended or, if it was killed, its last result.
    pid : of the process that works on it, or last did.
    message : why the latest run ended, unless it simply finished.
    seconds_left : estimated from the pace of the living runs; None before their first result.
    place : position in the queue, 1 for the sweep that runs or is next; None if it is not queued.
    reproduces : the table of the paper that it reproduces, None for the user's own sweeps.
    owner : who started it on a shared server; None at the command line and on one's own machine.
    """

    name: str
    grid: Grid
    content_hash: str
    created: float
    reproduces: str | None
    owner: str | None
    total: int
    done: int
    failed: int
    status: Status
    seconds_left: float | None
    place: int | None
    started: float | None = None
    ended: float | None = None
    seconds: float = 0.0
    pid: int | None = None
    message: str | None = None

    @property
    def is_under_way(self) -> bool:
        return self.status in ("running", "queued")


def read_store(path: str | Path) -> StoreReader:
    return StoreReader(Path(path), read_only=True)


def find_store(path: str | Path) -> StoreReader | None:
    try:
        return read_store(path)
    except NoStoreError:
        return None


_RUNS = (
    "SELECT *, COALESCE(ended, (SELECT MAX(finished) FROM points WHERE run = runs.id), started) - started"
    " AS seconds FROM runs"
)


class StoreReader:
    """Sweeps and their results. A context manager whose methods may be called from any thread."""

    def __init__(self, path: Path, *, read_only: bool) -> None:
        self.path = path
        self._connection = connect(path, read_only=read_only)
        self._lock = RLock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def query(self, statement: str, values: tuple[Any, ...] = ()) -> list[sqlite3.Row]:
        """Rows of the tables that `atnmf_core.sweep.reader` describes."""
        with self._lock, raising_store_errors(self.path):
            return self._connection.execute(statement, values).fetchall()

    def sweeps(self) -> list[SweepRecord]:
        rows = self.query("SELECT * FROM sweeps ORDER BY created DESC, id DESC")
        runs: dict[int, list[sqlite3.Row]] = defaultdict(list)
        for run in self.query(f"{_RUNS} ORDER BY id DESC"):
            runs[run["sweep"]].append(run)
        places = self.queued()
        return [_record(row, runs[row["id"]], places.get(row["name"])) for row in rows]

    def sweep(self, name: str) -> SweepRecord:
        sweep = self.sweep_id(name)
        (row,) = self.query("SELECT * FROM sweeps WHERE id = ?", (sweep,))
        runs = self.query(f"{_RUNS} WHERE sweep = ? ORDER BY id DESC", (sweep,))
        return _record(row, runs, self.queued().get(name))

    def sweep_id(self, name: str) -> int:
        """The number of a sweep, which the writing methods take."""
        rows = self.query("SELECT id FROM sweeps WHERE name = ?", (name,))
        if not rows:
            raise InputError(f"{self.path} has no sweep {name!r}.")
        return int(rows[0]["id"])

    def names(self) -> set[str]:
        return {row["name"] for row in self.query("SELECT name FROM sweeps")}

    def outcomes(self, name: str, *, failed: bool = False) -> Iterator[FinishedPoint]:
        """The finished points of a sweep in the grid's order, or the failed ones."""
        rows = self.query(
            "SELECT points.* FROM sweeps JOIN sweep_points ON sweep_points.sweep = sweeps.id"
            " JOIN points USING (key) WHERE sweeps.name = ? AND status = ? ORDER BY position",
            (name, "failed" if failed else "done"),
        )
        for row in rows:
            measures = None if failed else json.loads(row["measures"])
            identity = json.loads(row["identity"])
            yield FinishedPoint(row["key"], identity, measures, row["finished"], row["error"])

    def summary(self, name: str) -> list[Measurement]:
        return summarise(self.outcomes(name), self.sweep(name).grid.dataset)

    def tried(self, grid: Grid, content_hash: str) -> Counter[tuple[int, str, str]]:
        """How many fits of a grid were made or failed on that data, by K, treatment and method."""
        points = {identify(point, content_hash)[0]: point for point in grid.points()}
        rows = self.query(
            "SELECT points.key FROM json_each(?) JOIN points ON points.key = value WHERE status <> 'waiting'",
            (json.dumps(list(points)),),
        )
        found = (points[row["key"]] for row in rows)
        return Counter((point.K, point.missing, point.method) for point in found)

    def queued(self) -> dict[str, int]:
        """The sweeps in the queue, in the order of their turns, each with its place from 1."""
        rows = self.query("SELECT name FROM queue JOIN sweeps ON id = sweep ORDER BY asked, sweep")
        return {row["name"]: place for place, row in enumerate(rows, start=1)}

    def queue_process(self) -> int | None:
        rows = self.query("SELECT * FROM queue_process")
        return next((row["pid"] for row in rows if is_running(row["pid"], row["process_created"])), None)


def is_alive(run: sqlite3.Row) -> bool:
    return run["ended"] is None and is_running(run["pid"], run["process_created"])


@lru_cache(maxsize=1024)
def _grid(settings: str) -> Grid:
    return Grid.from_json(settings)


def _record(row: sqlite3.Row, runs: list[sqlite3.Row], place: int | None) -> SweepRecord:
    living = [run for run in runs if is_alive(run)]
    last = next(iter(living or runs), None)
    waiting = row["total"] - row["done"] - row["failed"]
    status: Status = "running" if living else "finished"
    if waiting and not living:
        status = "queued" if place else "stopped"
    fresh = sum(run["results"] for run in living)
    pace = (time.time() - min(run["started"] for run in living)) / fresh if fresh else None
    same = ("name", "content_hash", "created", "reproduces", "owner", "total", "done", "failed")
    return SweepRecord(
        **{name: row[name] for name in same},
        **({} if last is None else {name: last[name] for name in ("started", "ended", "pid", "message")}),
        grid=_grid(row["settings"]),
        status=status,
        place=place,
        seconds=sum(run["seconds"] for run in runs),
        seconds_left=None if pace is None else pace * waiting,
    )
