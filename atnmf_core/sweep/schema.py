"""The tables of a store, and how a file is opened.

points   one row per computation: the JSON that identifies it, and once it is done what was measured, as JSON
sweeps   a grid under a name, with counts that a trigger keeps; sweep_points says which points belong to it
runs     the processes that work or worked on a sweep
queue    sweeps that wait for their turn, or have it; queue_process is the process that runs them
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .migration import LAYOUT, create_tables, is_in_use, layout_of, upgrade

__all__ = ["NoStoreError", "StoreError", "connect", "explained", "transaction"]

WAIT_FOR_LOCK = 60.0
LITTLE_ROOM = 1 << 18
"""With less free than this, an error of the disk is taken for a full disk: SQLite does not always say."""


class StoreError(Exception):
    """A store that cannot be read or written, with the reason and what to do.

    Attributes
    ----------
    wrong_file : whether another file would do; each front end then says how one is chosen.
    """

    def __init__(self, message: str, *, wrong_file: bool = False) -> None:
        super().__init__(message)
        self.wrong_file = wrong_file


class NoStoreError(StoreError):
    """There is no store in this file, or not yet: it is missing or empty."""


def connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """A connection to the store at `path`; a writer creates it if need be.

    A store of an earlier layout is upgraded by its first writer; a reader gets an upgraded copy in memory.
    """
    if read_only and not path.is_file():
        raise NoStoreError(f"{path}: there is no store here.")
    with explained(path):
        connection = sqlite3.connect(
            path.resolve().as_uri() + (_reading(path) if read_only else ""),
            uri=True,
            timeout=WAIT_FOR_LOCK,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            return _prepared(connection, path, read_only)
        except BaseException:
            connection.close()
            raise


def _reading(path: Path) -> str:
    """How a file is opened for reading; in a folder that nobody can write, as one that never changes."""
    frozen = not os.access(path.parent, os.W_OK) and not path.with_name(path.name + "-wal").exists()
    return "?mode=ro&immutable=1" if frozen else "?mode=ro"


def _prepared(connection: sqlite3.Connection, path: Path, read_only: bool) -> sqlite3.Connection:
    connection.row_factory = sqlite3.Row
    if _is_empty(connection):
        if read_only:
            raise NoStoreError(f"{path}: there is no store here.")
        # Write-ahead log: readers never wait for the writer.
        connection.execute("PRAGMA journal_mode = WAL")
        with transaction(connection):
            # Another process may have come first.
            if _is_empty(connection):
                create_tables(connection)
    _check_layout(connection, path)
    # Survives killed processes, and spares a wait for the disk after every fit.
    connection.execute("PRAGMA synchronous = NORMAL")
    if not read_only and not os.access(path, os.W_OK):
        raise sqlite3.OperationalError("attempt to write a readonly database")
    if layout_of(connection) == LAYOUT:
        return connection
    if read_only:
        connection = _copied(connection)
    elif is_in_use(connection):
        raise StoreError(f"{path} is in use by an earlier version of this program; let that end first.")
    with transaction(connection):
        # Another process may have come first.
        if layout_of(connection) < LAYOUT:
            upgrade(connection)
    return connection


def _copied(connection: sqlite3.Connection) -> sqlite3.Connection:
    copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    copy.row_factory = sqlite3.Row
    connection.backup(copy)
    connection.close()
    return copy


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


def _check_layout(connection: sqlite3.Connection, path: Path) -> None:
    layout = layout_of(connection)
    if layout == 0:
        raise StoreError(f"{path} is a database of another program.", wrong_file=True)
    if not 1 <= layout <= LAYOUT:
        raise StoreError(
            f"{path} has layout {layout}, this program knows {LAYOUT}; use the program that wrote it.",
            wrong_file=True,
        )


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
