"""Where results of sweeps are kept: one SQLite file, written by any number of processes, read at any time.

A page that shows a running sweep opens the same file and asks again every second or so:

    with open_store(path, read_only=True) as store:
        record = store.sweep("my sweep")           # status, total, done, failed, started, pid, seconds_left ...
        rows = store.summary("my sweep")           # mean, standard deviation and count per combination
        failures = store.results("my sweep", failed=True)

Readers never block the writer. Rows appear one by one as fits finish, and are never changed afterwards. The file must lie on a disk
of the machine itself: SQLite's write-ahead log does not work over network file systems.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Any

from ..factorization import SOLVER_VERSION
from ..problem import InputError
from .grid import Grid, Point
from .process import birth_mark, host_name, is_alive
from .records import Measures, Result, Summary, SweepRecord, SweepStatus
from .schema import StoreError, connect, explained

__all__ = ["Claim", "Store", "StoreError", "open_store"]

Claim = tuple[str, Point]
"""A point's key and the point."""
_POINT = [field.name for field in fields(Point)]
_MEASURES = [field.name for field in fields(Measures)]
_SUMMARY = [field.name for field in fields(Summary)]


def open_store(path: str | Path, *, read_only: bool = False) -> Store:
    """The store in the file `path`, made if it is not there (not if `read_only`).

    Raises
    ------
    StoreError : the file is missing, damaged, of another program, or cannot be written.
    """
    return Store(Path(path), read_only=read_only)


class Store:
    """Sweeps and their points in one file. Use it as a context manager; all methods may be called from any thread."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._connection = connect(path, read_only=read_only)
        self._lock = RLock()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    # What the engine writes.

    def add_sweep(self, name: str, grid: Grid, content_hash: str) -> int:
        """Enter a grid under a name, with all its points; a sweep that is there already is gone on with.

        Raises
        ------
        InputError : the name belongs to a grid with other settings.
        """
        points = [(point.key(content_hash), point) for point in grid.points()]
        with self._writing() as connection:
            known = connection.execute("SELECT id, settings FROM sweeps WHERE name = ?", (name,)).fetchone()
            if known and known["settings"] != grid.as_json():
                raise InputError(f"{self.path} has a sweep {name!r} with other settings; choose another name.")
            sweep = known["id"] if known else self._insert_sweep(connection, name, grid, content_hash)
            connection.execute("UPDATE sweeps SET content_hash = ? WHERE id = ?", (content_hash, sweep))
            columns = ["key", "dataset", "content_hash", "version", *_POINT]
            connection.executemany(
                f"INSERT OR IGNORE INTO points ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})",
                [
                    (key, grid.dataset, content_hash, SOLVER_VERSION, *asdict(point).values())
                    for key, point in points
                ],
            )
            connection.executemany(
                "INSERT OR REPLACE INTO sweep_points (sweep, position, key) VALUES (?, ?, ?)",
                [(sweep, position, key) for position, (key, _) in enumerate(points)],
            )
        return int(sweep)

    @staticmethod
    def _insert_sweep(connection: sqlite3.Connection, name: str, grid: Grid, content_hash: str) -> int | None:
        return connection.execute(
            "INSERT INTO sweeps (name, settings, content_hash, created) VALUES (?, ?, ?, ?)",
            (name, grid.as_json(), content_hash, time.time()),
        ).lastrowid

    def begin_run(self, sweep: int) -> int:
        """Enter this process as one that works on a sweep."""
        now, pid = time.time(), os.getpid()
        with self._writing() as connection:
            run = connection.execute(
                "INSERT INTO runs (sweep, pid, host, process_born, started, alive) VALUES (?, ?, ?, ?, ?, ?)",
                (sweep, pid, host_name(), birth_mark(pid), now, now),
            ).lastrowid
        assert run is not None
        return run

    def sign_of_life(self, run: int) -> None:
        with self._writing() as connection:
            connection.execute("UPDATE runs SET alive = ? WHERE id = ?", (time.time(), run))

    def end_run(self, run: int, outcome: str, message: str | None = None) -> None:
        """Note how a run ended; the points that it had claimed and not finished are free again."""
        with self._writing() as connection:
            connection.execute(
                "UPDATE runs SET ended = ?, outcome = ?, message = ? WHERE id = ?",
                (time.time(), outcome, message, run),
            )

    def claims(self, sweep: int, run: int) -> Iterator[Claim]:
        """Points to fit, each claimed for this run as it is taken, until none is left that no living process holds."""
        after = -1
        held = self._held(run)
        while True:
            with self._writing() as connection:
                row = connection.execute(
                    f"SELECT position, key, {', '.join(_POINT)} FROM sweep_points JOIN points USING (key)"
                    " WHERE sweep = ? AND position > ? AND status = 'waiting'"
                    f" AND (run IS NULL OR run NOT IN ({', '.join('?' * len(held))})) ORDER BY position LIMIT 1",
                    (sweep, after, *held),
                ).fetchone()
                if row is None:
                    return
                connection.execute("UPDATE points SET run = ? WHERE key = ?", (run, row["key"]))
            after = row["position"]
            yield row["key"], Point(**{name: row[name] for name in _POINT})

    def _held(self, run: int) -> list[int]:
        """The runs whose claims count: this one and the others that live. A run that begins later takes only free points."""
        rows = self._rows("SELECT id, pid, host, process_born, alive FROM runs WHERE ended IS NULL")
        return [row["id"] for row in rows if row["id"] == run or _lives(row)]

    def waiting(self, sweep: int) -> int:
        """How many points of a sweep are still to be fitted, by whomever."""
        return int(
            self._rows(
                "SELECT COUNT(*) AS number FROM sweep_points JOIN points USING (key)"
                " WHERE sweep = ? AND status = 'waiting'",
                (sweep,),
            )[0]["number"]
        )

    def keep(self, key: str, outcome: Measures | str) -> bool:
        """Enter what a fit gave, or the message with which it failed; False where another process was first."""
        with self._writing() as connection:
            if isinstance(outcome, str):
                values: dict[str, Any] = {"status": "failed", "error": outcome}
            else:
                values = {"status": "done", **asdict(outcome)}
            values["finished"] = time.time()
            changed = connection.execute(
                f"UPDATE points SET {', '.join(f'{name} = :{name}' for name in values)}"
                " WHERE key = :key AND status = 'waiting'",
                {**values, "key": key},
            ).rowcount
        return changed == 1

    def retry_failed(self, sweep: int) -> int:
        """Let the failed points of a sweep be fitted again; how many there are."""
        with self._writing() as connection:
            return connection.execute(
                "UPDATE points SET status = 'waiting', run = NULL, error = NULL, finished = NULL"
                " WHERE status = 'failed' AND key IN (SELECT key FROM sweep_points WHERE sweep = ?)",
                (sweep,),
            ).rowcount

    # What anybody reads.

    def sweeps(self) -> list[SweepRecord]:
        """All sweeps, the newest first."""
        return [self._record(row) for row in self._rows("SELECT * FROM sweeps ORDER BY created DESC, id DESC")]

    def sweep(self, name: str) -> SweepRecord:
        """The sweep of that name.

        Raises
        ------
        InputError : there is none.
        """
        rows = self._rows("SELECT * FROM sweeps WHERE name = ?", (name,))
        if not rows:
            raise InputError(f"{self.path} has no sweep {name!r}.")
        return self._record(rows[0])

    def results(self, name: str, *, failed: bool = False) -> Iterator[Result]:
        """The finished points of a sweep in the grid's order, or the failed ones."""
        rows = self._rows(
            "SELECT points.* FROM sweeps JOIN sweep_points ON sweep_points.sweep = sweeps.id"
            " JOIN points USING (key) WHERE sweeps.name = ? AND status = ? ORDER BY position",
            (name, "failed" if failed else "done"),
        )
        parameters = [field.name for field in fields(Result) if field.name != "measures"]
        for row in rows:
            measures = None if failed else Measures(**{field: row[field] for field in _MEASURES})
            yield Result(**{field: row[field] for field in parameters}, measures=measures)

    def summary(self, name: str) -> list[Summary]:
        """Mean, standard deviation and count over the starts, per combination of a sweep."""
        rows = self._rows(
            f"SELECT {', '.join(_SUMMARY)} FROM summary WHERE sweep = ?"
            " ORDER BY alpha, K, missing, method DESC, lam",
            (name,),
        )
        return [Summary(**{field: row[field] for field in _SUMMARY}) for row in rows]

    def _record(self, row: sqlite3.Row) -> SweepRecord:
        sweep = row["id"]
        counts = {
            line["status"]: line["number"]
            for line in self._rows(
                "SELECT status, COUNT(*) AS number FROM sweep_points JOIN points USING (key)"
                " WHERE sweep = ? GROUP BY status",
                (sweep,),
            )
        }
        runs = self._rows("SELECT * FROM runs WHERE sweep = ? ORDER BY id DESC", (sweep,))
        living = [run for run in runs if run["ended"] is None and _lives(run)]
        last = (living or runs or [None])[0]
        waiting = counts.get("waiting", 0)
        status: SweepStatus = "running" if living else "stopped" if waiting else "finished"
        return SweepRecord(
            name=row["name"],
            grid=Grid.from_json(row["settings"]),
            content_hash=row["content_hash"],
            created=row["created"],
            status=status,
            total=sum(counts.values()),
            done=counts.get("done", 0),
            failed=counts.get("failed", 0),
            started=last and last["started"],
            ended=last and last["ended"],
            pid=last and last["pid"],
            host=last and last["host"],
            message=last and last["message"],
            seconds_left=self._seconds_left(sweep, min(run["started"] for run in living), waiting) if living else None,
        )

    def _seconds_left(self, sweep: int, since: float, waiting: int) -> float | None:
        fresh = self._rows(
            "SELECT COUNT(*) AS number FROM sweep_points JOIN points USING (key) WHERE sweep = ? AND finished >= ?",
            (sweep, since),
        )[0]["number"]
        return (time.time() - since) / fresh * waiting if fresh else None

    def _rows(self, query: str, values: tuple[Any, ...] = ()) -> list[sqlite3.Row]:
        with self._lock, explained(self.path):
            return self._connection.execute(query, values).fetchall()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it is kept or nothing."""
        with self._lock, explained(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")


def _lives(run: sqlite3.Row) -> bool:
    return is_alive(run["pid"], run["host"], run["process_born"], run["alive"])
