"""The layout of a store, and the way there from earlier ones."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3

import psutil

__all__ = ["LAYOUT", "count_points", "create_tables", "is_in_use", "layout_of", "upgrade"]

LAYOUT = 3
"""Number of this layout, written in the file; a store of a later one is refused, an earlier one upgraded."""

TABLES = """
CREATE TABLE points (
    key TEXT PRIMARY KEY, identity TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'waiting' CHECK (status IN ('waiting', 'done', 'failed')),
    run INTEGER REFERENCES runs, measures TEXT, finished REAL, error TEXT
);
CREATE TABLE sweeps (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, settings TEXT NOT NULL,
    content_hash TEXT NOT NULL, reproduces TEXT, created REAL NOT NULL,
    total INTEGER NOT NULL DEFAULT 0, done INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE sweep_points (
    sweep INTEGER NOT NULL REFERENCES sweeps, position INTEGER NOT NULL, key TEXT NOT NULL REFERENCES points,
    PRIMARY KEY (sweep, position)
) WITHOUT ROWID;
CREATE INDEX sweep_points_by_key ON sweep_points (key);
CREATE TRIGGER count_outcomes AFTER UPDATE OF status ON points WHEN OLD.status <> NEW.status
BEGIN
    UPDATE sweeps SET
        done = done + (NEW.status = 'done') - (OLD.status = 'done'),
        failed = failed + (NEW.status = 'failed') - (OLD.status = 'failed')
    WHERE id IN (SELECT sweep FROM sweep_points WHERE key = NEW.key);
END;
CREATE TABLE runs (
    id INTEGER PRIMARY KEY, sweep INTEGER NOT NULL REFERENCES sweeps,
    pid INTEGER NOT NULL, process_created REAL NOT NULL, started REAL NOT NULL, ended REAL,
    outcome TEXT CHECK (outcome IN ('finished', 'stopped', 'failed')), message TEXT,
    results INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE queue (sweep INTEGER PRIMARY KEY REFERENCES sweeps, asked REAL NOT NULL);
CREATE TABLE queue_process (
    only INTEGER PRIMARY KEY CHECK (only = 1), pid INTEGER NOT NULL, process_created REAL NOT NULL
);
"""
_PARAMETERS = (
    *("alpha", "K", "method", "lam", "missing", "solver", "start", "masks", "mask_seed", "pattern", "draws"),
    *("seed", "dtype", "max_outer", "max_inner", "tol_inner", "tol_outer"),
)
_MEASURES = (
    *("rmse_hidden", "rmse_observed", "squared_error", "adversarial_loss", "n_iter", "converged", "seconds"),
)
_UNCHANGED = ("key", "status", "run", "finished", "error")
_OLD_TABLES = ("points", "sweeps", "sweep_points", "runs", "queue")


def layout_of(connection: sqlite3.Connection) -> int:
    """The number of the layout of a store; 0 for a database of another program."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def create_tables(connection: sqlite3.Connection) -> None:
    """The tables of this layout, inside a transaction."""
    for statement in re.split(r";\n(?=CREATE|$)", TABLES.strip()):
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {LAYOUT}")


def count_points(connection: sqlite3.Connection, sweep: int) -> None:
    """Count a sweep's points anew, after its list of points has changed."""
    connection.execute(
        "UPDATE sweeps SET (total, done, failed) = ("
        "SELECT COUNT(*), TOTAL(status = 'done'), TOTAL(status = 'failed')"
        " FROM sweep_points JOIN points USING (key) WHERE sweep = sweeps.id) WHERE id = ?",
        (sweep,),
    )


def is_in_use(connection: sqlite3.Connection) -> bool:
    """Whether a process works on a sweep of a store of an earlier layout, and so relies on that layout."""
    runs = connection.execute("SELECT pid, started FROM runs WHERE ended IS NULL").fetchall()
    return any(_is_running(run["pid"], run["started"]) for run in runs)


def upgrade(connection: sqlite3.Connection) -> None:
    """Bring a store of layout 1 or 2 to this one, inside a transaction."""
    if layout_of(connection) == 1:
        connection.execute("CREATE TABLE queue (sweep INTEGER PRIMARY KEY, asked REAL NOT NULL)")
    connection.execute("DROP TABLE IF EXISTS runners")
    connection.execute("DROP VIEW IF EXISTS summary")
    connection.execute("DROP INDEX sweep_points_by_key")
    for table in _OLD_TABLES:
        connection.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
    create_tables(connection)
    _copy(connection)
    for table in _OLD_TABLES:
        connection.execute(f"DROP TABLE old_{table}")
    for sweep in connection.execute("SELECT id FROM sweeps").fetchall():
        count_points(connection, sweep["id"])


def _copy(connection: sqlite3.Connection) -> None:
    connection.executemany(
        "INSERT INTO points (key, status, run, finished, error, identity, measures)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            (*(row[name] for name in _UNCHANGED), _identity(row), _measures(row))
            for row in connection.execute("SELECT * FROM old_points")
        ),
    )
    connection.executemany(
        "INSERT INTO sweeps (id, name, kind, settings, content_hash, reproduces, created)"
        " VALUES (?, ?, 'fits', ?, ?, ?, ?)",
        (
            (row["id"], row["name"], row["settings"], row["content_hash"], _table(row), row["created"])
            for row in connection.execute("SELECT * FROM old_sweeps")
        ),
    )
    connection.execute("INSERT INTO sweep_points SELECT sweep, position, key FROM old_sweep_points")
    connection.execute("INSERT INTO queue SELECT sweep, asked FROM old_queue")
    # All have ended, so when their processes were created no longer matters.
    connection.execute(
        "INSERT INTO runs (id, sweep, pid, process_created, started, ended, outcome, message)"
        " SELECT id, sweep, pid, 0, started, ended, outcome, message FROM old_runs"
    )


def _identity(row: sqlite3.Row) -> str:
    identity = {name: row[name] for name in _PARAMETERS}
    return json.dumps({**identity, "data": row["content_hash"], "version": row["version"]}, sort_keys=True)


def _measures(row: sqlite3.Row) -> str | None:
    if row["status"] != "done":
        return None
    # SQLite has no NaN, and gives NULL for what was one.
    measures = {name: float("nan") if row[name] is None else row[name] for name in _MEASURES}
    return json.dumps({**measures, "converged": bool(row["converged"])})


def _table(row: sqlite3.Row) -> str | None:
    """The table that a sweep was run for: earlier layouts told this by a name made from the settings."""
    fingerprint = hashlib.sha256(row["settings"].encode()).hexdigest()[:8]
    found = re.fullmatch(rf"reproduce (\w+), \w+, {fingerprint}", row["name"])
    return found[1] if found else None


def _is_running(pid: int, started: float) -> bool:
    """Whether a process that began a run at that time may still be the one with this number."""
    try:
        return bool(psutil.Process(pid).create_time() <= started)
    except psutil.NoSuchProcess:
        return False
