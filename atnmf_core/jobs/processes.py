"""The processes of this program: started, given priority, watched; and work on many of which some may die.

Who tells that one died: of a `TaskProcess`, its `run` raises `ProcessDied`; of a sweep's workers,
`on_workers` raises `WorkersLost`, and `run_until_done` begins another round or gives up.
"""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TypeVar

from ..model.problem import InputError

# Tasks in a process of their own: they block no thread of the caller, report their progress, and can be
# killed at any time.
#
# A task is any picklable callable that takes one argument, `report`, and calls it now and then with
# something picklable. The child (`_main`) reads tasks from its standard input and writes reports and results
# to its standard output. Both are pickles, which need no framing. A pool of the standard library or of loky
# would not do: multiprocessing runs app.py again in every child, and neither can kill one task without
# breaking the pool.

Result = TypeVar("Result")
Report = Callable[[Any], None]
Task = Callable[[Report], Result]

ROOT = Path(__file__).parents[2]
REPORT_SECONDS = 0.3
LOW_PRIORITY, TASK_NICENESS = "--low-priority", 10


class ProcessDied(RuntimeError):
    """The process ended before it had answered."""


def start_python(
    arguments: Sequence[str], environment: Mapping[str, str], **how: Any
) -> subprocess.Popen[bytes]:
    """Start Python in a process that finds this package; `environment` is added to the present one."""
    paths = filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))
    everything = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **environment}
    return subprocess.Popen([sys.executable, *arguments], env=everything, **how)


def start_detached(arguments: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    """Start Python in a session of its own: it outlives this process. What it prints goes to the log."""
    with log.open("w") as file:
        how = {"stdout": file, "stderr": subprocess.STDOUT, "start_new_session": True}
        return start_python(arguments, {}, stdin=subprocess.DEVNULL, **how)


class TaskProcess:
    """A child that runs tasks in turn, on one BLAS thread. One thread at a time may `run`, any may `kill`."""

    def __init__(self, *, low_priority: bool = False) -> None:
        self._child = start_python(
            # Not with -m: the package imports this module, which would then be there twice.
            ["-c", f"from {__name__} import _main; _main()", *([LOW_PRIORITY] if low_priority else [])],
            {"OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def is_alive(self) -> bool:
        return self._child.poll() is None

    def run(self, task: Task[Result], report: Report) -> Result:
        """Run the task there, reporting at most every `REPORT_SECONDS`, and at once for a new `stage`."""
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
        self._child.kill()

    def close(self) -> None:
        """End the process when it has finished its task."""
        with self._child, suppress(BrokenPipeError):
            assert self._child.stdin is not None
            self._child.stdin.close()

    def _died(self) -> ProcessDied:
        code = self._child.wait()  # It may still be alive, closing its pipes
        if code < 0:
            return ProcessDied(
                f"the process that worked on it was killed (signal {-code}), perhaps for lack of memory."
            )
        return ProcessDied(f"the process that worked on it exited (exit code {code}).")


def _serve(requests: IO[bytes], answers: IO[bytes]) -> None:
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
        os._exit(1)  # The parent has ended: there is nobody to report to


def _main() -> None:
    # Ctrl-C at the terminal is for the parent; when that has ended, this process finds no more tasks.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if LOW_PRIORITY in sys.argv and hasattr(os, "nice"):
        os.nice(TASK_NICENESS)
    # What a library prints must not get into the results.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as answers:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        _serve(sys.stdin.buffer, answers)


CLOCK_TOLERANCE = 2.0  # The clock that dates the creation of a process may be adjusted by this many seconds
NICENESS = 4  # Gives a dashboard in use most of a core, and lets sweeps progress on a busy machine
AUTOGROUP = Path("/proc/self/autogroup")
LOOK_FOR_PARENT = 1.0


def created(pid: int) -> float:
    """When a process was created, since 1970: that tells it from a later one with the same number."""
    import psutil

    return float(psutil.Process(pid).create_time())


def is_running(pid: int, since: float) -> bool:
    """Whether the process that had this number at that time still runs."""
    import psutil

    try:
        process = psutil.Process(pid)
        same = process.create_time() < since + CLOCK_TOLERANCE
        return bool(same and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True  # It belongs to another user, so it exists


def lower_priority() -> None:
    """Let everything else on this machine go first: this process and all that it starts from now on."""
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    if AUTOGROUP.exists() and os.getsid(0) == os.getpid():
        # Linux shares cores among sessions first; niceness counts only within one.
        with suppress(OSError):
            AUTOGROUP.write_text(str(NICENESS))


def serve_parent(pid: int) -> None:
    """End this worker when its parent ends, however that happens, and leave Ctrl-C to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(pid,), daemon=True).start()


def _end_with(pid: int) -> None:
    while os.getppid() == pid:
        time.sleep(LOOK_FOR_PARENT)
    os._exit(1)


# Work on many processes, of this machine or of a Dask cluster, in rounds that survive workers that die.

OTHERS_POLL_SECONDS = 0.3  # Whether another process has finished the points that it claimed
MAX_LOSSES = 3
"""The work is given up when workers have died this many times in a row without a result in between."""
SEND_AS_FILE = 10_000
"""Larger arrays, in bytes, are mapped into every worker from a file, not sent with every point."""
SCHEDULER_TIMEOUT = 5  # How long a Dask scheduler may take to answer, in seconds


class EngineError(Exception):
    """A sweep could not continue; the message says why. Finished points are stored."""


class WorkersLost(Exception):
    """Workers died, and with them points or data that points need; another round can recompute them."""


def run_until_done(
    waiting: Callable[[], int],
    begin_round: Callable[[], Generator[Result]],
    keep: Callable[[Result], object],
    report: Callable[[], object],
) -> None:
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
            time.sleep(OTHERS_POLL_SECONDS)
            report()


def on_workers(
    function: Callable[..., Result],
    calls: Iterable[tuple[Any, ...]],
    arrays: list[Any],
    n_jobs: int,
    dask: str | None,
) -> Generator[Result]:
    """Call the function with each tuple of arguments, on this machine or a cluster; results as they come.
    Each of `arrays`, all that the calls refer to, is sent to every worker once.
    """
    import joblib  # Slow to import, and not needed for reading a store

    with _processes() if dask is None else _cluster(dask, arrays) as options:
        parallel = joblib.Parallel(
            n_jobs=n_jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="1.5*n_jobs", **options
        )
        yield from parallel(joblib.delayed(function)(*arguments) for arguments in calls)


@contextmanager
def _processes() -> Iterator[dict[str, Any]]:
    from concurrent.futures.process import BrokenProcessPool

    workers = {"initializer": serve_parent, "initargs": (os.getpid(),)}
    try:
        yield {"backend": "loky", "max_nbytes": SEND_AS_FILE, **workers}
    except BrokenProcessPool as error:
        raise WorkersLost from error


@contextmanager
def _cluster(address: str, arrays: list[Any]) -> Iterator[dict[str, Any]]:
    import asyncio
    from concurrent.futures import CancelledError

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
