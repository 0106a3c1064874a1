"""The tables of a store, and the errors of SQLite in words that help.

points   one row per fit: its parameters, and once it is done its measures
sweeps   a grid under a name; sweep_points says which points belong to it
runs     the processes that work or worked on a sweep, with a sign of life
queue    sweeps that wait for their turn, or have it; runners is the process that works the queue off
summary  a view: mean, standard deviation and count over the starts of each combination
"""

from __future__ import annotations

import math
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["LAYOUT", "StoreError", "connect", "explained"]

LAYOUT = 2
"""Number of this layout, kept in the file; a store of a newer one is refused, an older one is brought up."""
WAIT_FOR_LOCK = 60.0
LITTLE_ROOM = 1 << 18
"""With less free than this, an error of the disk is taken for a full disk: SQLite does not always say."""

TABLES = """
CREATE TABLE points (
    key TEXT PRIMARY KEY, dataset TEXT NOT NULL, content_hash TEXT NOT NULL, version TEXT NOT NULL,
    alpha REAL NOT NULL, K INTEGER NOT NULL, method TEXT NOT NULL, lam REAL, missing TEXT NOT NULL,
    solver TEXT NOT NULL, start INTEGER NOT NULL, masks TEXT NOT NULL, mask_seed INTEGER NOT NULL,
    pattern TEXT NOT NULL, draws TEXT NOT NULL, seed INTEGER NOT NULL, dtype TEXT NOT NULL,
    max_outer INTEGER NOT NULL, max_inner INTEGER NOT NULL, tol_inner REAL NOT NULL, tol_outer REAL NOT NULL,
    status TEXT NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'done', 'failed')),
    run INTEGER REFERENCES runs,
    rmse_hidden REAL, rmse_observed REAL, squared_error REAL, adversarial_loss REAL,
    n_iter INTEGER, converged INTEGER, seconds REAL, finished REAL, error TEXT
) WITHOUT ROWID;
CREATE TABLE sweeps (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, settings TEXT NOT NULL, content_hash TEXT NOT NULL,
    created REAL NOT NULL
);
CREATE TABLE sweep_points (
    sweep INTEGER NOT NULL REFERENCES sweeps, position INTEGER NOT NULL, key TEXT NOT NULL REFERENCES points,
    PRIMARY KEY (sweep, position)
) WITHOUT ROWID;
CREATE INDEX sweep_points_by_key ON sweep_points (key);
CREATE TABLE runs (
    id INTEGER PRIMARY KEY, sweep INTEGER NOT NULL REFERENCES sweeps,
    pid INTEGER NOT NULL, host TEXT NOT NULL, process_born TEXT NOT NULL,
    started REAL NOT NULL, alive REAL NOT NULL, ended REAL,
    outcome TEXT CHECK (outcome IN ('finished', 'stopped', 'failed')), message TEXT
);
CREATE VIEW summary AS
WITH spread AS (
    SELECT sweeps.name AS sweep, points.*,
        AVG(rmse_hidden) OVER (
            PARTITION BY sweeps.id, version, alpha, K, method, lam, missing, solver, dtype
        ) AS centre
    FROM sweeps JOIN sweep_points ON sweep_points.sweep = sweeps.id JOIN points USING (key)
    WHERE status = 'done'
)
SELECT sweep, dataset, version, alpha, K, method, lam, missing, solver, dtype, COUNT(*) AS starts,
    AVG(rmse_hidden) AS rmse_hidden,
    CASE WHEN COUNT(*) > 1
        THEN SQRT(SUM((rmse_hidden - centre) * (rmse_hidden - centre)) / (COUNT(*) - 1))
    END AS rmse_hidden_sd,
    AVG(rmse_observed) AS rmse_observed, AVG(seconds) AS seconds, AVG(n_iter) AS n_iter,
    MAX(finished) AS finished
FROM spread GROUP BY sweep, version, alpha, K, method, lam, missing, solver, dtype;
"""
# What layout 1 did not have.
QUEUE_TABLES = """
CREATE TABLE queue (sweep INTEGER PRIMARY KEY REFERENCES sweeps, asked REAL NOT NULL);
CREATE TABLE runners (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    pid INTEGER NOT NULL, host TEXT NOT NULL, process_born TEXT NOT NULL, alive REAL NOT NULL
);
"""


class StoreError(Exception):
    """A store that cannot be read or written, with the reason and what to do."""


def connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """A connection to the store at `path`, made if it is not there, with its layout checked."""
    if read_only and not path.is_file():
        raise StoreError(f"{path}: there is no store here.")
    with explained(path):
        name = path.resolve().as_uri() + (_reading(path) if read_only else "")
        connection = sqlite3.connect(
            name, uri=True, timeout=WAIT_FOR_LOCK, isolation_level=None, check_same_thread=False
        )
        try:
            _prepare(connection, path, read_only)
        except BaseException:
            connection.close()
            raise
    return connection


def _reading(path: Path) -> str:
    """How a file is opened for reading; in a folder that nobody can write, as one that never changes."""
    frozen = not os.access(path.parent, os.W_OK) and not path.with_name(path.name + "-wal").exists()
    return "?mode=ro&immutable=1" if frozen else "?mode=ro"


def _prepare(connection: sqlite3.Connection, path: Path, read_only: bool) -> None:
    connection.row_factory = sqlite3.Row
    connection.create_function("SQRT", 1, math.sqrt, deterministic=True)
    if _is_empty(connection):
        if read_only:
            raise StoreError(f"{path}: there is no store here.")
        _create(connection)
    _check_layout(connection, path)
    # Survives killed processes, and spares a wait for the disk after every fit.
    connection.execute("PRAGMA synchronous = NORMAL")
    if not read_only:
        _check_health(connection, path)
    if _layout(connection) == 1:
        _bring_up(connection, read_only=read_only)


def _create(connection: sqlite3.Connection) -> None:
    # Write-ahead log: readers never wait for the writer.
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN IMMEDIATE")
    # Another process may have come first.
    if _is_empty(connection):
        for statement in (TABLES + QUEUE_TABLES).split(";\n"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {LAYOUT}")
    connection.execute("COMMIT")


def _bring_up(connection: sqlite3.Connection, *, read_only: bool) -> None:
    """Give a store of layout 1 the queue that it lacks; who may only read it sees an empty one."""
    if read_only:
        for statement in QUEUE_TABLES.split(";\n"):
            connection.execute(statement.replace("CREATE TABLE", "CREATE TEMP TABLE"))
        return
    connection.execute("BEGIN IMMEDIATE")
    # Another process may have come first.
    if _layout(connection) == 1:
        for statement in QUEUE_TABLES.split(";\n"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {LAYOUT}")
    connection.execute("COMMIT")


def _layout(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _check_layout(connection: sqlite3.Connection, path: Path) -> None:
    layout = _layout(connection)
    if layout == 0:
        raise StoreError(f"{path} is a database of another program; choose another file with --store.")
    if not 1 <= layout <= LAYOUT:
        raise StoreError(
            f"{path} has layout {layout}, this program knows {LAYOUT}; use the program that wrote it, "
            "or another file."
        )


def _check_health(connection: sqlite3.Connection, path: Path) -> None:
    verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if verdict != "ok":
        raise sqlite3.DatabaseError(f"malformed: {verdict}")
    if not os.access(path, os.W_OK):
        raise sqlite3.OperationalError("attempt to write a readonly database")


def _is_empty(connection: sqlite3.Connection) -> bool:
    return not connection.execute("SELECT name FROM sqlite_master LIMIT 1").fetchall()


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turns what SQLite says into a `StoreError` that names the file and the way out."""
    try:
        yield
    except sqlite3.Error as error:
        said = str(error)
        if "disk I/O" in said and shutil.disk_usage(path.parent).free < LITTLE_ROOM:
            said = f"the disk is full: {said}"
        for part, words in _EXPLANATIONS.items():
            if part in said:
                raise StoreError(f"{path} {words} ({said}).") from error
        raise StoreError(f"{path}: {said}.") from error


_EXPLANATIONS = {
    "full": "cannot grow, the disk is full. What was finished is kept; make room and run the command again",
    "readonly": "cannot be written. Make the file and its folder writable, or choose another with --store",
    "unable to open": "cannot be opened. Make sure that its folder exists and can be read and written",
    "not a database": "is not a store. Choose another file with --store",
    "malformed": "is damaged. Move it away, or recover its rows with the sqlite3 program's .recover",
    "disk I/O": "cannot be read or written, the disk reports an error. What was finished is kept",
    "locked": "stays locked by another program. Close that program and run the same command again",
}
