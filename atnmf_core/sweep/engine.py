"""Runs the points of a grid, on this machine's cores or a Dask cluster, and keeps each result as it comes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Literal

from ..datasets import Dataset
from ..problem import InputError
from .grid import Grid
from .processes import SIGN_OF_LIFE
from .records import EngineError, Tally
from .store import Store, StoreError

__all__ = ["run_sweep"]

SEEDS = 2**32
"""How many there are; see `check_seed`."""


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
    # joblib takes long to import, and whoever only reads a store needs none of it.
    from .fitting import masks
    from .workers import Leader

    _check(grid, data)
    observed = masks(data, grid)
    sweep = store.add_sweep(name, grid, data.content_hash)
    if again is not None:
        store.forget(sweep, only_failed=again == "failed")
    run = store.begin_run(sweep)
    try:
        with _signs_of_life(store, run):
            Leader(store, sweep, run, data.V, observed, len(grid), progress).work(n_jobs, dask)
    except KeyboardInterrupt:
        store.end_run(run, "stopped", "stopped by the user")
        raise
    except EngineError as error:
        store.end_run(run, "failed", str(error))
        raise
    store.end_run(run, "finished")


def _check(grid: Grid, data: Dataset) -> None:
    """Refuse what would fail in the workers."""
    largest = min(data.shape)
    if max(grid.Ks) > largest:
        raise InputError(
            f"K={max(grid.Ks)}: {data.name} is {data.shape[0]} x {data.shape[1]}, so K is at most {largest}."
        )
    if grid.seed + grid.starts > SEEDS:
        raise InputError(
            f"seed={grid.seed} with starts={grid.starts}: begin at {SEEDS - grid.starts} or below, as each "
            f"start takes the next seed and {SEEDS - 1} is the last."
        )


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
