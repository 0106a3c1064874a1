"""Tasks of many people on few cores: one process per core, what somebody waits for first, a fair share each.

Tasks belong to *owners*, any hashable values: browser sessions, for instance. A task that several ask for
runs once. A task that nobody wants any more, because its owners have moved on or left, is dropped.
"""

import threading
from collections.abc import Collection, Hashable
from concurrent.futures import CancelledError, Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import count
from typing import Any

from .processes import ProcessDied, Task, TaskProcess

GRACE_SECONDS = 5.0
"""How long a running task continues when nobody wants it: its owner may only have reloaded the page."""


class Rank(IntEnum):
    ASKED = 0
    EXTRA = 1


@dataclass(eq=False)
class Job:
    """A task that is waiting or running.

    long : whether it may take more than a second or two: in a process of its own, it holds up no short ones.
    progress : its latest report, None before the first.
    """

    key: Hashable
    task: Task[Any] = field(repr=False)
    long: bool
    future: Future[Any] = field(default_factory=Future)
    progress: Any = None
    _wanted_by: dict[Hashable, Rank] = field(default_factory=dict)
    is_running: bool = False
    _process: TaskProcess | None = None

    @property
    def rank(self) -> Rank:
        return min(self._wanted_by.values(), default=Rank.EXTRA)

    @property
    def owners(self) -> frozenset[Hashable]:
        return frozenset(self._wanted_by)

    def _report(self, content: Any) -> None:
        self.progress = content


class Scheduler:
    """Runs jobs by rank, then by the owner least recently served; `workers` short and as many long ones."""

    def __init__(self, workers: int | None = None) -> None:
        if workers is None:
            # Slow to import, and a page that is only looked at starts no fit.
            from joblib import cpu_count

            workers = cpu_count()
        self._workers = workers
        self._jobs: dict[Hashable, Job] = {}
        self._served: dict[Hashable, int] = {}
        self._turn = count(1)
        self._changed = threading.Condition()
        self._closed = False
        self._threads = [
            threading.Thread(target=self._work, args=(long, number == 0 and not long), daemon=True)
            for long in (False, True)
            for number in range(self._workers)
        ]
        for thread in self._threads:
            thread.start()

    def submit(
        self, key: Hashable, task: Task[Any], owner: Hashable, *, rank: Rank = Rank.ASKED, long: bool = False
    ) -> Job:
        """The job for this key: the one under way, now wanted by this owner too, or else a new one."""
        with self._changed:
            if self._closed:
                raise RuntimeError("the scheduler is closed: it takes no more tasks.")
            job = self._jobs.setdefault(key, Job(key, task, long))
            self._want(job, owner, rank)
        return job

    def job(self, key: Hashable) -> Job | None:
        """The job under way for this key, whoever asked for it."""
        with self._changed:
            return self._jobs.get(key)

    def long_jobs(self) -> list[Job]:
        with self._changed:
            return [job for job in self._jobs.values() if job.long]

    def join(self, key: Hashable, owner: Hashable) -> None:
        """Let this owner ask for the job of this key too, if there is one."""
        with self._changed:
            if key in self._jobs:
                self._want(self._jobs[key], owner, Rank.ASKED)

    def wait(self, keys: Collection[Hashable], seconds: float | None = None) -> bool:
        """Wait, at most so long, until none of these keys is under way; whether that is so."""
        with self._changed:
            return self._changed.wait_for(lambda: self._jobs.keys().isdisjoint(keys), seconds)

    def cancel(self, key: Hashable) -> None:
        with self._changed:
            job = self._jobs.get(key)
            if job is not None:
                self._cancel(job)

    def move_on(self, owner: Hashable, keep: Collection[Hashable] = ()) -> None:
        """Drop what this owner wanted, except the keys to keep and the long jobs that were asked for."""
        with self._changed:
            for job in list(self._jobs.values()):
                stays = job.key in keep or (job.long and job._wanted_by.get(owner) is Rank.ASKED)
                if not stays:
                    self._release(job, owner)

    def leave(self, owner: Hashable) -> None:
        with self._changed:
            for job in list(self._jobs.values()):
                self._release(job, owner)
            self._served.pop(owner, None)

    def close(self) -> None:
        with self._changed:
            self._closed = True
            for job in list(self._jobs.values()):
                self._cancel(job)
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _want(self, job: Job, owner: Hashable, rank: Rank) -> None:
        job._wanted_by[owner] = min(rank, job._wanted_by.get(owner, rank))
        self._changed.notify_all()

    def _release(self, job: Job, owner: Hashable) -> None:
        if job._wanted_by.pop(owner, None) is None or job._wanted_by:
            return
        # Without threads, as in a browser, nobody reloads a page while its job runs.
        if job.is_running and self._threads:
            timer = threading.Timer(GRACE_SECONDS, self._cancel_unwanted, (job,))
            timer.daemon = True
            timer.start()
        else:
            self._cancel(job)

    def _cancel_unwanted(self, job: Job) -> None:
        with self._changed:
            if not job._wanted_by and self._jobs.get(job.key) is job:
                self._cancel(job)

    def _cancel(self, job: Job) -> None:
        del self._jobs[job.key]
        if job.future.cancel():
            # Only this wakes up whoever is in `concurrent.futures.wait`.
            job.future.set_running_or_notify_cancel()
        if job._process is not None:
            job._process.kill()
        self._changed.notify_all()

    def _work(self, long: bool, at_once: bool) -> None:
        """One thread: takes job after job, and keeps a process for short ones."""
        process: TaskProcess | None = None
        with suppress(OSError):
            # The first short job should not have to wait for a process to start.
            process = TaskProcess() if at_once else None
        while (job := self._next(long)) is not None:
            process = self._run(job, process)
            if long and process is not None:
                process.close()
                process = None
        if process is not None:
            process.close()

    def _next(self, long: bool) -> Job | None:
        with self._changed:
            while not self._closed:
                job = self._next_waiting(long)
                if job is not None:
                    job.is_running = True
                    turn = next(self._turn)
                    self._served |= dict.fromkeys(job._wanted_by, turn)
                    return job
                self._changed.wait()
        return None

    def _next_waiting(self, long: bool) -> Job | None:
        jobs = [job for job in self._jobs.values() if job.long == long]
        waiting = [job for job in jobs if not job.is_running]
        extras_running = sum(job.is_running and job.rank is Rank.EXTRA for job in jobs)
        if extras_running >= max(1, self._workers - 1):
            # Keep one worker free for what somebody asks for next.
            waiting = [job for job in waiting if job.rank is Rank.ASKED]
        return min(waiting, key=self._precedence, default=None)

    def _precedence(self, job: Job) -> tuple[Rank, int]:
        return job.rank, min(self._served.get(owner, 0) for owner in job._wanted_by)

    def _run(self, job: Job, process: TaskProcess | None) -> TaskProcess | None:
        try:
            try:
                process = self._assigned(job, process)
                result = process.run(job.task, job._report)
            except ProcessDied:
                if job.long or job.future.cancelled():
                    raise
                # Killed from outside, perhaps because of an earlier task; a short job is worth another try.
                process = self._assigned(job, process)
                result = process.run(job.task, job._report)
        except Exception as error:  # noqa: BLE001 - raised again by whoever looks at the future
            self._finish(job, error=error)
        else:
            self._finish(job, result)
        return process

    def _assigned(self, job: Job, process: TaskProcess | None) -> TaskProcess:
        """A living process, attached to the job so that it can be killed."""
        if job.future.cancelled():
            raise CancelledError
        if process is not None and not process.is_alive:
            process.close()
            process = None
        process = process or TaskProcess(low_priority=job.long)
        with self._changed:
            job._process = process
            if job.future.cancelled():
                process.kill()
        return process

    def _finish(self, job: Job, result: Any = None, error: Exception | None = None) -> None:
        with self._changed:
            job._process = None
        with suppress(InvalidStateError):
            # Cancelled meanwhile: nobody is interested.
            if error is not None:
                job.future.set_exception(error)
            else:
                job.future.set_result(result)
        # Last, so that the result can always be found: here, or where a callback of the future put it.
        with self._changed:
            if self._jobs.get(job.key) is job:
                del self._jobs[job.key]
            self._changed.notify_all()
