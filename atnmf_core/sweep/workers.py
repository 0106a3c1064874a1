"""Where points are computed: in processes on this machine, or on a Dask cluster. Both are joblib's."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

import joblib
import numpy as np
from threadpoolctl import threadpool_limits

from ..problem import InputError
from .kinds import AnyPoint
from .processes import serve_parent
from .records import EngineError

__all__ = ["WorkersLost", "compute", "outcomes"]

SEND_AS_FILE = 10_000
"""Arrays of more bytes are written to a file once and mapped into every worker, not sent with every point."""
SCHEDULER_TIMEOUT = 5
"""How long a Dask scheduler may take to answer, in seconds."""

Call = tuple[str, AnyPoint, list[Any]]
"""A point's key, the point, and the arrays that it is computed from."""


class WorkersLost(Exception):
    """Workers died, and with them points or the data that these need; another round can make up for it."""


def outcomes(
    calls: Iterable[Call], arrays: list[Any], n_jobs: int, dask: str | None
) -> Generator[tuple[str, Any]]:
    """What `compute` gives for each call, as it is finished; `arrays` are all those that calls refer to.

    Raises
    ------
    WorkersLost : workers died.
    EngineError : there is no cluster at that address.
    """
    with _processes() if dask is None else _cluster(dask, arrays) as options:
        parallel = joblib.Parallel(
            n_jobs=n_jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="1.5*n_jobs", **options
        )
        yield from parallel(joblib.delayed(compute)(key, point, *own) for key, point, own in calls)


def compute(key: str, point: AnyPoint, *arrays: Any) -> tuple[str, Any]:
    """Compute a point on one BLAS thread: its key with what was measured, or with what went wrong."""
    with threadpool_limits(limits=1, user_api="blas"):
        try:
            return key, point.measure(*arrays)
        except (InputError, ArithmeticError, MemoryError, np.linalg.LinAlgError) as error:
            return key, f"{type(error).__name__}: {error}"


@contextmanager
def _processes() -> Iterator[dict[str, Any]]:
    try:
        yield {
            "backend": "loky",
            "max_nbytes": SEND_AS_FILE,
            "initializer": serve_parent,
            "initargs": (os.getpid(),),
        }
    except BrokenProcessPool as error:
        raise WorkersLost from error


@contextmanager
def _cluster(address: str, arrays: list[Any]) -> Iterator[dict[str, Any]]:
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
