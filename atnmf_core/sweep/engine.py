"""Runs the points of a grid, on this machine's cores or a Dask cluster, and keeps each result as it comes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any, Literal

import joblib

from ..datasets import Dataset
from ..problem import InputError
from .backends import EngineError, WorkersLost, backend
from .grid import Grid
from .process import SIGN_OF_LIFE
from .store import Store, StoreError
from .work import Array, Packed, fit_point, masks

__all__ = ["EngineError", "Tally", "run_sweep"]

POLL = 0.3
"""How often to look, in seconds, whether another process has finished the points that it holds."""
REPORT = 0.2
"""Progress is reported at most so often, in seconds."""
LOST_WORKERS = 3
"""So often in a row, without a result in between, a dead worker is replaced before the sweep gives up."""


@dataclass(frozen=True)
class Tally:
    """How far a sweep is; what was done before this run counts as done."""

    total: int
    done: int
    fresh: int
    seconds: float

    @property
    def seconds_left(self) -> float | None:
        return self.seconds / self.fresh * (self.total - self.done) if self.fresh else None


def run_sweep(
    store: Store,
    name: str,
    grid: Grid,
    data: Dataset,
    *,
    n_jobs: int = -1,
    dask: str | None = None,
    again: Literal["failed", "all"] | None = None,
    progress: Callable[[Tally], None] | None = None,
) -> None:
    """Fit every point of the grid that the store does not have yet.

    Any number of processes may run the same sweep on the same store: each takes points that no other living
    process holds, and all return when the sweep is complete.

    Parameters
    ----------
    name : the sweep's name in the store; going on with a sweep means giving its name and grid again.
    data : what `grid.dataset` stands for.
    n_jobs : worker processes, -1 for one per core. With `dask` the cluster decides.
    dask : address of a Dask scheduler, such as "tcp://10.0.0.1:8786".
    again : fit again what failed in an earlier run, or everything.
    progress : called after every result.
    """
    largest = min(data.shape)
    if max(grid.Ks) > largest:
        raise InputError(
            f"K={max(grid.Ks)}: {data.name} is {data.shape[0]} x {data.shape[1]}, so K is at most {largest}."
        )
    observed = masks(data, grid)
    sweep = store.add_sweep(name, grid, data.content_hash)
    if again is not None:
        store.forget(sweep, only_failed=again == "failed")
    run = store.begin_run(sweep)
    try:
        with _signs_of_life(store, run):
            _Leader(store, sweep, run, data.V, observed, len(grid), progress).work(n_jobs, dask)
    except KeyboardInterrupt:
        store.end_run(run, "stopped", "stopped by the user")
        raise
    except EngineError as error:
        store.end_run(run, "failed", str(error))
        raise
    store.end_run(run, "finished")


class _Leader:
    """The process that hands out points and takes in results."""

    def __init__(
        self,
        store: Store,
        sweep: int,
        run: int,
        V: Array,
        observed: Mapping[float, Packed],
        total: int,
        progress: Callable[[Tally], None] | None,
    ) -> None:
        self._store, self._sweep, self._run = store, sweep, run
        self._V, self._masks = V, observed
        self._progress = progress
        self._total = total
        self._began, self._fresh = time.monotonic(), 0
        self._reported, self._told = 0.0, -1
        self._trouble: StoreError | None = None

    def work(self, n_jobs: int, dask: str | None) -> None:
        """Rounds until nothing waits: the first makes the fits, later ones take over from the dead."""
        lost = 0
        while self._store.waiting(self._sweep):
            before = self._fresh
            try:
                with backend(dask, [self._V, *self._masks.values()]) as options:
                    self._round(n_jobs, options)
            except WorkersLost as error:
                lost = 1 if self._fresh > before else lost + 1
                if lost == LOST_WORKERS:
                    raise EngineError(
                        "worker processes keep dying, perhaps for want of memory; run with fewer --jobs."
                    ) from error
            if self._fresh == before:
                time.sleep(POLL)
        self._report(final=True)

    def _round(self, n_jobs: int, options: dict[str, Any]) -> None:
        parallel = joblib.Parallel(
            n_jobs=n_jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="1.5*n_jobs", **options
        )
        for key, outcome in parallel(self._tasks()):
            self._store.keep(key, outcome)
            self._fresh += 1
            self._report()
        if self._trouble is not None:
            raise self._trouble

    def _tasks(self) -> Iterator[Any]:
        # joblib draws from this in a thread of its own, where an error would be lost and the sweep hang.
        try:
            for key, point in self._store.claims(self._sweep, self._run):
                yield joblib.delayed(fit_point)(self._V, self._masks[point.alpha], key, point)
        except StoreError as error:
            self._trouble = error

    def _report(self, *, final: bool = False) -> None:
        now = time.monotonic()
        if self._progress is None or not (final or now - self._reported >= REPORT):
            return
        self._reported = now
        done = self._total - self._store.waiting(self._sweep)
        if not final or done != self._told:
            self._told = done
            self._progress(Tally(self._total, done, self._fresh, now - self._began))


@contextmanager
def _signs_of_life(store: Store, run: int) -> Iterator[None]:
    """Let processes on other hosts see that this one lives, also during a long fit."""
    over = Event()

    def renew() -> None:
        while not over.wait(SIGN_OF_LIFE):
            try:
                store.sign_of_life(run)
            except StoreError:
                # The leader meets the same trouble with its next result, and reports it.
                return

    thread = Thread(target=renew, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
