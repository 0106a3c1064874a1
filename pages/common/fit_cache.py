"""Fits for everybody: each setting is solved once per server, kept while there is room, and can be watched
and cancelled while it runs.

Nothing here knows Streamlit; `store()` alone ties the one `FitStore` to the server's process.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import streamlit as st
from threadpoolctl import threadpool_limits

from atnmf_core import Dataset, Fit, Progress, factorize, rmse
from atnmf_core.running.film import Film, Frame
from atnmf_core.running.fit_process import Worker

from .kept import Kept
from .setting import FitKey

__all__ = ["FitStore", "Job", "Run", "store"]

Mask = npt.NDArray[np.bool_]
CORES = os.cpu_count() or 1
SWITCH_SECONDS = 0.0005
M_MMAP_THRESHOLD, MAPPED_BYTES = -3, 256 * 1024
KEPT_BYTES = 200_000_000
KEPT_ERRORS = 100_000
KEPT_FAILURES = 50
FORGOTTEN_SECONDS = 3.0
"""A short fit that nobody has asked for in this time, when its turn comes, is not made."""


@dataclass(frozen=True, eq=False)
class Run:
    """A finished fit, its film and its error over hidden entries. Sessions share it: not to be changed."""

    fit: Fit
    frames: tuple[Frame, ...]
    rmse_hidden: float

    @property
    def nbytes(self) -> int:
        mask = 0 if self.fit.observed is None else self.fit.observed.nbytes
        kept = (self.fit, *self.frames)
        return mask + sum(one.W.nbytes + one.H.nbytes for one in kept)


@dataclass(eq=False)
class Job:
    """A fit under way. It ends with a run, an error, or cancelled."""

    key: FitKey
    long: bool = False
    latest: Frame | None = None
    share: float = 0.0
    seconds: float = 0.0
    run: Run | None = None
    error: Exception | None = None
    cancelled: bool = False
    _worker: Worker | None = None
    _done: threading.Event = field(default_factory=threading.Event)
    _waiting: int = 0
    _asked: float = field(default_factory=time.monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def wait(self, seconds: float | None = None) -> bool:
        """Whether it has ended, after waiting for at most so long."""
        with self.wanted():
            return self._done.wait(seconds)

    @contextmanager
    def wanted(self) -> Iterator[None]:
        """As long as this lasts, somebody waits for it."""
        self._wanted_by(1)
        try:
            yield
        finally:
            self._wanted_by(-1)

    def ask(self) -> None:
        """Somebody still looks how far it is."""
        self._wanted_by(0)

    @property
    def is_wanted(self) -> bool:
        """Whether anybody waits for it, or has asked for it a moment ago."""
        with self._lock:
            return self._waiting > 0 or time.monotonic() - self._asked < FORGOTTEN_SECONDS

    def _wanted_by(self, more: int) -> None:
        with self._lock:
            self._waiting += more
            self._asked = time.monotonic()

    def finish(self) -> None:
        """Let those who wait go on."""
        self._done.set()

    def cancel(self) -> None:
        """Give it up: nobody waits for it any more, and the process that works on it ends."""
        with self._lock:
            self.cancelled = True
            if self._worker is not None:
                self._worker.give_up()
        self.finish()

    def solve(self, data: Dataset, observed: Mask, worker: Worker | None) -> None:
        """Run the fit, here or by the worker. Every error is kept for whoever asked, in another thread."""
        with self._lock:
            if self.cancelled:
                return
            self._worker = worker
        try:
            fit, frames = self._found(data, observed, worker)
            self.run = Run(fit, frames, rmse(data.V, fit.W @ fit.H, ~observed))
        except Exception as error:  # noqa: BLE001 - raised again by the session that shows it
            self.error = error
        with self._lock:
            self._worker = None
            if self.cancelled:
                self.run = self.error = None

    def _found(self, data: Dataset, observed: Mask, worker: Worker | None) -> tuple[Fit, tuple[Frame, ...]]:
        parameters = _parameters(self.key)
        if worker is not None:
            return worker.fit(data.V, observed, self._watch, **parameters)
        film = Film()

        def follow(progress: Progress) -> bool:
            film(progress)
            self._watch(film.frames[-1], progress.share, progress.seconds)
            return self.cancelled

        fit = factorize(data.V, observed, callback=follow, **parameters)
        return fit, film.frames

    def _watch(self, frame: Frame, share: float, seconds: float) -> None:
        self.latest, self.share, self.seconds = frame, share, seconds


def _parameters(key: FitKey) -> dict[str, Any]:
    method = "nmf" if key.lam is None else "atnmf"
    names = ("K", "lam", "missing", "solver", "seed")
    init = None if key.start == "random" else key.start
    return {"method": method, "init": init} | {name: getattr(key, name) for name in names}


class FitStore:
    """Finished runs by key while there is room, their errors for much longer, and the jobs under way.

    Where `apart`, short fits are made in a process of their own too, which all of them share. In a thread a
    fit competes with the pages of all sessions for the interpreter, and has to win it back after each of its
    thousand small products: beside one busy thread it takes a hundred times as long.
    """

    def __init__(self, kept_bytes: int = KEPT_BYTES, *, apart: bool = False) -> None:
        # Both fits of a page must find room, however large they are.
        self._runs = Kept[FitKey, Run](kept_bytes, lambda run: run.nbytes, at_least=2)
        self._errors = Kept[FitKey, float](KEPT_ERRORS, lambda _: 1)
        self._jobs: dict[FitKey, Job] = {}
        self._failures: OrderedDict[FitKey, Exception] = OrderedDict()
        self._lock = threading.Lock()
        self._shared = Worker() if apart else None
        # Short ones one after the other; each long one has a process of its own.
        self._turns = {False: threading.Semaphore(1), True: threading.Semaphore(CORES)}
        # Sessions already run side by side; BLAS threads on top of them would only fight over the cores.
        threadpool_limits(limits=1, user_api="blas")

    def get(self, key: FitKey) -> Run | None:
        return self._runs.get(key)

    def rmse_hidden(self, key: FitKey) -> float | None:
        """The error of a fit that was made once, whether or not it is still kept."""
        return self._errors.get(key)

    def job(self, key: FitKey) -> Job | None:
        """The job under way for this key, whoever started it."""
        with self._lock:
            job = self._jobs.get(key)
        if job is not None:
            job.ask()
        return job

    def failure(self, key: FitKey) -> Exception | None:
        """Why the last attempt at this key did not succeed."""
        with self._lock:
            return self._failures.get(key)

    @property
    def is_busy(self) -> bool:
        """Whether somebody waits for a short fit."""
        with self._lock:
            return any(not job.long for job in self._jobs.values())

    def start(self, key: FitKey, data: Dataset, observed: Mask, *, long: bool = False) -> Job:
        """The job for this key, started now unless it is under way or done. Long ones can be watched, and
        hold up nobody's short ones.
        """
        with self._lock:
            run = self._runs.get(key)
            if run is not None:
                return _finished(key, run)
            if key in self._jobs:
                self._jobs[key].ask()
                return self._jobs[key]
            self._failures.pop(key, None)
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
            if job.long:
                with Worker() as worker:
                    job.solve(data, observed, worker)
            # Where many move sliders, most of what stood in line has been moved away from meanwhile.
            elif job.is_wanted:
                job.solve(data, observed, self._worker_for_short())
        with self._lock:
            if self._jobs.get(job.key) is job:
                del self._jobs[job.key]
            if job.run is not None:
                self._runs.keep(job.key, job.run)
                self._errors.keep(job.key, job.run.rmse_hidden)
            if job.error is not None:
                self._failures[job.key] = job.error
                while len(self._failures) > KEPT_FAILURES:
                    self._failures.popitem(last=False)
        job.finish()

    def _worker_for_short(self) -> Worker | None:
        """The process that short fits share, or none: until it has started, this thread is quicker."""
        if self._shared is not None and not self._shared.is_alive:
            self._shared.close()
            self._shared = Worker()
        return self._shared if self._shared is not None and self._shared.is_ready else None


def _finished(key: FitKey, run: Run) -> Job:
    job = Job(key, run=run)
    job.finish()
    return job


def _map_large_arrays_one_by_one() -> None:
    """Have what is dropped go back to the system at once; where large arrays share a heap, the room of the
    dropped stays with the process between those that are kept.
    """
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    if hasattr(library, "mallopt"):
        library.mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES)


@st.cache_resource(show_spinner=False)
def store() -> FitStore:
    """The one store of this server."""
    # A page hands over a hundred messages, and gives up the interpreter with each: where ten sessions are at
    # work, Python's usual 5 ms until it gets it back add up to many seconds.
    sys.setswitchinterval(SWITCH_SECONDS)
    _map_large_arrays_one_by_one()
    return FitStore(apart=True)
