"""Where fits run: processes on this machine, or a Dask cluster.

Both are joblib's. Each gives the options of `joblib.Parallel` for one round of work, sees to it that the data
reaches every worker once, and reports dead workers as `WorkersLost`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any

import joblib
from joblib.externals.loky.process_executor import TerminatedWorkerError

from .records import EngineError
from .work import ignore_interrupt

__all__ = ["WorkersLost", "backend"]

SEND_AS_FILE = 10_000
"""Arrays of more bytes are written down once and mapped into every worker, not sent with every point."""
ANSWER_WITHIN = 5
"""How long a Dask scheduler may take to answer, in seconds."""


class WorkersLost(Exception):
    """Workers died, and fits or the data that they need with them; a new round can make up for it."""


@contextmanager
def backend(dask: str | None, arrays: list[Any]) -> Iterator[dict[str, Any]]:
    """Options for `joblib.Parallel`, valid inside the block; `arrays` are what every fit needs."""
    with _processes() if dask is None else _cluster(dask, arrays) as options:
        yield options


@contextmanager
def _processes() -> Iterator[dict[str, Any]]:
    try:
        yield {"backend": "loky", "max_nbytes": SEND_AS_FILE, "initializer": ignore_interrupt}
    except TerminatedWorkerError as error:
        raise WorkersLost from error


@contextmanager
def _cluster(address: str, arrays: list[Any]) -> Iterator[dict[str, Any]]:
    try:
        from distributed import Client, KilledWorker
    except ImportError as error:
        raise EngineError("Dask is not installed here: pip install distributed.") from error
    try:
        client = Client(address, set_as_default=False, timeout=ANSWER_WITHIN)
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
