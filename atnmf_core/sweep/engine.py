"""Computes the points of a grid, on this machine's cores or a Dask cluster, and stores each result."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from ..datasets import Dataset
from ..problem import InputError
from .grid import Grid
from .points import Measures, Point
from .processes import serve_parent
from .schema import StoreError
from .store import Store

POLL = 0.3
"""Seconds between checks whether another process has finished the points that it claimed."""
MAX_LOSSES = 3
"""The work is given up when workers have died this many times in a row without a result in between."""
SEND_AS_FILE = 10_000
"""Larger arrays, in bytes, are written to a file once and mapped into every worker, not sent with every
point.
"""
SCHEDULER_TIMEOUT = 5
"""How long a Dask scheduler may take to answer, in seconds."""

T = TypeVar("T")


class EngineError(Exception):
    """A sweep could not continue; the message says why. Finished points are stored."""


class WorkersLost(Exception):
    """Workers died, and with them points or data that points need; another round can recompute them."""


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


def run_until_done(
    waiting: Callable[[], int],
    begin_round: Callable[[], Generator[T]],
    keep: Callable[[T], object],
    report: Callable[[], object],
) -> None:
    """Run rounds until nothing waits: the first is all of the work, later ones take over what died.

    Parameters
    ----------
    waiting : how much is not finished, here or elsewhere.
    begin_round : results, as they come, of what is free to be worked on; see `on_workers`.
    keep : stores a result.
    report : called at the start, after every result, and while others are waited for.
    """
    losses = 0
    report()
    while waiting():
        found = 0
        try:
            with closing(begin_round()) as finished:
                for result in finished:
                    keep(result)
                    found += 1
                    report()
        except WorkersLost as error:
            losses = 1 if found else losses + 1
            if losses == MAX_LOSSES:
                raise EngineError(
                    "worker processes keep dying, perhaps for lack of memory; use fewer of them."
                ) from error
        if not found:
            time.sleep(POLL)
            report()


def _calls(
    store: Store,
    sweep: int,
    run: int,
    V: npt.NDArray[np.floating],
    masks: Mapping[float, npt.NDArray[np.uint8]],
    errors: list[StoreError],
) -> Iterator[tuple[Any, ...]]:
    """The arguments of `_compute` for every point that is free."""
    # joblib consumes this in a thread of its own, where an error would be lost and the sweep would hang.
    try:
        for key, fields in store.claims(sweep, run):
            point = Point(**fields)
            yield key, point, V, masks[point.alpha]
    except StoreError as error:
        errors.append(error)


def on_workers(
    function: Callable[..., T],
    calls: Iterable[tuple[Any, ...]],
    arrays: list[Any],
    n_jobs: int,
    dask: str | None,
) -> Generator[T]:
    """Call the function with each tuple of arguments, on this machine or a cluster; results as they come.

    Parameters
    ----------
    arrays : all arrays that the calls refer to; each is sent to every worker once.
    n_jobs, dask : as in `run_sweep`.

    Raises
    ------
    WorkersLost : workers died.
    EngineError : there is no cluster at that address.
    """
    # Slow to import, and not needed for reading a store.
    import joblib

    with _processes() if dask is None else _cluster(dask, arrays) as options:
        parallel = joblib.Parallel(
            n_jobs=n_jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="1.5*n_jobs", **options
        )
        yield from parallel(joblib.delayed(function)(*arguments) for arguments in calls)


def _compute(key: str, point: Point, *arrays: Any) -> tuple[str, Measures | str]:
    """Compute a point on one BLAS thread: its key, and what was measured or what went wrong."""
    with threadpool_limits(limits=1, user_api="blas"):
        try:
            return key, point.measure(*arrays)
        except (InputError, ArithmeticError, MemoryError, np.linalg.LinAlgError) as error:
            return key, f"{type(error).__name__}: {error}"


@contextmanager
def _processes() -> Iterator[dict[str, Any]]:
    workers = {"initializer": serve_parent, "initargs": (os.getpid(),)}
    try:
        yield {"backend": "loky", "max_nbytes": SEND_AS_FILE, **workers}
    except BrokenProcessPool as error:
        raise WorkersLost from error


@contextmanager
def _cluster(address: str, arrays: list[Any]) -> Iterator[dict[str, Any]]:
    import joblib

    try:
        from distributed import Client, KilledWorker
    except ImportError as error:
        raise EngineError("Dask is not installed here: pip install distributed.") from error
    try:
        client = Client(address, set_as_default=False, timeout=SCHEDULER_TIMEOUT)
    except (OSError, ValueError) as error:
        raise EngineError(f"no Dask scheduler answers at {address}.") from error
    with client:
        try:
            with joblib.parallel_config("dask", client=client, scatter=arrays):
                yield {}
        except (CancelledError, asyncio.CancelledError, KilledWorker) as error:
            raise WorkersLost from error
        except TimeoutError as error:
            raise EngineError(f"the Dask scheduler at {address} has no workers.") from error
