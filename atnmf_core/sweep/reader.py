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
import sqlite3
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import RLock
from typing import Any, Literal, Self

from ..problem import InputError
from .grid import Grid
from .measurements import FinishedPoint, Measurement, summarise
from .points import identify
from .processes import is_running
from .schema import NoStoreError, connect, raising_store_errors

Status = Literal["running", "queued", "stopped", "finished"]


@dataclass(frozen=True)
class SweepRecord:
    """A named sweep and its progress.

    Attributes
    ----------
    status : "running" while a process works on it; "queued" while it waits for its turn; "finished" when no
        point waits; else "stopped".
    total, done, failed : numbers of points.
    created, started, ended : in seconds since 1970; the last two are of the latest run, None before the first
        and while it runs.
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
    pid: int | None = None
    message: str | None = None

    @property
    def is_under_way(self) -> bool:
        return self.status in ("running", "queued")


def read_store(path: str | Path) -> StoreReader:
    """The store in the file `path`, for reading only.

    Raises
    ------
    NoStoreError : there is no store here.
    StoreError : the file cannot be read, or is not a store.
    """
    return StoreReader(Path(path), read_only=True)


def find_store(path: str | Path) -> StoreReader | None:
    """As `read_store`; None if there is no store yet."""
    try:
        return read_store(path)
    except NoStoreError:
        return None


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
        """Rows of the tables that `atnmf_core.sweep.schema` describes."""
        with self._lock, raising_store_errors(self.path):
            return self._connection.execute(statement, values).fetchall()

    def sweeps(self) -> list[SweepRecord]:
        """All sweeps, the newest first."""
        rows = self.query("SELECT * FROM sweeps ORDER BY created DESC, id DESC")
        runs: dict[int, list[sqlite3.Row]] = defaultdict(list)
        for run in self.query("SELECT * FROM runs ORDER BY id DESC"):
            runs[run["sweep"]].append(run)
        places = self.queued()
        return [_record(row, runs[row["id"]], places.get(row["name"])) for row in rows]

    def sweep(self, name: str) -> SweepRecord:
        """The sweep of that name.

        Raises
        ------
        InputError : there is none.
        """
        sweep = self.sweep_id(name)
        (row,) = self.query("SELECT * FROM sweeps WHERE id = ?", (sweep,))
        runs = self.query("SELECT * FROM runs WHERE sweep = ? ORDER BY id DESC", (sweep,))
        return _record(row, runs, self.queued().get(name))

    def sweep_id(self, name: str) -> int:
        """The number of a sweep, which the writing methods take.

        Raises
        ------
        InputError : there is none.
        """
        rows = self.query("SELECT id FROM sweeps WHERE name = ?", (name,))
        if not rows:
            raise InputError(f"{self.path} has no sweep {name!r}.")
        return int(rows[0]["id"])

    def names(self) -> set[str]:
        """The names of all sweeps."""
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
        """What was measured over the finished starts, for each combination of a sweep."""
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
        """The number of the process that runs the queue; None if there is none."""
        rows = self.query("SELECT * FROM queue_process")
        return next((row["pid"] for row in rows if is_running(row["pid"], row["process_created"])), None)


def is_alive(run: sqlite3.Row) -> bool:
    """Whether the process of this row of `runs` is still at work."""
    return run["ended"] is None and is_running(run["pid"], run["process_created"])


@lru_cache(maxsize=1024)
def _grid(settings: str) -> Grid:
    return Grid.from_json(settings)


def _record(row: sqlite3.Row, runs: list[sqlite3.Row], place: int | None) -> SweepRecord:
    """A sweep's record from its row and its runs, the latest first."""
    living = [run for run in runs if is_alive(run)]
    last = next(iter(living or runs), None)
    waiting = row["total"] - row["done"] - row["failed"]
    status: Status = "running" if living else "finished"
    if waiting and not living:
        status = "queued" if place else "stopped"
    fresh = sum(run["results"] for run in living)
    pace = (time.time() - min(run["started"] for run in living)) / fresh if fresh else None
    same = ("name", "content_hash", "created", "reproduces", "total", "done", "failed")
    return SweepRecord(
        **{name: row[name] for name in same},
        **({} if last is None else {name: last[name] for name in ("started", "ended", "pid", "message")}),
        # A store of an earlier version that nobody has written since has no owners.
        owner=row["owner"] if "owner" in row.keys() else None,  # noqa: SIM118 - a row's `in` looks at values
        grid=_grid(row["settings"]),
        status=status,
        place=place,
        seconds_left=None if pace is None else pace * waiting,
    )
