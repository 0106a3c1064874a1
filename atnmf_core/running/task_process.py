"""Tasks in a process of their own: they block no thread of the caller, report their progress, and can be
killed at any time.

A task is any picklable callable that takes one argument, `report`, and calls it now and then with something
picklable. The child (``python -m atnmf_core.running.task_process``) reads tasks from its standard input and
writes reports and results to its standard output. Both are pickles, which need no framing. A pool of the
standard library or of loky would not do: multiprocessing runs app.py again in every child, and neither can
kill one task without breaking the pool.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, TypeVar

from ..problem import InputError

Result = TypeVar("Result")
Report = Callable[[Any], None]
Task = Callable[[Report], Result]

ROOT = Path(__file__).parents[2]
REPORT_SECONDS = 0.3
LOW_PRIORITY, NICENESS = "--low-priority", 10


class ProcessDied(RuntimeError):
    """The process ended before it had answered."""


class TaskProcess:
    """A child process that runs tasks one after another, with one BLAS thread.

    One thread at a time may call `run`; any thread may call `kill`.

    Parameters
    ----------
    low_priority : whether all other work on the machine goes first.
    """

    def __init__(self, *, low_priority: bool = False) -> None:
        paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
        self._child = subprocess.Popen(
            [sys.executable, "-m", __name__, *([LOW_PRIORITY] if low_priority else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ
            | {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "OPENBLAS_NUM_THREADS": "1"},
        )

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def is_alive(self) -> bool:
        return self._child.poll() is None

    def run(self, task: Task[Result], report: Report) -> Result:
        """Run the task there and return its result; its reports are passed to `report`, at most every
        `REPORT_SECONDS`, and the first of each `stage`, if they have one.

        Raises
        ------
        ProcessDied : the process was killed or exited.
        Exception : whatever the task raised.
        """
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        try:
            pickle.dump(task, self._child.stdin, pickle.HIGHEST_PROTOCOL)
            self._child.stdin.flush()
            while True:
                kind, content = pickle.load(self._child.stdout)
                if kind == "report":
                    report(content)
                elif kind == "raised":
                    raise content
                else:
                    return content  # type: ignore[no-any-return]
        except (EOFError, pickle.UnpicklingError, BrokenPipeError):
            raise self._died() from None

    def kill(self) -> None:
        """End the process now, whatever it is doing."""
        self._child.kill()

    def close(self) -> None:
        """End the process when it has finished its task."""
        with self._child, suppress(BrokenPipeError):
            assert self._child.stdin is not None
            self._child.stdin.close()

    def _died(self) -> ProcessDied:
        # It may still be alive, closing its pipes.
        code = self._child.wait()
        if code < 0:
            return ProcessDied(
                f"the process that worked on it was killed (signal {-code}), perhaps for lack of memory."
            )
        return ProcessDied(f"the process that worked on it exited (exit code {code}).")


def _serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """The child: run tasks until there are no more."""
    while True:
        try:
            task = pickle.load(requests)
        except EOFError:
            return
        _send(answers, *_outcome(task, answers))


def _outcome(task: Task[Any], answers: IO[bytes]) -> tuple[str, Any]:
    last, stage = -REPORT_SECONDS, None

    def report(content: Any) -> None:
        nonlocal last, stage
        is_next_stage = stage != (stage := getattr(content, "stage", None))
        if is_next_stage or time.monotonic() - last >= REPORT_SECONDS:
            last = time.monotonic()
            _send(answers, "report", content)

    try:
        return "result", task(report)
    except Exception as error:  # noqa: BLE001 - raised again where the task was asked for
        if not isinstance(error, InputError):
            traceback.print_exc()
        return "raised", _picklable(error)


def _picklable(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 - an exception may refuse to be pickled in any way it likes
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _send(answers: IO[bytes], kind: str, content: Any) -> None:
    try:
        pickle.dump((kind, content), answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()
    except BrokenPipeError:
        # The parent is gone: there is nobody to report to.
        os._exit(1)


def _main() -> None:
    # Ctrl-C at the terminal is for the parent; once that is gone, this process finds no more tasks and ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if LOW_PRIORITY in sys.argv and hasattr(os, "nice"):
        os.nice(NICENESS)
    # What a library prints must not get into the results.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as answers:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        _serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    _main()
