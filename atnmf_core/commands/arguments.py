"""The options that several commands share, and how they are parsed."""

import argparse
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

import numpy as np
from tqdm import tqdm

from ..datasets import NORMALISATIONS, Dataset, ReadingOptions, UnreadableData
from ..datasets.files.sources import option_text, parse_image_shape
from ..model.hiding import PATTERNS
from ..sweep import Grid, Store, run_sweep
from ..sweep.grid import lambda_series
from ..sweep.store import default_store_path, store_from_environment

OPTIONS: dict[str, dict[str, Any]] = {
    "data": {"metavar": "NAME|FILE", "help": "a data set by name (see `data list`) or a file"},
    "alpha": {"type": float, "metavar": "A", "help": "share of entries to hide"},
    "masks": {"choices": ["seeded", "paper"], "help": "paper: the authors' own masks of their data"},
    "mask_seed": {"type": int, "metavar": "S", "help": "of the hidden entries (default: 0)"},
    "pattern": {"choices": [*PATTERNS], "help": "what shape the hidden entries have (default: entries)"},
    "K": {"type": int, "help": "number of parts"},
    "missing": {
        "choices": ["ignore", "zero"],
        "help": "hidden entries: marked and left out (ignore), or unmarked and taken for zeros (zero)",
    },
    "solver": {"choices": ["fast", "paper"], "help": "default: fast"},
    "seed": {"type": int, "metavar": "S", "help": "of the first start (default: 0)"},
    "dtype": {"choices": ["float32", "float64"], "help": "default: float32"},
    "max_outer": {"type": int, "metavar": "N", "help": "maximum number of outer iterations"},
    "max_inner": {"type": int, "metavar": "N", "help": "maximum number of inner iterations or sweeps"},
    "tol_inner": {"type": float, "metavar": "T", "help": "threshold of the inner stopping rule"},
    "tol_outer": {"type": float, "metavar": "T", "help": "threshold of the outer stopping rule"},
    "progress": {
        "action": argparse.BooleanOptionalAction,
        "help": "show the progress, on standard error (default: on a terminal)",
    },
}
FITTING = ("solver", "seed", "dtype", "max_outer", "max_inner", "tol_inner", "tol_outer")
"""Those that mean the same to `factorize` and to a `Grid`."""


class TakesArguments(Protocol):
    """A parser or a group of its arguments; argparse has no public name for both."""

    def add_argument(self, *names: str, **options: Any) -> argparse.Action: ...


class Subparsers(Protocol):
    """What `ArgumentParser.add_subparsers` returns; argparse has no public name for it either."""

    def add_parser(self, name: str, **options: Any) -> argparse.ArgumentParser: ...


def add_options(parser: TakesArguments, *names: str, **changes: Any) -> None:
    for name in names:
        parser.add_argument(f"--{name.replace('_', '-')}", **OPTIONS[name] | changes)


def given(args: argparse.Namespace, *names: str) -> dict[str, Any]:
    return {name: value for name in names if (value := getattr(args, name)) is not None}


def lambdas(text: str) -> tuple[float, ...]:
    """One number above 1, or FIRST:LAST:COUNT for a rounded series in equal steps of log(lambda - 1).

    >>> lambdas("2"), lambdas("1.5:9:5")
    ((2.0,), (1.5, 2.0, 3.0, 5.0, 9.0))
    """
    first, *rest = text.split(":")
    try:
        low, high, count = float(first), float(rest[0] if rest else first), int(rest[1] if rest else 1)
    except (ValueError, IndexError):
        low, high, count = 0.0, 0.0, 0
    if len(rest) > 2 or not (1 < low < np.inf and 1 < high < np.inf) or count < min(2, len(rest) + 1):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a lambda: write a number above 1, or FIRST:LAST:COUNT such as 1.05:100:16"
        )
    if not rest:
        return (low,)
    return lambda_series(low, high, count)


def numbers_of_parts(text: str) -> int | tuple[int, ...]:
    """A number of parts, or several: FIRST:LAST for all between, or separated by commas.

    >>> numbers_of_parts("5"), numbers_of_parts("3:6"), numbers_of_parts("4,8,16")
    (5, (3, 4, 5, 6), (4, 8, 16))
    """
    numbers = tuple(int(word) if word.isdecimal() else 0 for word in text.replace(":", ",").split(","))
    if ":" in text and "," not in text and len(numbers) == 2 and min(numbers) > 0:
        numbers = tuple(range(numbers[0], numbers[1] + 1)) or (0,)
    elif ":" in text or min(numbers) < 1:
        numbers = (0,)
    if numbers[0] < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of parts: write 5, 3:12 or 4,8,16")
    return numbers[0] if len(numbers) == 1 and ":" not in text else numbers


def workers(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes: write 1, 2, ...")
    return int(text)


def input_file(text: str) -> Path:
    path = Path(text)
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"there is no file {text!r}")
    return path


def output_file(text: str) -> Path:
    """A file to be written at the end, perhaps hours later: its folder must exist at the start."""
    path = Path(text)
    if path.is_dir() or not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} cannot be written: its folder is not there, or it is one")
    return path


MAX_FAILURES_SHOWN = 3  # The store has them all


@contextmanager
def progress_bar(label: str, shown: bool | None, unit: str = "") -> Iterator[Callable[[int, int], None]]:
    """Yields show(done, total); what is done at the first call does not count for the pace."""
    hidden = None if shown is None else not shown
    with tqdm(desc=label, disable=hidden, unit=unit, unit_scale=bool(unit)) as bar:

        def show(done: int, total: int) -> None:
            if bar.total is None:
                bar.n = bar.initial = done
            bar.total = total
            bar.update(done - bar.n)

        yield show


class Terminated(KeyboardInterrupt):
    """The process was asked to end, by `kill` or the dashboard."""


def add_running_options(parser: argparse.ArgumentParser, *, of_dashboard: bool = False) -> None:
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
    args: argparse.Namespace, store: Store, name: str, grid: Grid, data: Dataset, *, label: str, **how: Any
) -> None:
    """Run a grid with a progress bar; signals end it cleanly. `how` is passed to `run_sweep`."""
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
    """The first Ctrl-C sets the event and prints the words; another, or SIGTERM, interrupts."""
    asked = threading.Event()

    def ask(number: int, frame: FrameType | None) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()
        # Past sys.stderr, which the progress bar may be writing to at this very moment.
        os.write(2, f"\n{words}\n".encode())

    with ended_by_signals():
        signal.signal(signal.SIGINT, ask)
        yield asked


def _terminate(number: int, frame: FrameType | None) -> None:
    raise Terminated


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how a file is read")
    group.add_argument("--variable", metavar="NAME", help="which array of the file is meant")
    group.add_argument("--kind", choices=["faces", "cube", "matrix"])
    group.add_argument(
        "--image-shape",
        type=_image_shape,
        metavar="ROWSxCOLS",
        help="for arrays that have all pixels on one axis, for example 50x40",
    )
    group.add_argument("--order", choices=["F", "C"], help="pixels column by column (F) or row by row (C)")
    group.add_argument("--bands-axis", type=int, metavar="AXIS", help="which axis has the bands: 0, 1 or 2")
    group.add_argument(
        "--nodata",
        type=float,
        action="append",
        metavar="X",
        help="a number in the file that means missing; may be repeated",
    )
    group.add_argument(
        "--saturated", type=float, metavar="X", help="values from here up are saturated and read as missing"
    )
    group.add_argument(
        "--negative",
        choices=["refuse", "zero", "missing", "keep"],
        help="what to do with entries below 0; only `restore` takes them if kept (default: refuse)",
    )
    group.add_argument("--normalisation", choices=tuple(NORMALISATIONS), help="default: none")


def reading(args: argparse.Namespace) -> dict[str, Any]:
    names = [field.name for field in fields(ReadingOptions) if hasattr(args, field.name)]
    options = given(args, *names)
    return options | {"nodata": tuple(options["nodata"])} if "nodata" in options else options


def print_notes(data: Dataset) -> None:
    """Say on standard error what the reader decided, so that a wrong guess is noticed."""
    for note in data.notes:
        print(f"{data.name}: {note}", file=sys.stderr)


def why_unreadable(error: UnreadableData) -> str:
    return error.explained(lambda remedy: option_text(remedy.setting, remedy.value))


def _image_shape(text: str) -> tuple[int, int]:
    try:
        return parse_image_shape(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
