"""Results for everybody: each fit is computed once per server and cached while there is room."""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable
from concurrent.futures import CancelledError, Future
from functools import partial
from typing import Any, NamedTuple

import streamlit as st
from cachetools import LRUCache

from atnmf_core import Dataset, InputError
from atnmf_core.problem import Mask
from atnmf_core.running.run import Run, fit_run, hidden_rmse
from atnmf_core.running.scheduler import Job, Rank, Scheduler
from atnmf_core.running.task_process import ProcessDied

from .background import scheduler
from .setting import FitKey

MAX_RUN_BYTES = 200_000_000
MAX_ERRORS = 10_000
MAX_FAILURES = 50
SOLVE_AGAIN_SECONDS, PAUSE_SECONDS = 30.0, 0.5


class Failure(NamedTuple):
    """Why a fit did not succeed, and when, by `time.monotonic`."""

    error: BaseException
    when: float

    @property
    def is_refusal(self) -> bool:
        """Whether the solver rejected its input, as it would again."""
        return isinstance(self.error, InputError)

    def may_be_over(self, seconds: float) -> bool:
        """Whether another attempt may succeed after this many seconds: the machine was short of something, or
        a process was killed.
        """
        return not self.is_refusal and time.monotonic() - self.when >= seconds


class _ErrorOf(NamedTuple):
    """The scheduler's key for a fit of which only the error is wanted."""

    key: FitKey


class ResultCache:
    """Results of background work by key while there is room, and why other work failed.

    Parameters
    ----------
    max_bytes : room for all results; each has `nbytes`.
    at_least : so many of the latest results must fit in, however large they are.
    """

    def __init__(self, max_bytes: int, at_least: int = 1) -> None:
        most = max_bytes // at_least
        self._results = LRUCache[Hashable, Any](max_bytes, lambda result: min(result.nbytes, most))
        self._failures = LRUCache[Hashable, Failure](MAX_FAILURES)
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Any | None:
        with self._lock:
            return self._results.get(key)

    def failure(self, key: Hashable) -> Failure | None:
        """Why the last attempt at this key did not succeed."""
        with self._lock:
            return self._failures.get(key)

    def forget_failure(self, key: Hashable) -> None:
        with self._lock:
            self._failures.pop(key, None)

    def store(self, key: Hashable, future: Future[Any]) -> None:
        """Keep what came of the work, unless it was cancelled."""
        if future.cancelled():
            return
        error = future.exception()
        with self._lock:
            if error is None:
                self._keep(key, future.result())
            else:
                self._failures[key] = Failure(error, time.monotonic())

    def _keep(self, key: Hashable, result: Any) -> None:
        self._results[key] = result


class FitCache(ResultCache):
    """Finished runs by key while there is room, their errors for much longer, and the fits under way."""

    def __init__(self, scheduler: Scheduler, max_bytes: int = MAX_RUN_BYTES) -> None:
        super().__init__(max_bytes, at_least=2)
        self.scheduler = scheduler
        self._errors = LRUCache[FitKey, float](MAX_ERRORS)

    def rmse_hidden(self, key: FitKey) -> float | None:
        """The error of a fit, even if the fit itself is no longer cached."""
        with self._lock:
            return self._errors.get(key)

    def job(self, key: FitKey) -> Job | None:
        """The fit under way for this key, whoever started it; until its run is available here."""
        return self.scheduler.job(key)

    def start(
        self, key: FitKey, data: Dataset, observed: Mask, owner: object, *, long: bool = False
    ) -> Future[Run]:
        """The run for this key, now or later."""
        cached = self.get(key)
        if cached is not None:
            done: Future[Run] = Future()
            done.set_result(cached)
            return done
        self.forget_failure(key)
        task = partial(fit_run, V=data.V, observed=observed, **_parameters(key))
        job = self.scheduler.submit(key, task, owner, long=long)
        job.future.add_done_callback(partial(self.store, key))
        return job.future

    def start_error(
        self, key: FitKey, data: Dataset, observed: Mask, owner: object, *, long: bool = False
    ) -> None:
        """Compute the error of this fit when there is nothing more urgent to do; the run is not cached."""
        if self.rmse_hidden(key) is None and self.job(key) is None:
            task = partial(hidden_rmse, V=data.V, observed=observed, **_parameters(key))
            job = self.scheduler.submit(_ErrorOf(key), task, owner, rank=Rank.EXTRA, long=long)
            job.future.add_done_callback(partial(self.store, key))

    def solve(self, key: FitKey, data: Dataset, observed: Mask, owner: object) -> Run:
        """The run for this key, waited for. Where a process was killed, or the machine was out of something,
        it is tried again for a while.
        """
        ends = time.monotonic() + SOLVE_AGAIN_SECONDS
        while True:
            future = self.start(key, data, observed, owner)
            self.scheduler.wait([key])
            try:
                return future.result()
            except CancelledError:
                # Somebody else, who looked at the same fit, has cancelled it.
                continue
            except (ProcessDied, OSError):
                if time.monotonic() > ends:
                    raise
                time.sleep(PAUSE_SECONDS)

    def cancel(self, key: FitKey) -> None:
        self.scheduler.cancel(key)

    def _keep(self, key: FitKey, result: Run | float) -> None:
        if isinstance(result, Run):
            super()._keep(key, result)
            result = result.rmse_hidden
        self._errors[key] = result


def _parameters(key: FitKey) -> dict[str, Any]:
    method = "nmf" if key.lam is None else "atnmf"
    names = ("K", "lam", "leash", "missing", "solver", "seed")
    init = None if key.start == "random" else key.start
    return {"method": method, "init": init} | {name: getattr(key, name) for name in names}


@st.cache_resource(show_spinner=False)
def fit_cache() -> FitCache:
    """The one cache of this server."""
    return FitCache(scheduler())
