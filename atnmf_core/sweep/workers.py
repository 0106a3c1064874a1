"""Where fits run: processes on this machine, or a Dask cluster.

Both are joblib's. Each gives the options of `joblib.Parallel` for one round of work, sees to it that the data
reaches every worker once, and reports dead workers as `WorkersLost`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any

import joblib
from joblib.externals.loky.process_executor import TerminatedWorkerError

from .fitting import Array, Packed, fit_point, ignore_interrupt
from .records import EngineError, Tally
from .store import Store, StoreError

__all__ = ["Leader"]

POLL = 0.3
"""How often to look, in seconds, whether another process has finished the points that it holds."""
REPORT = 0.2
"""Progress is reported at most so often, in seconds."""
LOST_WORKERS = 3
"""So often in a row, without a result in between, a dead worker is replaced before the sweep gives up."""
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


class Leader:
    """Works one sweep off."""

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
