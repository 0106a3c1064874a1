"""Reading a store, also while a sweep writes it.

A page that shows a running sweep asks again every second or so:

    with read_store(path) as store:
        record = store.sweep("my sweep")      # status, total, done, failed, started, pid, seconds_left ...
        rows = store.summary("my sweep")      # mean, standard deviation and count per combination
        failures = store.results("my sweep", failed=True)

Readers never block the writer. Rows appear one by one as fits finish, and are not changed afterwards.
"""

from __future__ import annotations

import math
import sqlite3
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Any, Self

from ..factorization import SOLVER_VERSIONS
from ..problem import InputError
from .grid import Grid, Point
from .measurements import Measurement
from .processes import is_alive
from .records import Measures, Result, SweepRecord, SweepStatus
from .schema import connect, explained

__all__ = ["StoreReader", "lives", "read_store"]

_MEASURES = [field.name for field in fields(Measures)]
_AVERAGES = {"mean": "rmse_hidden", "deviation": "rmse_hidden_sd"}
_SUMMARY = {
    field.name: _AVERAGES.get(field.name, field.name)
    for field in fields(Measurement)
    if field.name not in ("max_outer", "date")
}
"""Attributes of a measurement, and the columns of the view `summary` that hold them."""
_SHARED = [
    field.name
    for field in fields(Point)
    if field.name in {field.name for field in fields(Grid)} - {"missing", "solver"}
]
_PARAMETERS = [field.name for field in fields(Result) if field.name != "measures"]


def read_store(path: str | Path) -> StoreReader:
    """The store in the file `path`, for reading only.

    Raises
    ------
    StoreError : there is no file, or it is not a store.
    """
    return StoreReader(Path(path), read_only=True)


class StoreReader:
    """Sweeps and their results. A context manager; all methods may be called from any thread."""

    def __init__(self, path: Path, *, read_only: bool) -> None:
        self.path = path
        self._connection = connect(path, read_only=read_only)
        self._lock = RLock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def sweeps(self) -> list[SweepRecord]:
        """All sweeps, the newest first."""
        return [
            self._record(row) for row in self.query("SELECT * FROM sweeps ORDER BY created DESC, id DESC")
        ]

    def sweep(self, name: str) -> SweepRecord:
        """The sweep of that name.

        Raises
        ------
        InputError : there is none.
        """
        rows = self.query("SELECT * FROM sweeps WHERE name = ?", (name,))
        if not rows:
            raise InputError(f"{self.path} has no sweep {name!r}.")
        return self._record(rows[0])

    def results(self, name: str, *, failed: bool = False) -> Iterator[Result]:
        """The finished points of a sweep in the grid's order, or the failed ones."""
        rows = self.query(
            "SELECT points.* FROM sweeps JOIN sweep_points ON sweep_points.sweep = sweeps.id"
            " JOIN points USING (key) WHERE sweeps.name = ? AND status = ? ORDER BY position",
            (name, "failed" if failed else "done"),
        )
        for row in rows:
            measures = None if failed else Measures(**{field: _number(row[field]) for field in _MEASURES})
            yield Result(**{field: row[field] for field in _PARAMETERS}, measures=measures)

    def summary(self, name: str) -> list[Measurement]:
        """What was measured over the finished starts, for each combination of a sweep."""
        rows = self.query(
            "SELECT * FROM summary WHERE sweep = ? ORDER BY alpha, K, missing, method DESC, lam", (name,)
        )
        settings = self.query("SELECT settings FROM sweeps WHERE name = ?", (name,))
        max_outer = Grid.from_json(settings[0]["settings"]).max_outer if rows else 0
        return [
            Measurement(
                **{attribute: row[column] for attribute, column in _SUMMARY.items()}
                | {"mean": _number(row["rmse_hidden"]), "max_outer": max_outer},
                date=datetime.fromtimestamp(row["finished"], UTC).date().isoformat(),
            )
            for row in rows
        ]

    def tried(self, grid: Grid, content_hash: str) -> dict[tuple[int, str, str], int]:
        """How many fits of a grid were made or failed on that data, by K, treatment and method."""
        listed = {"alpha": grid.alphas, "K": grid.Ks, "missing": grid.missing, "method": grid.methods}
        shared = {name: getattr(grid, name) for name in _SHARED}
        conditions = [
            "content_hash = ?",
            "status <> 'waiting'",
            "start < ?",
            f"(lam IS NULL OR lam IN ({_marks(grid.lams)}))",
            "(method = 'anmf' AND version = ? OR solver = ? AND version = ?)",
            *(f"{name} IN ({_marks(values)})" for name, values in listed.items()),
            *(f"{name} = ?" for name in shared),
        ]
        rows = self.query(
            "SELECT K, missing, method, COUNT(*) AS number FROM points"
            f" WHERE {' AND '.join(conditions)} GROUP BY K, missing, method",
            (
                *(content_hash, grid.starts, *grid.lams),
                *(SOLVER_VERSIONS["fast"], grid.solver, SOLVER_VERSIONS[grid.solver]),
                *(value for values in listed.values() for value in values),
                *shared.values(),
            ),
        )
        return {(row["K"], row["missing"], row["method"]): row["number"] for row in rows}

    def queued(self) -> dict[str, int]:
        """The sweeps in the queue, in the order of their turns, each with its place from 1."""
        rows = self.query("SELECT name FROM queue JOIN sweeps ON id = sweep ORDER BY asked, sweep")
        return {row["name"]: place for place, row in enumerate(rows, start=1)}

    def is_worked_off(self) -> bool:
        """Whether a process works the queue off."""
        rows = self.query("SELECT * FROM runners")
        return any(is_alive(row["pid"], row["host"], row["process_born"], row["alive"]) for row in rows)

    def _record(self, row: sqlite3.Row) -> SweepRecord:
        counts = self._counts(row["id"])
        runs = self.query("SELECT * FROM runs WHERE sweep = ? ORDER BY id DESC", (row["id"],))
        living = [run for run in runs if lives(run)]
        last = dict(next(iter(living or runs), ()))
        waiting = counts["waiting"]
        place = self.queued().get(row["name"])
        status: SweepStatus = "running" if living else "finished"
        if waiting and not living:
            status = "queued" if place else "stopped"
        since = min((run["started"] for run in living), default=None)
        return SweepRecord(
            name=row["name"],
            grid=Grid.from_json(row["settings"]),
            content_hash=row["content_hash"],
            created=row["created"],
            status=status,
            total=sum(counts.values()),
            done=counts["done"],
            failed=counts["failed"],
            started=last.get("started"),
            ended=last.get("ended"),
            pid=last.get("pid"),
            host=last.get("host"),
            message=last.get("message"),
            seconds_left=None if since is None else self._seconds_left(row["id"], since, waiting),
            place=place,
        )

    def _counts(self, sweep: int) -> dict[str, int]:
        rows = self.query(
            "SELECT status, COUNT(*) AS number FROM sweep_points JOIN points USING (key)"
            " WHERE sweep = ? GROUP BY status",
            (sweep,),
        )
        return {"waiting": 0, "done": 0, "failed": 0} | {row["status"]: row["number"] for row in rows}

    def _seconds_left(self, sweep: int, since: float, waiting: int) -> float | None:
        fresh = self.query(
            "SELECT COUNT(*) AS number FROM sweep_points JOIN points USING (key)"
            " WHERE sweep = ? AND finished >= ?",
            (sweep, since),
        )[0]["number"]
        return (time.time() - since) / fresh * waiting if fresh else None

    def _explained(self) -> AbstractContextManager[None]:
        return explained(self.path)

    def query(self, statement: str, values: tuple[Any, ...] = ()) -> list[sqlite3.Row]:
        """Rows of the tables that `atnmf_core.sweep.schema` describes."""
        with self._lock, self._explained():
            return self._connection.execute(statement, values).fetchall()


def _marks(values: tuple[Any, ...]) -> str:
    """A question mark for each value."""
    return ", ".join("?" * len(values))


def _number(value: Any) -> Any:
    """SQLite has no NaN: what was kept as one, such as an error over no entries, comes back as NULL."""
    return math.nan if value is None else value


def lives(run: sqlite3.Row) -> bool:
    """Whether a row of `runs` stands for a process that still works."""
    return run["ended"] is None and is_alive(run["pid"], run["host"], run["process_born"], run["alive"])
