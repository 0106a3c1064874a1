"""What the commands that run many fits have in common: their options, and a run that can be interrupted."""

from __future__ import annotations

import argparse
import os
import signal
from pathlib import Path
from types import FrameType

from ..datasets import Dataset
from ..sweep import Grid, Store, run_sweep
from .progress import ProgressLine

__all__ = ["Terminated", "add_running_options", "run_grid"]

DEFAULT_STORE = Path("atnmf-sweeps.sqlite")


class Terminated(KeyboardInterrupt):
    """The process was asked to end, as `kill` and the dashboard ask."""


def add_running_options(parser: argparse.ArgumentParser) -> None:
    """--store, --jobs, --dask and --progress."""
    group = parser.add_argument_group("where and how it runs")
    group.add_argument(
        "--store",
        type=Path,
        default=DEFAULT_STORE,
        metavar="FILE",
        help="SQLite file that keeps every finished fit; a fit that is in it is never run again (default: %(default)s)",
    )
    group.add_argument(
        "--jobs",
        type=_jobs,
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
    group.add_argument(
        "--progress",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="show how far it is, on standard error (default: on a terminal)",
    )


def run_grid(
    args: argparse.Namespace,
    store: Store,
    name: str,
    grid: Grid,
    data: Dataset,
    *,
    label: str,
    retry_failed: bool = False,
) -> None:
    """Run a grid with a progress line; SIGTERM ends it as cleanly as Ctrl-C does."""
    line = ProgressLine(label, shown=args.progress)
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        run_sweep(
            store,
            name,
            grid,
            data,
            n_jobs=args.jobs,
            dask=args.dask,
            retry_failed=retry_failed,
            progress=line,
        )
    finally:
        signal.signal(signal.SIGTERM, before)
        line.close()


def _terminate(number: int, frame: FrameType | None) -> None:
    raise Terminated


def _jobs(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of processes: write 1, 2, ...")
    return number
