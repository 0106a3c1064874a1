"""`python -m atnmf_core queue`: run the sweeps that wait in a store, one after the other."""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tempfile
import time
from typing import IO

from ..sweep import Store, StoreError, open_store
from ..sweep.processes import SIGN_OF_LIFE, give_way
from ..sweep.queue import Queue, Turn
from .running import add_running_options, ended_by_signals

__all__ = ["add_parser", "run"]

POLL = 0.25
"""How often to look, in seconds, whether the sweep has ended or was taken out of the queue."""
PATIENCE = 20.0
"""A sweep that was asked to end and has not after so many seconds is killed."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `queue` to the command line."""
    parser = subparsers.add_parser(
        "queue",
        help="run the sweeps that wait in a store",
        description="Run the sweeps that were put in a store's queue, as the dashboard does, one after the "
        "other, until none waits. Ends at once where another process does so already.",
    )
    parser.set_defaults(run=run)
    add_running_options(parser, of_dashboard=True)


def run(args: argparse.Namespace) -> int:
    """Work the queue off, until it is empty."""
    if not args.store.is_file():
        raise StoreError(f"{args.store}: there is no store here.")
    with open_store(args.store) as store:
        queue = Queue(store)
        if not queue.take_over():
            return 0
        # Whoever sits at this machine, and the dashboard itself, comes first.
        give_way()
        try:
            with ended_by_signals():
                worker = _Worker(args, store, queue)
                while (turn := queue.next()) is not None:
                    worker.run(turn)
        finally:
            queue.leave()
    return 0


class _Worker:
    """Runs one sweep at a time, each as a process of its own, so that none can take the others with it."""

    def __init__(self, args: argparse.Namespace, store: Store, queue: Queue) -> None:
        self._args, self._store, self._queue = args, store, queue
        self._signed = time.monotonic()

    def run(self, turn: Turn) -> None:
        """Run a sweep to its end and take it out of the queue; interrupted, it stays in."""
        name = turn.name
        while self._store.sweep(name).status == "running" and self._queue.has(turn):
            # Left over by a process like this one that was killed: its turn is not over.
            self._pause()
        if self._store.sweep(name).status == "queued" and self._queue.has(turn):
            with tempfile.TemporaryFile("w+") as said:
                process = self._start(name, said)
                self._wait(process, turn)
                if self._queue.has(turn):
                    self._note_trouble(name, process.returncode, said)
        self._queue.end(turn)

    def _start(self, name: str, said: IO[str]) -> subprocess.Popen[bytes]:
        words = ["sweep", f"--name={name}", f"--store={self._args.store}", "--no-progress"]
        if self._args.jobs > 0:
            words.append(f"--jobs={self._args.jobs}")
        if self._args.dask:
            words.append(f"--dask={self._args.dask}")
        return subprocess.Popen(
            [sys.executable, "-m", "atnmf_core", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=said,
        )

    def _wait(self, process: subprocess.Popen[bytes], turn: Turn) -> None:
        """Wait for the sweep's process; end it when its turn is taken out of the queue, or with this one."""
        try:
            while process.poll() is None:
                self._pause()
                if not self._queue.has(turn):
                    _end(process)
        except KeyboardInterrupt:
            _end(process)
            raise

    def _pause(self) -> None:
        time.sleep(POLL)
        if time.monotonic() - self._signed > SIGN_OF_LIFE:
            self._signed = time.monotonic()
            self._queue.sign_of_life()

    def _note_trouble(self, name: str, code: int, said: IO[str]) -> None:
        """Keep why a sweep ended that neither finished, nor was stopped, nor could tell itself."""
        if self._store.sweep(name).status != "queued" or code == 128 + signal.SIGTERM:
            return
        said.seek(0)
        lines = [line.strip() for line in said if line.strip()]
        if lines:
            why = lines[-1].removeprefix("atnmf_core sweep: ")
        else:
            why = f"its process was ended by {signal.Signals(-code).name}." if code < 0 else f"code {code}."
        self._store.note_failure(name, why)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
