"""What long commands share: options, a progress bar, and a run that can be interrupted."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from tqdm import tqdm

from ..datasets import Dataset
from ..sweep import Grid, Store, run_sweep
from ..sweep.store import default_store_path, store_from_environment
from .arguments import TakesArguments, add_options, workers

MAX_FAILURES_SHOWN = 3
"""The store has them all."""


@contextmanager
def progress_bar(label: str, shown: bool | None, unit: str = "") -> Iterator[Callable[[int, int], None]]:
    """Gives a function to call with how much is done, and of how much; `shown` None means: on a terminal.

    What is done at the first call is from an earlier run and does not count for the pace. The total may grow.
    """
    with tqdm(
        desc=label, disable=None if shown is None else not shown, unit=unit, unit_scale=bool(unit)
    ) as bar:

        def show(done: int, total: int) -> None:
            if bar.total is None:
                bar.n = bar.initial = done
            bar.total = total
            bar.update(done - bar.n)

        yield show


class Terminated(KeyboardInterrupt):
    """The process was asked to end, by `kill` or the dashboard."""


def add_running_options(parser: argparse.ArgumentParser, *, of_dashboard: bool = False) -> None:
    """--store, by default the dashboard's or one in this folder, --jobs, --dask and --progress."""
    group = parser.add_argument_group("where and how it runs")
    own = Path("atnmf-sweeps.sqlite")
    otherwise = "that of the dashboard, in the cache folder" if of_dashboard else own
    group.add_argument(
        "--store",
        type=Path,
        default=default_store_path() if of_dashboard else store_from_environment() or own,
        metavar="FILE",
        help="SQLite file in which every finished fit is stored, so that none is run twice "
        f"(default: the file that ATNMF_STORE names, else {otherwise})",
    )
    add_worker_options(group)


def add_worker_options(group: TakesArguments) -> None:
    """--jobs, --dask and --progress."""
    group.add_argument(
        "--jobs",
        type=workers,
        default=-1,
        metavar="N",
        help="worker processes, each with one BLAS thread (default: one per core)",
    )
    group.add_argument(
        "--dask",
        metavar="ADDRESS",
        default=os.environ.get("ATNMF_DASK") or None,
        help="run on the Dask cluster with this scheduler, e.g. tcp://10.0.0.1:8786 (default: ATNMF_DASK)",
    )
    add_options(group, "progress")


def run_grid(
    args: argparse.Namespace,
    store: Store,
    name: str,
    grid: Grid,
    data: Dataset,
    *,
    label: str,
    **how: Any,
) -> None:
    """Run a grid with a progress bar; Ctrl-C and SIGTERM end it cleanly and say how to resume it.

    `how` is passed to `run_sweep`.
    """
    try:
        with ended_by_signals(), progress_bar(label, args.progress) as progress:
            options = {"n_jobs": args.jobs, "dask": args.dask, **how}
            run_sweep(store, name, grid, data, progress=progress, **options)
    except KeyboardInterrupt:
        record = store.sweep(name)
        print(
            f"Stopped. {record.done} of {record.total} fits are stored in {args.store}; "
            "the same command resumes the sweep.",
            file=sys.stderr,
        )
        raise


def print_failures(store: Store, name: str) -> bool:
    """Print the first few failures of a sweep to standard error; whether there are any."""
    failures = list(store.outcomes(name, failed=True))
    for failure in failures[:MAX_FAILURES_SHOWN]:
        words = ", ".join(f"{name} {failure.identity[name]}" for name in ("alpha", "K", "method", "lam"))
        print(f"failed: {words}: {failure.error}", file=sys.stderr)
    return bool(failures)


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Ctrl-C and SIGTERM raise KeyboardInterrupt inside the block, however the process was started."""
    # Set explicitly: a process started in the background ignores Ctrl-C.
    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, signal.default_int_handler),
        signal.SIGTERM: signal.signal(signal.SIGTERM, _terminate),
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def stopped_by_ctrl_c(words: str) -> Iterator[threading.Event]:
    """The first Ctrl-C inside the block sets the event and prints the words; a second one, or SIGTERM, raises
    KeyboardInterrupt.
    """
    asked = threading.Event()

    def ask(number: int, frame: FrameType | None) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()
        print(f"\n{words}", file=sys.stderr, flush=True)

    with ended_by_signals():
        signal.signal(signal.SIGINT, ask)
        yield asked


def _terminate(number: int, frame: FrameType | None) -> None:
    raise Terminated
