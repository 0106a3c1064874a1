"""Reading a store, also while a sweep writes it.

A page that shows a running sweep asks again every second or so:

    with read_store(path) as store:
        record = store.sweep("my sweep")      # status, total, done, failed, started, pid, seconds_left ...
        rows = store.summary("my sweep")      # a `Measurement` per combination
        failures = store.results("my sweep", failed=True)

Readers never block the writer. Results appear one by one, and are not changed afterwards.
"""

from __future__ import annotations

import json
import math
import sqlite3
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import fields
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Any, Self, get_args

from ..problem import InputError, Method
from .grid import Grid
from .kinds import GRID_KINDS, identity_of, key_of
from .measurements import Measurement
from .processes import is_running
from .records import Measures, Outcome, Result, SweepRecord, SweepStatus
from .schema import NoStoreError, connect, explained

__all__ = ["StoreReader", "find_store", "is_alive", "read_store"]

_COMBINATION = ("alpha", "K", "missing", "method", "lam", "solver", "dtype", "version")
"""Of fits that differ only in their start, these are the same."""
_PARAMETERS = [
    field.name
    for field in fields(Result)
    if field.name not in ("key", "dataset", "finished", "measures", "error")
]


def read_store(path: str | Path) -> StoreReader:
    """The store in the file `path`, for reading only.

    Raises
    ------
    NoStoreError : there is no store here.
    StoreError : the file cannot be read, or is no store.
    """
    return StoreReader(Path(path), read_only=True)


def find_store(path: str | Path) -> StoreReader | None:
    """The same, None where there is no store yet."""
    try:
        return read_store(path)
    except NoStoreError:
        return None


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

    def sweeps(self, kind: str = Grid.kind) -> list[SweepRecord]:
        """All sweeps of one kind, the newest first."""
        rows = self.query("SELECT * FROM sweeps WHERE kind = ? ORDER BY created DESC, id DESC", (kind,))
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
        rows = self.query("SELECT * FROM sweeps WHERE name = ?", (name,))
        if not rows:
            raise InputError(f"{self.path} has no sweep {name!r}.")
        runs = self.query("SELECT * FROM runs WHERE sweep = ? ORDER BY id DESC", (rows[0]["id"],))
        return _record(rows[0], runs, self.queued().get(name))

    def names(self) -> set[str]:
        """The names of all sweeps, of whatever kind."""
        return {row["name"] for row in self.query("SELECT name FROM sweeps")}

    def outcomes(self, name: str, *, failed: bool = False) -> Iterator[Outcome]:
        """The finished points of a sweep of any kind in the grid's order, or the failed ones."""
        rows = self.query(
            "SELECT points.* FROM sweeps JOIN sweep_points ON sweep_points.sweep = sweeps.id"
            " JOIN points USING (key) WHERE sweeps.name = ? AND status = ? ORDER BY position",
            (name, "failed" if failed else "done"),
        )
        for row in rows:
            yield Outcome(
                key=row["key"],
                identity=json.loads(row["identity"]),
                measures=None if failed else json.loads(row["measures"]),
                finished=row["finished"],
                error=row["error"],
            )

    def results(self, name: str, *, failed: bool = False) -> Iterator[Result]:
        """The finished fits of a sweep in the grid's order, or the failed ones."""
        found = self.query("SELECT settings FROM sweeps WHERE name = ?", (name,))
        dataset = json.loads(found[0]["settings"])["dataset"] if found else ""
        for outcome in self.outcomes(name, failed=failed):
            yield Result(
                key=outcome.key,
                dataset=dataset,
                finished=outcome.finished,
                error=outcome.error,
                measures=None if outcome.measures is None else Measures(**outcome.measures),
                **{name: outcome.identity[name] for name in _PARAMETERS},
            )

    def summary(self, name: str) -> list[Measurement]:
        """What was measured over the finished starts, for each combination of a sweep."""
        starts: dict[tuple[Any, ...], list[Result]] = defaultdict(list)
        for result in self.results(name):
            starts[tuple(getattr(result, part) for part in _COMBINATION)].append(result)
        max_outer = self.sweep(name).grid.max_outer if starts else 0
        rows = [_measurement(results, max_outer) for results in starts.values()]
        order = get_args(Method)
        return sorted(
            rows, key=lambda row: (row.alpha, row.K, row.missing, order.index(row.method), row.lam or 0)
        )

    def tried(self, grid: Grid, content_hash: str) -> Counter[tuple[int, str, str]]:
        """How many fits of a grid were made or failed on that data, by K, treatment and method."""
        points = {key_of(identity_of(point, content_hash)): point for point in grid.points()}
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
        """The number of the process that runs the sweeps of the queue; None where there is none."""
        rows = self.query("SELECT * FROM queue_process")
        return next((row["pid"] for row in rows if is_running(row["pid"], row["process_created"])), None)

    def _explained(self) -> AbstractContextManager[None]:
        return explained(self.path)

    def query(self, statement: str, values: tuple[Any, ...] = ()) -> list[sqlite3.Row]:
        """Rows of the tables that `atnmf_core.sweep.schema` describes."""
        with self._lock, self._explained():
            return self._connection.execute(statement, values).fetchall()


def is_alive(run: sqlite3.Row) -> bool:
    """Whether a row of `runs` stands for a process that still works."""
    return run["ended"] is None and is_running(run["pid"], run["process_created"])


@lru_cache(maxsize=1024)
def _grid(kind: str, settings: str) -> Any:
    if kind not in GRID_KINDS:
        raise InputError(f"this is a sweep of the kind {kind!r}, which this program does not know.")
    return GRID_KINDS[kind].from_json(settings)


def _record(row: sqlite3.Row, runs: list[sqlite3.Row], place: int | None) -> SweepRecord:
    """A sweep's record from its row and its runs, the latest first."""
    living = [run for run in runs if is_alive(run)]
    last = dict(next(iter(living or runs), ()))
    waiting = row["total"] - row["done"] - row["failed"]
    status: SweepStatus = "running" if living else "finished"
    if waiting and not living:
        status = "queued" if place else "stopped"
    return SweepRecord(
        name=row["name"],
        grid=_grid(row["kind"], row["settings"]),
        content_hash=row["content_hash"],
        created=row["created"],
        status=status,
        total=row["total"],
        done=row["done"],
        failed=row["failed"],
        started=last.get("started"),
        ended=last.get("ended"),
        pid=last.get("pid"),
        message=last.get("message"),
        seconds_left=_seconds_left(living, waiting),
        place=place,
        reproduces=row["reproduces"],
    )


def _seconds_left(living: list[sqlite3.Row], waiting: int) -> float | None:
    results = sum(run["results"] for run in living)
    if not results:
        return None
    since = min(run["started"] for run in living)
    return float((time.time() - since) / results * waiting)


def _measurement(results: list[Result], max_outer: int) -> Measurement:
    """The results of one combination, one per start."""
    measures = [result.measures for result in results if result.measures is not None]
    count = len(measures)
    errors = [one.rmse_hidden for one in measures]
    mean = sum(errors) / count
    spread = math.sqrt(sum((error - mean) ** 2 for error in errors) / (count - 1)) if count > 1 else math.nan
    finished = max(result.finished for result in results)
    return Measurement(
        **{part: getattr(results[0], part) for part in _COMBINATION},
        mean=mean,
        deviation=None if math.isnan(spread) else spread,
        starts=count,
        max_outer=max_outer,
        seconds=sum(one.seconds for one in measures) / count,
        date=datetime.fromtimestamp(finished, UTC).date().isoformat(),
        dataset=results[0].dataset,
        rmse_observed=sum(one.rmse_observed for one in measures) / count,
        n_iter=sum(one.n_iter for one in measures) / count,
    )
