"""Fits for everybody: each setting is solved once per server, kept while there is room, and can be watched
and cancelled while it runs.

Nothing here knows Streamlit; `store()` alone ties the one `FitStore` to the server's process.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import streamlit as st
from threadpoolctl import threadpool_limits

from atnmf_core import Dataset, Fit, Progress, factorize, rmse
from atnmf_core.film import Film

from .setting import FitKey

__all__ = ["FitStore", "Job", "Run", "store"]

Mask = npt.NDArray[np.bool_]
CORES = os.cpu_count() or 1
KEPT_BYTES = 600_000_000


@dataclass(frozen=True, eq=False)
class Run:
    """A finished fit, its film and its error over all hidden entries. Sessions share it: not to be changed."""

    fit: Fit
    film: Film
    rmse_hidden: float

    @property
    def nbytes(self) -> int:
        mask = 0 if self.fit.observed is None else self.fit.observed.nbytes
        return self.fit.W.nbytes + self.fit.H.nbytes + self.film.nbytes + mask


@dataclass(eq=False)
class Job:
    """A fit under way. It ends with a run, an error, or cancelled."""

    key: FitKey
    long: bool = False
    film: Film = field(default_factory=Film)
    iteration: int = 0
    share: float = 0.0
    seconds: float = 0.0
    run: Run | None = None
    error: Exception | None = None
    cancelled: bool = False
    _done: threading.Event = field(default_factory=threading.Event)

    def wait(self, seconds: float | None = None) -> bool:
        """Whether it has ended, after waiting for at most so long."""
        return self._done.wait(seconds)

    @property
    def running(self) -> bool:
        return not (self._done.is_set() or self.cancelled)

    def cancel(self) -> None:
        """Give it up: the solver stops at its next iteration, and nobody waits for it any more."""
        self.cancelled = True
        self._done.set()

    def solve(self, data: Dataset, observed: Mask) -> None:
        """Run the fit in this thread. Every error is kept for whoever asked, who is in another thread."""
        try:
            if not self.cancelled:
                fit = _fit(self.key, data, observed, self._watch)
                if not self.cancelled:
                    self.run = Run(fit, self.film, rmse(data.V, fit.W @ fit.H, ~observed))
        except Exception as error:  # noqa: BLE001 - raised again by the session that shows it
            self.error = error

    def finish(self) -> None:
        """Let those who wait go on."""
        self._done.set()

    def _watch(self, progress: Progress) -> bool:
        self.film(progress)
        self.iteration, self.share, self.seconds = progress.iteration, progress.share, progress.seconds
        return self.cancelled


def _fit(key: FitKey, data: Dataset, observed: Mask, callback: Callable[[Progress], bool]) -> Fit:
    return factorize(
        data.V,
        observed,
        K=key.K,
        method="nmf" if key.lam is None else "atnmf",
        lam=key.lam,
        missing=key.missing,
        solver=key.solver,
        seed=key.seed,
        callback=callback,
    )


class FitStore:
    """Finished runs by key, least recently used dropped first, and the jobs under way."""

    def __init__(self, kept_bytes: int = KEPT_BYTES) -> None:
        self._kept_bytes = kept_bytes
        self._runs: OrderedDict[FitKey, Run] = OrderedDict()
        self._jobs: dict[FitKey, Job] = {}
        self._lock = threading.Lock()
        self._turns = {False: threading.Semaphore(CORES), True: threading.Semaphore(CORES)}
        # Sessions already run side by side; BLAS threads on top of them would only fight over the cores.
        threadpool_limits(limits=1, user_api="blas")

    def get(self, key: FitKey) -> Run | None:
        with self._lock:
            if key in self._runs:
                self._runs.move_to_end(key)
            return self._runs.get(key)

    def job(self, key: FitKey) -> Job | None:
        """The job under way for this key, whoever started it."""
        with self._lock:
            return self._jobs.get(key)

    def start(self, key: FitKey, data: Dataset, observed: Mask, *, long: bool = False) -> Job:
        """The job for this key, started now unless it is under way or done. Long ones take turns apart, so
        that they hold up nobody's short ones.
        """
        with self._lock:
            if key in self._runs:
                return _finished(key, self._runs[key])
            if key in self._jobs:
                return self._jobs[key]
            job = self._jobs[key] = Job(key, long)
        threading.Thread(target=self._work, args=(job, data, observed), daemon=True).start()
        return job

    def solve(self, key: FitKey, data: Dataset, observed: Mask) -> Run:
        """The run for this key, computed now where it is not kept."""
        job = self.start(key, data, observed)
        job.wait()
        if job.error is not None:
            raise job.error
        return job.run or self.solve(key, data, observed)

    def cancel(self, key: FitKey) -> None:
        with self._lock:
            job = self._jobs.pop(key, None)
        if job is not None:
            job.cancel()

    def _work(self, job: Job, data: Dataset, observed: Mask) -> None:
        with self._turns[job.long]:
            job.solve(data, observed)
        with self._lock:
            if self._jobs.get(job.key) is job:
                del self._jobs[job.key]
            if job.run is not None:
                self._keep(job.key, job.run)
        job.finish()

    def _keep(self, key: FitKey, run: Run) -> None:
        self._runs[key] = run
        self._runs.move_to_end(key)
        while len(self._runs) > 1 and sum(kept.nbytes for kept in self._runs.values()) > self._kept_bytes:
            self._runs.popitem(last=False)


def _finished(key: FitKey, run: Run) -> Job:
    job = Job(key, film=run.film, share=1.0, run=run)
    job.finish()
    return job


@st.cache_resource(show_spinner=False)
def store() -> FitStore:
    """The one store of this server."""
    return FitStore()
