"""Work on many processes, of this machine or of a Dask cluster, in rounds that survive workers that die."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from typing import Any, TypeVar

from .processes import serve_parent

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


def run_until_done(
    waiting: Callable[[], int],
    begin_round: Callable[[], Generator[T]],
    keep: Callable[[T], object],
    report: Callable[[], object],
) -> None:
    """Run rounds until nothing waits: the first is all of the work, later ones do what lost workers left
    unfinished.

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
