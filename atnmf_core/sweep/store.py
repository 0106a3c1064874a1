"""Sweeps: run, and stored in one SQLite file, to which any number of processes may write at the same time.

The file must be on a local disk: SQLite's write-ahead log does not work over network file systems.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..datasets import Dataset
from ..datasets.catalogue import is_upload_of
from ..jobs.processes import EngineError, created, on_workers, run_until_done, start_detached
from ..model.problem import Array, InputError
from .grid import Grid, Measures, Point, identify
from .reader import COUNT_POINTS, StoreError, StoreReader, is_alive, raising_store_errors, transaction

MAX_NAME_LENGTH = 80


def open_store(path: str | Path) -> Store:
    """The store in the file `path`, for reading and writing; created if necessary."""
    return Store(Path(path), read_only=False)


class Store(StoreReader):
    def check_integrity(self) -> None:
        """Raise `StoreError` if the file is damaged, before hours of work are entrusted to it."""
        with self._lock, raising_store_errors(self.path):
            verdict = self._connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if verdict != "ok":
                raise sqlite3.DatabaseError(f"malformed: {verdict}")

    def add_sweep(
        self,
        name: str,
        grid: Grid,
        content_hash: str,
        *,
        reproduces: str | None = None,
        owner: str | None = None,
    ) -> int:
        """Add a grid under a name, with its points, or resume the sweep of this name and grid."""
        rows = [identify(point, content_hash) for point in grid.points()]
        settings = grid.as_json()
        with self.transaction():
            sweep, known = self.write(
                "INSERT INTO sweeps (name, kind, settings, content_hash, reproduces, owner, created)"
                " VALUES (?, 'fits', ?, ?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET"
                " content_hash = excluded.content_hash,"
                " reproduces = COALESCE(excluded.reproduces, reproduces)"
                " RETURNING id, settings",
                *(name, settings, content_hash, reproduces, owner, time.time()),
            ).fetchone()
            if known != settings:
                raise InputError(
                    f"{self.path} has a sweep {name!r} with other settings; choose another name."
                )
            self._connection.executemany("INSERT OR IGNORE INTO points (key, identity) VALUES (?, ?)", rows)
            # The same grid on changed data, or with a changed solver, has other points.
            self._connection.executemany(
                "INSERT OR REPLACE INTO sweep_points (sweep, position, key) VALUES (?, ?, ?)",
                [(sweep, position, key) for position, (key, _) in enumerate(rows)],
            )
            self.write(f"{COUNT_POINTS} WHERE id = ?", sweep)
        return int(sweep)

    def begin_run(self, sweep: int) -> int:
        pid = os.getpid()
        statement = "INSERT INTO runs (sweep, pid, process_created, started) VALUES (?, ?, ?, ?)"
        return int(self.write(statement, sweep, pid, created(pid), time.time()).lastrowid or 0)

    def end_run(self, run: int, outcome: str, message: str | None = None) -> None:
        """Record how a run ended; points that it had claimed but not finished are free again."""
        statement = "UPDATE runs SET ended = ?, outcome = ?, message = ? WHERE id = ?"
        self.write(statement, time.time(), outcome, message, run)

    def note_failure(self, name: str, message: str) -> None:
        self.end_run(self.begin_run(self.sweep_id(name)), "failed", message)

    def claims(self, sweep: int, run: int) -> Iterator[tuple[str, dict[str, Any]]]:
        """Points to compute, each claimed as it is taken. Call it while this run computes nothing."""
        free = [run, *self._gone()]
        after = -1
        while True:
            with self.transaction():
                rows = self.query(
                    "SELECT position, key, identity FROM sweep_points JOIN points USING (key)"
                    " WHERE sweep = ? AND position > ? AND status = 'waiting'"
                    f" AND (run IS NULL OR run IN ({', '.join('?' * len(free))})) ORDER BY position LIMIT 1",
                    (sweep, after, *free),
                )
                if not rows:
                    return
                (row,) = rows
                self.write("UPDATE points SET run = ? WHERE key = ?", run, row["key"])
            after = row["position"]
            identity = json.loads(row["identity"])
            yield row["key"], {name: identity[name] for name in identity.keys() - {"data", "version"}}

    def _gone(self) -> list[int]:
        """The runs that hold claims but have ended, for whatever reason."""
        rows = self.query("SELECT * FROM runs WHERE id IN (SELECT run FROM points WHERE status = 'waiting')")
        return [row["id"] for row in rows if not is_alive(row)]

    def waiting(self, sweep: int) -> int:
        (row,) = self.query("SELECT total - done - failed AS waiting FROM sweeps WHERE id = ?", (sweep,))
        return int(row["waiting"])

    def add_outcome(self, key: str, outcome: Measures | str) -> bool:
        """Store what was measured at a point, or why it failed; False where it already had an outcome."""
        what: tuple[str | None, ...] = ("failed", None, str(outcome))
        if not isinstance(outcome, str):
            what = ("done", json.dumps(asdict(outcome)), None)
        with self.transaction():
            changed = self.write(
                "UPDATE points SET status = ?, measures = ?, error = ?, finished = ?"
                " WHERE key = ? AND status = 'waiting'",
                *(*what, time.time(), key),
            ).rowcount
            self.write(
                "UPDATE runs SET results = results + ? WHERE id = (SELECT run FROM points WHERE key = ?)",
                *(changed, key),
            )
        return changed == 1

    def forget(self, sweep: int, *, only_failed: bool) -> int:
        """Reset the failed points of a sweep, or all of them, and return how many."""
        which = "status = 'failed'" if only_failed else "status <> 'waiting'"
        return self.write(
            "UPDATE points SET status = 'waiting', run = NULL, measures = NULL, error = NULL, finished = NULL"
            f" WHERE {which} AND key IN (SELECT key FROM sweep_points WHERE sweep = ?)",
            sweep,
        ).rowcount

    def rename_sweep(self, name: str, new: str) -> str:
        """Rename a sweep at rest; the new name as stored, without surplus spaces."""
        new = " ".join(new.split())
        if not new or len(new) > MAX_NAME_LENGTH:
            raise InputError(f"a name has 1 to {MAX_NAME_LENGTH} characters, this one has {len(new)}.")
        if new == name:
            return new
        self._refuse_if_active(name, "renamed")
        with self.transaction():
            if new in self.names():
                raise InputError(f"there is a sweep {new!r} already; choose another name.")
            self.write("UPDATE sweeps SET name = ? WHERE name = ?", new, name)
        return new

    def delete_sweep(self, name: str) -> None:
        """Delete a sweep at rest, its points and its upload, except what another sweep shares."""
        self._refuse_if_active(name, "deleted")
        source = self.sweep(name).grid.dataset
        with self.transaction():
            sweep = self.sweep_id(name)
            own, others = (f"SELECT key FROM sweep_points WHERE sweep {sign} ?" for sign in ("=", "<>"))
            self.write(f"DELETE FROM points WHERE key IN ({own}) AND key NOT IN ({others})", sweep, sweep)
            self.write(
                "UPDATE points SET run = NULL WHERE run IN (SELECT id FROM runs WHERE sweep = ?)", sweep
            )
            for table in ("sweep_points", "queue", "runs"):
                self.write(f"DELETE FROM {table} WHERE sweep = ?", sweep)
            self.write("DELETE FROM sweeps WHERE id = ?", sweep)
            left = [json.loads(row["settings"]) for row in self.query("SELECT settings FROM sweeps")]
            if is_upload_of(self.path, source) and all(one["dataset"] != source for one in left):
                Path(source).unlink(missing_ok=True)

    def _refuse_if_active(self, name: str, action: str) -> None:
        if self.sweep(name).is_under_way:
            raise InputError(f"{name!r} is running or queued; stop it before it is {action}.")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self._lock, raising_store_errors(self.path), transaction(self._connection):
            yield

    def write(self, statement: str, *values: Any) -> sqlite3.Cursor:
        """Execute a statement that changes the tables of `atnmf_core.sweep.reader`."""
        with self._lock, raising_store_errors(self.path):
            return self._connection.execute(statement, values)


def default_store() -> Path:
    """The file of the dashboard's store; its folder is created if necessary."""
    path = default_store_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def default_store_path() -> Path:
    """The file of the dashboard's store: the one ATNMF_STORE names, else one in the user's cache folder."""
    if (named := store_from_environment()) is not None:
        return named
    import pooch

    return Path(pooch.os_cache("atnmf")) / "sweeps.sqlite"


def store_from_environment() -> Path | None:
    named = os.environ.get("ATNMF_STORE")
    return Path(named).expanduser() if named else None


# Sweeps that take turns instead of fighting for the cores: a queue in the store, and one process for it.
#
# A sweep stays in the queue while it runs, so whatever a crash or a switched-off machine interrupted is
# still queued, and is resumed by the next process that runs the queue.


class Queue:
    def __init__(self, store: Store) -> None:
        self._store = store

    def add(self, name: str) -> None:
        """Queue a sweep; one that is already queued keeps its turn."""
        sweep = self._store.sweep_id(name)
        self._store.write("INSERT OR IGNORE INTO queue (sweep, asked) VALUES (?, ?)", sweep, time.time())

    def remove(self, name: str) -> None:
        """Take a sweep out of the queue; if it is running, the process that runs the queue stops it."""
        self._store.write("DELETE FROM queue WHERE sweep = (SELECT id FROM sweeps WHERE name = ?)", name)

    def cancel(self, name: str) -> None:
        """Take a sweep out of the queue, and stop it even if it was started at the command line."""
        self.remove(name)
        record = self._store.sweep(name)
        if record.status == "running" and record.pid not in (None, self._store.queue_process()):
            # It may have ended meanwhile, or belong to another user.
            with suppress(ProcessLookupError, PermissionError):
                os.kill(record.pid, signal.SIGTERM)

    def take_over(self) -> bool:
        """Make this process the one that runs the queue; False where another one does."""
        pid = os.getpid()
        with self._store.transaction():
            if self._store.queue_process() not in (None, pid):
                return False
            self._store.write("INSERT OR REPLACE INTO queue_process VALUES (1, ?, ?)", pid, created(pid))
        return True

    def next(self) -> str | None:
        """The next sweep; None if none waits, and this process has left, in the same transaction."""
        with self._store.transaction():
            name = next(iter(self._store.queued()), None)
            if name is None:
                self.leave()
        return name

    def leave(self) -> None:
        self._store.write("DELETE FROM queue_process WHERE pid = ?", os.getpid())


def start_queue(store: Path) -> subprocess.Popen[bytes]:
    return start_detached(["-m", "atnmf_core", "queue", f"--store={store.resolve()}"], log_file(store))


def log_file(store: Path) -> Path:
    return store.with_name(store.name + ".log")


def run_sweep(
    store: Store,
    name: str,
    grid: Grid,
    data: Dataset,
    *,
    n_jobs: int = -1,
    dask: str | None = None,
    again: Literal["failed", "all"] | None = None,
    progress: Callable[[int, int], object] = lambda done, total: None,
    reproduces: str | None = None,
) -> None:
    """Compute every point of the grid that the store does not have yet.

    Any number of processes may run the same sweep on the same store: each takes points that no other living
    process has claimed, and all return when the sweep is complete.

    Parameters
    ----------
    name : the sweep's name in the store; the same name and grid resume a sweep.
    data : the data set that `grid.dataset` names.
    n_jobs : worker processes, -1 for one per core. With `dask` the cluster decides.
    dask : address of a Dask scheduler, such as "tcp://10.0.0.1:8786".
    again : recompute what failed in an earlier run, or everything.
    progress : called with the numbers of finished and of all points, at the start and after every result.
    reproduces : the table of the paper that the sweep reproduces; see `SweepRecord`.
    """
    grid.check(data)
    masks = grid.packed_masks(data)
    store.check_integrity()
    sweep = store.add_sweep(name, grid, data.content_hash, reproduces=reproduces)
    if again is not None:
        store.forget(sweep, only_failed=again == "failed")
    run = store.begin_run(sweep)
    errors: list[StoreError] = []

    def begin_round() -> Generator[tuple[str, Measures | str]]:
        calls = _calls(store, sweep, run, data.V, masks, errors)
        yield from on_workers(_compute, calls, [data.V, *masks.values()], n_jobs, dask)
        if errors:
            raise errors[0]

    try:
        run_until_done(
            lambda: store.waiting(sweep),
            begin_round,
            lambda outcome: store.add_outcome(*outcome),
            lambda: progress(len(grid) - store.waiting(sweep), len(grid)),
        )
    except KeyboardInterrupt:
        store.end_run(run, "stopped", "stopped by the user")
        raise
    except EngineError as error:
        store.end_run(run, "failed", str(error))
        raise
    store.end_run(run, "finished")


def _calls(
    store: Store,
    sweep: int,
    run: int,
    V: Array,
    masks: Mapping[float, npt.NDArray[np.uint8]],
    errors: list[StoreError],
) -> Iterator[tuple[Any, ...]]:
    # joblib consumes this in a thread of its own, where an error would be lost and the sweep would hang.
    try:
        for key, fields in store.claims(sweep, run):
            point = Point(**fields)
            yield key, point, V, masks[point.alpha]
    except StoreError as error:
        errors.append(error)


def _compute(key: str, point: Point, *arrays: Any) -> tuple[str, Measures | str]:
    """Compute a point on one BLAS thread: its key, and what was measured or what went wrong."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        try:
            return key, point.measure(*arrays)
        except (InputError, ArithmeticError, MemoryError, np.linalg.LinAlgError) as error:
            return key, f"{type(error).__name__}: {error}"
