"""Computes the points of a grid, on this machine's cores or a Dask cluster, and stores each result."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import closing
from typing import Any, Literal

from ..datasets import Dataset
from .kinds import AnyGrid
from .records import EngineError, Tally
from .store import Store, StoreError

__all__ = ["run_sweep"]

POLL = 0.3
"""How often to look, in seconds, whether another process has finished the points that it has claimed."""
REPORT = 0.2
"""Progress is reported at most so often, in seconds."""
MAX_LOSSES = 3
"""The sweep gives up when workers have died so often in a row without a result in between."""


def run_sweep(
    store: Store,
    name: str,
    grid: AnyGrid,
    data: Dataset,
    *,
    n_jobs: int = -1,
    dask: str | None = None,
    again: Literal["failed", "all"] | None = None,
    progress: Callable[[Tally], None] | None = None,
    reproduces: str | None = None,
) -> None:
    """Compute every point of the grid that the store does not have yet.

    Any number of processes may run the same sweep on the same store: each takes points that no other living
    process has claimed, and all return when the sweep is complete.

    Parameters
    ----------
    name : the sweep's name in the store; the same name and grid resume a sweep.
    grid : a `Grid`, or one of another kind; see `atnmf_core.sweep.kinds`.
    data : the data set that `grid.dataset` names.
    n_jobs : worker processes, -1 for one per core. With `dask` the cluster decides.
    dask : address of a Dask scheduler, such as "tcp://10.0.0.1:8786".
    again : compute again what failed in an earlier run, or everything.
    progress : called after every result.
    reproduces : the table of the paper that the sweep is run for; see `SweepRecord`.
    """
    grid.check(data)
    inputs = grid.inputs(data)
    store.check_integrity()
    sweep = store.add_sweep(name, grid, data.content_hash, reproduces=reproduces)
    if again is not None:
        store.forget(sweep, only_failed=again == "failed")
    run = store.begin_run(sweep)
    try:
        _Run(store, sweep, run, grid, inputs, progress).work(n_jobs, dask)
    except KeyboardInterrupt:
        store.end_run(run, "stopped", "stopped by the user")
        raise
    except EngineError as error:
        store.end_run(run, "failed", str(error))
        raise
    store.end_run(run, "finished")


class _Run:
    """This process's share of the work on one sweep."""

    def __init__(
        self,
        store: Store,
        sweep: int,
        run: int,
        grid: AnyGrid,
        inputs: Mapping[Hashable, Any],
        progress: Callable[[Tally], None] | None,
    ) -> None:
        self._store, self._sweep, self._run = store, sweep, run
        self._grid, self._inputs = grid, inputs
        self._progress = progress
        self._began, self._fresh = time.monotonic(), 0
        self._reported, self._told = 0.0, -1
        self._store_error: StoreError | None = None

    def work(self, n_jobs: int, dask: str | None) -> None:
        """Rounds until no point waits: the first computes them, later ones take over from dead processes."""
        # joblib takes long to import, and whoever only reads a store needs none of it.
        from .workers import WorkersLost

        losses = 0
        while self._store.waiting(self._sweep):
            before = self._fresh
            try:
                self._round(n_jobs, dask)
            except WorkersLost as error:
                losses = 1 if self._fresh > before else losses + 1
                if losses == MAX_LOSSES:
                    raise EngineError(
                        "worker processes keep dying, perhaps for lack of memory; use fewer of them."
                    ) from error
            if self._fresh == before:
                time.sleep(POLL)
        self._report(final=True)

    def _round(self, n_jobs: int, dask: str | None) -> None:
        from .workers import outcomes

        with closing(outcomes(self._calls(), list(self._inputs.values()), n_jobs, dask)) as finished:
            for key, outcome in finished:
                self._store.keep(key, outcome)
                self._fresh += 1
                self._report()
        if self._store_error is not None:
            raise self._store_error

    def _calls(self) -> Iterator[tuple[str, Any, list[Any]]]:
        # joblib draws from this in a thread of its own, where an error would be lost and the sweep hang.
        try:
            for key, parameters in self._store.claims(self._sweep, self._run):
                point = self._grid.point(**parameters)
                yield key, point, [self._inputs[name] for name in point.inputs]
        except StoreError as error:
            self._store_error = error

    def _report(self, *, final: bool = False) -> None:
        now = time.monotonic()
        if self._progress is None or not (final or now - self._reported >= REPORT):
            return
        self._reported = now
        total = len(self._grid)
        done = total - self._store.waiting(self._sweep)
        if not final or done != self._told:
            self._told = done
            self._progress(Tally(total, done, self._fresh, now - self._began))
