"""What people see of faults: ``python -m tests.benchmarks.faults --people 25`` (as root, on Linux).

Everybody moves a slider every few seconds while fit workers are killed, the disk of the store is full and
then read-only, the server has no file handles left, and is restarted. Nobody may see a traceback, everybody
must see the picture that they asked for within fifteen seconds of the end of each fault, and nothing that was
stored may be lost.
"""

import argparse
import math
import os
import random
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from atnmf_core import load_dataset
from atnmf_core.sweep import Grid, open_store, run_sweep
from tests.browser.server import APP, free_port, serve

from .load import PAUSE_SECONDS, server_of
from .person import FAILURES, Answer, Person

FAULT_SECONDS, RECOVERY_SECONDS = 10.0, 15.0
GRID = Grid("synthetic", alphas=(0.3,), Ks=(3,), lams=(2.0, 5.0))
PAGES = ("", "", "", "", "curves")
"""One in five looks at sweeps."""


@dataclass
class Visit:
    """What one person saw, each with the time: answers that show what was asked for, tracebacks, and lost
    connections.
    """

    page: str
    served: list[float] = field(default_factory=list)
    tracebacks: list[tuple[float, str]] = field(default_factory=list)
    lost: list[tuple[float, str]] = field(default_factory=list)


@dataclass
class Dashboard:
    """A server on a fixed port, which can be started again, and the folder of its store."""

    folder: Path
    port: int = field(default_factory=free_port)

    @property
    def process(self) -> psutil.Process:
        return server_of(APP)


def visit(address: str, number: int, over: threading.Event) -> Visit:
    """One person, who comes back whenever the connection is lost."""
    seen = Visit(PAGES[number % len(PAGES)])
    while not over.is_set():
        try:
            person = Person(address, "K", f"seed={number}", page=seen.page)
            try:
                note(seen, person, person.open())
                while not over.is_set():
                    for _ in range(random.randint(1, 6)):
                        note(seen, person, person.rest(PAUSE_SECONDS / 4))
                    note(seen, person, person.move(random.randint(5, 40)))
            finally:
                person.close()
        except FAILURES as error:
            seen.lost.append((time.monotonic(), f"{type(error).__name__}: {error}"))
        over.wait(0.5)
    return seen


def note(seen: Visit, person: Person, answer: Answer) -> None:
    now = time.monotonic()
    seen.tracebacks += [(now, words) for words in answer.exceptions]
    if person.is_current:
        seen.served.append(now)


@contextmanager
def workers_killed(dashboard: Dashboard) -> Iterator[None]:
    over = threading.Event()

    def kill() -> None:
        while not over.wait(0.5):
            for one in dashboard.process.children():
                with suppress(psutil.NoSuchProcess):
                    one.kill()

    thread = threading.Thread(target=kill)
    thread.start()
    yield
    over.set()
    thread.join()


@contextmanager
def disk_full(dashboard: Dashboard) -> Iterator[None]:
    ballast = dashboard.folder / "ballast"
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass
    yield
    ballast.unlink()


@contextmanager
def read_only(dashboard: Dashboard) -> Iterator[None]:
    remount(dashboard.folder, "ro")
    yield
    remount(dashboard.folder, "rw")


@contextmanager
def no_file_handles(dashboard: Dashboard) -> Iterator[None]:
    server = dashboard.process
    before = server.rlimit(resource.RLIMIT_NOFILE)
    server.rlimit(resource.RLIMIT_NOFILE, (server.num_fds(), before[1]))
    yield
    server.rlimit(resource.RLIMIT_NOFILE, before)


FAULTS: dict[str, Callable[[Dashboard], object]] = {
    "fit workers killed": workers_killed,
    "disk full": disk_full,
    "cache folder read-only": read_only,
    "no file handles": no_file_handles,
}


def remount(folder: Path, how: str) -> None:
    # A writer that holds the file open makes a read-only remount fail; it is over in a moment.
    command = ["mount", "-o", f"remount,{how}", str(folder)]
    for _ in range(100):
        if subprocess.run(command, capture_output=True).returncode == 0:
            return
        time.sleep(0.1)
    raise OSError(f"{folder} could not be remounted")


@contextmanager
def small_disk(megabytes: int = 8) -> Iterator[Path]:
    """A file system of its own, so that it can be full and read-only."""
    with tempfile.TemporaryDirectory() as name:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", name], check=True)
        try:
            yield Path(name)
        finally:
            subprocess.run(["umount", "--lazy", name], check=True)


def stored(store: Path) -> list[str]:
    """The keys of all finished points, after the whole file was checked."""
    with open_store(store) as opened:
        opened.check_integrity()
        return [outcome.key for outcome in opened.outcomes("before")]


def verdict(name: str, visits: list[Visit], begin: float, end: float) -> bool:
    """Print what was seen of one fault; whether it was as it should be."""
    until = end + RECOVERY_SECONDS
    waited = [min((at - end for at in one.served if at >= end), default=math.inf) for one in visits]
    late = [one for one, seconds in zip(visits, waited, strict=True) if seconds > RECOVERY_SECONDS]
    tracebacks = [words for one in visits for at, words in one.tracebacks if begin <= at <= until]
    print(f"{name}: {len(visits) - len(late)} of {len(visits)} served in time, the last after ", end="")
    print(f"{max(waited):.0f} s, {len(tracebacks)} tracebacks")
    for words in dict.fromkeys(tracebacks):
        print(f"  {words}")
    for one in late:
        lost = [f"{at - end:+.0f} s {words}" for at, words in one.lost if at >= begin]
        print(f"  late on {one.page or 'explore'}; lost connections: {', '.join(lost) or 'none'}")
    return not late and not tracebacks


def report(people: int) -> bool:
    with small_disk() as folder:
        os.environ["ATNMF_STORE"] = str(folder / "sweeps.sqlite")
        with open_store(folder / "sweeps.sqlite") as store:
            run_sweep(store, "before", GRID, load_dataset("synthetic"), n_jobs=1)
        before, dashboard, over = stored(folder / "sweeps.sqlite"), Dashboard(folder), threading.Event()
        address, times = f"http://127.0.0.1:{dashboard.port}", {}
        with ThreadPoolExecutor(people) as pool:
            with serve(port=dashboard.port):
                visits = [pool.submit(visit, address, one, over) for one in range(people)]
                time.sleep(RECOVERY_SECONDS)
                for name, fault in FAULTS.items():
                    begin = time.monotonic()
                    with fault(dashboard):
                        time.sleep(FAULT_SECONDS)
                    times[name] = (begin, time.monotonic())
                    time.sleep(RECOVERY_SECONDS)
                begin = time.monotonic()
            with serve(port=dashboard.port):
                times["server restarted"] = (begin, time.monotonic())
                time.sleep(RECOVERY_SECONDS)
                over.set()
                seen = [one.result() for one in visits]
        fine = [verdict(name, seen, *when) for name, when in times.items()]
        kept = stored(folder / "sweeps.sqlite") == before
    print("nothing that was stored is lost" if kept else "the store has lost something")
    return all(fine) and kept


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="What people see of faults.")
    parser.add_argument("--people", type=int, default=25)
    sys.exit(0 if report(parser.parse_args().people) else 1)
