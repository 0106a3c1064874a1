"""The file of a store: its tables, how it is opened, and what to do if it cannot be used.

points   one row per fit: the JSON that identifies it and, once it is done, what was measured, as JSON
sweeps   a grid under a name, with counts that a trigger updates; sweep_points lists its points
runs     the processes that work or worked on a sweep
queue    sweeps that wait for their turn, or have it; queue_process is the process that runs them
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .processes import is_running

LAYOUT = 4
"""Number of this layout, written in the file; a store of layout 2 or 3 is upgraded, any other refused."""
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
_IDENTITY = (
    "alpha K method lam missing solver start masks mask_seed pattern draws seed dtype max_outer max_inner"
)
_MEASURES = "rmse_hidden rmse_observed squared_error adversarial_loss n_iter converged seconds"


def _named(names: str) -> str:
    return ", ".join(f"'{name}', {name}" for name in names.split())


_OLD_TABLES = ("sweep_points", "queue", "points", "runs", "sweeps")
# Python writes the JSON because SQLite's own loses the last digits. SQLite gives NULL for NaN. All runs have
# ended, so it no longer matters when their processes were created.
COPY = f"""
INSERT INTO points SELECT
    key, as_json({_named(_IDENTITY + " tol_inner tol_outer version")}, 'data', content_hash), status, run,
    CASE status WHEN 'done' THEN REPLACE(as_json({_named(_MEASURES)}), 'null', 'NaN') END, finished, error
FROM old_points

INSERT INTO sweeps (id, name, kind, settings, content_hash, reproduces, created)
SELECT id, name, 'fits', settings, content_hash, table_of(name, settings), created FROM old_sweeps

INSERT INTO sweep_points SELECT sweep, position, key FROM old_sweep_points

INSERT INTO queue SELECT sweep, asked FROM old_queue

INSERT INTO runs SELECT id, sweep, pid, 0, started, ended, outcome, message, 0 FROM old_runs

{COUNT_POINTS}
"""


class StoreError(Exception):
    """A store cannot be read or written; the message says why and what to do.

    Attributes
    ----------
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
                _run_script(connection, TABLES)
    # Survives killed processes without waiting for the disk after every fit.
    connection.execute("PRAGMA synchronous = NORMAL")
    layout = _layout(connection)
    if layout not in (2, 3, LAYOUT):
        foreign = "is a database of another program"
        other = f"has layout {layout}, this program knows {LAYOUT}; use the program that wrote it"
        raise StoreError(f"{path} {other if layout else foreign}.", wrong_file=True)
    if not read_only and not os.access(path, os.W_OK):
        raise sqlite3.OperationalError("attempt to write a readonly database")
    if layout == 2 and read_only:
        connect(path, read_only=False).close()
    elif layout == 2:
        _upgrade(connection, path)
    elif layout == 3 and not read_only:
        _add_owners(connection)


def _add_owners(connection: sqlite3.Connection) -> None:
    """Upgrade a store of layout 3. Readers do not need it, and earlier versions can still write to it."""
    with transaction(connection):
        # Another process may have come first.
        if _layout(connection) == 3:
            _run_script(connection, "ALTER TABLE sweeps ADD COLUMN owner TEXT")


def _upgrade(connection: sqlite3.Connection, path: Path) -> None:
    """Upgrade a store of layout 2."""
    with transaction(connection):
        # Another process may have come first.
        if _layout(connection) == LAYOUT:
            return
        runs = connection.execute("SELECT pid, started FROM runs WHERE ended IS NULL").fetchall()
        if any(is_running(run["pid"], run["started"]) for run in runs):
            raise StoreError(f"{path} is in use by an earlier version of this program; let that end first.")
        connection.create_function("as_json", -1, _as_json)
        connection.create_function("table_of", 2, _table_of)
        for statement in ("DROP VIEW summary", "DROP TABLE runners", "DROP INDEX sweep_points_by_key"):
            connection.execute(statement)
        for table in _OLD_TABLES:
            connection.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
        _run_script(connection, TABLES + COPY)
        for table in _OLD_TABLES:
            connection.execute(f"DROP TABLE old_{table}")


def _as_json(*pairs: object) -> str:
    return json.dumps(dict(zip(pairs[::2], pairs[1::2], strict=True)), sort_keys=True)


def _table_of(name: str, settings: str) -> str | None:
    """The table that a sweep reproduces: in layout 2 its name, made from the settings, said so."""
    fingerprint = hashlib.sha256(settings.encode()).hexdigest()[:8]
    found = re.fullmatch(rf"reproduce (\w+), \w+, {fingerprint}", name)
    return found[1] if found else None


def _run_script(connection: sqlite3.Connection, script: str) -> None:
    """Run statements separated by blank lines, inside a transaction, and note the layout."""
    for statement in script.strip().split("\n\n"):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {LAYOUT}")


def _layout(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


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
