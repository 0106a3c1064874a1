"""`sweep`: many fits, stored, and the curve that they make; `queue`: the sweeps that wait in a store."""

import _thread
import argparse
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from ..datasets import Dataset, DataUnavailable, UnreadableData
from ..figures.error_curves import against_lambda
from ..figures.publish import FORMATS, chart_page, look_of, save_chart
from ..jobs.processes import lower_priority
from ..jobs.whole_files import write_whole
from ..model.problem import InputError
from ..recipe import SWEEP_OPTIONS
from ..sweep import (
    EngineError,
    Grid,
    Measurement,
    NoStoreError,
    Store,
    StoreError,
    SweepRecord,
    load_source,
    open_store,
    read_store,
    run_sweep,
)
from ..sweep.measurements import csv_text
from ..sweep.store import Queue
from .arguments import (
    FITTING,
    Subparsers,
    Terminated,
    add_options,
    add_running_options,
    ended_by_signals,
    given,
    input_file,
    lambdas,
    output_file,
    print_failures,
    run_grid,
)

EXAMPLE = """\
examples:
  python -m atnmf_core sweep --data lfw --K 25 --alpha 0.3 --lam 1.05:100:16 --out curve.csv --plot curve.html
  python -m atnmf_core sweep --data lfw --K 25 --alpha 0.3 0.5 --lam 2 5 --write-grid grid.json
  python -m atnmf_core sweep --grid grid.json
"""


def add_parser(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "queue",
        help="run the sweeps that wait in a store",
        description="Run the sweeps in a store's queue, as the dashboard does, one after the other, until "
        "none waits. Ends at once where another process already does so.",
    )
    parser.set_defaults(run=run_queue)
    add_running_options(parser, of_dashboard=True)
    parser = subparsers.add_parser(
        "sweep",
        help="fit all combinations of parameters and store the results",
        description="Fit all combinations of the given values, on all cores or on a cluster. Every result is "
        "stored at once, so a sweep that was stopped, for whatever reason, resumes where it was.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)
    _add_grid_options(parser)
    results = parser.add_argument_group("results")
    results.add_argument(
        "--name",
        help="the sweep's name in the store (default: data and a number from the settings); without a grid: "
        "resume the sweep of that name",
    )
    results.add_argument("--out", type=output_file, metavar="FILE.csv", help="write means and spreads as CSV")
    results.add_argument(
        "--plot",
        type=output_file,
        metavar="FILE.html",
        help="write RMSE against lambda as a page (or FILE.svg, FILE.pdf, FILE.png)",
    )
    results.add_argument(
        "--write-grid", type=output_file, metavar="FILE.json", help="write the grid and run nothing"
    )
    add_running_options(parser)
    parser.add_argument(
        "--resume",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="fit only what the store lacks (default); --no-resume fits all points of the sweep again",
    )
    parser.add_argument("--retry-failed", action="store_true", help="fit again what failed in an earlier run")


def _add_grid_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the grid")
    group.add_argument(
        "--grid", type=input_file, metavar="FILE.json", help="a grid as JSON; other options change it"
    )
    add_options(group, "data", "masks", "mask_seed", "pattern", *FITTING)
    add_options(group, "alpha", "K", "missing", nargs="+")
    group.add_argument(
        "--lam",
        type=lambdas,
        nargs="+",
        metavar="L",
        help="prices of the adversary; 1.05:100:16 is 16 of them in equal steps of log(lam - 1)",
    )
    group.add_argument("--methods", nargs="+", choices=["nmf", "atnmf", "anmf"], help="default: nmf atnmf")
    group.add_argument("--starts", type=int, metavar="N", help="starts of each combination")


def run(args: argparse.Namespace) -> int:
    """Run the grid, then print and write the curve; 1 where points failed."""
    grid = _grid(args) or _grid_of_name(args)
    if args.write_grid:
        write_whole(args.write_grid, grid.as_json() + "\n")
        return 0
    name = args.name or f"{Path(grid.dataset).stem} {grid.fingerprint}"
    data = _data(grid.dataset)
    again: Literal["failed", "all"] | None = "failed" if args.retry_failed else None
    if not args.resume:
        again = "all"
    with open_store(args.store) as store:
        run_grid(args, store, name, grid, data, label=name, again=again)
        record, rows = store.sweep(name), store.summary(name)
        failed = print_failures(store, name)
    if args.out:
        write_whole(args.out, csv_text(rows))
    if args.plot:
        chart = against_lambda(rows)
        drawn = args.plot.suffix.lower().removeprefix(".") in FORMATS
        page = save_chart(chart, look_of(args.plot)) if drawn else chart_page(chart, data.title)
        write_whole(args.plot, page)
    print(_report(record, rows, args.store))
    return 1 if failed else 0


def _data(source: str) -> Dataset:
    """The grid's data. A grid does not say how to read a file, so the file may have to be converted."""
    try:
        return load_source(source)
    except UnreadableData as error:
        raise UnreadableData(
            f"{error.message} `data convert` takes options for such files and writes one for `sweep`.",
            error.remedies,
        ) from error


def _grid_of_name(args: argparse.Namespace) -> Grid:
    if not args.name:
        raise InputError(
            "nothing to sweep: give --data, --alpha, --K and --lam, a --grid file, or the --name of a sweep "
            "that the store has."
        )
    with read_store(args.store) as store:
        return store.sweep(args.name).grid


def _grid(args: argparse.Namespace) -> Grid | None:
    """The grid of the JSON file, if there is one, changed by the given options; None without either."""
    changes = {SWEEP_OPTIONS[option]: value for option, value in given(args, *SWEEP_OPTIONS).items()}
    if "lams" in changes:
        changes["lams"] = [lam for some in changes["lams"] for lam in some]
    if not changes and args.grid is None:
        return None
    return Grid.from_json(args.grid.read_bytes() if args.grid else "{}", **changes)


def _report(record: SweepRecord, rows: list[Measurement], store: Path) -> str:
    head = ("alpha", "K", "hidden", "method", "lambda", "RMSE hidden", "±", "starts")
    table = [head, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in table) for column in range(len(head))]
    lines = ["  ".join(f"{cell:>{wide}}" for cell, wide in zip(line, widths, strict=True)) for line in table]
    failed = f", {record.failed} failed" if record.failed else ""
    lines.append(f"Sweep '{record.name}': {record.done} of {record.total} fits in {store}{failed}.")
    return "\n".join(lines)


def _cells(row: Measurement) -> tuple[str, ...]:
    lam = "" if row.lam is None else f"{row.lam:g}"
    spread = "" if row.deviation is None else f"{row.deviation:.2g}"
    mean = f"{row.mean:.5g}"
    return f"{row.alpha:g}", str(row.K), row.missing, row.method, lam, mean, spread, str(row.starts)


QUEUE_POLL_SECONDS = 0.25  # Whether the running sweep was taken out of the queue


def run_queue(args: argparse.Namespace) -> int:
    if not args.store.is_file():
        raise NoStoreError(f"{args.store}: there is no store here.")
    with open_store(args.store) as store:
        queue = Queue(store)
        if not queue.take_over():
            return 0
        lower_priority()  # The people at this machine, and the dashboard itself, come first
        try:
            with ended_by_signals():
                while (name := queue.next()) is not None:
                    _run_turn(args, store, queue, name)
        finally:
            queue.leave()
    return 0


def _run_turn(args: argparse.Namespace, store: Store, queue: Queue, name: str) -> None:
    """Run a sweep and take it out of the queue; if this process is interrupted, the sweep stays in."""
    cancelled = threading.Event()
    try:
        with _interrupted_when(lambda: name not in store.queued(), cancelled):
            _run_sweep(args, store, name)
    except KeyboardInterrupt as error:
        if isinstance(error, Terminated) or not cancelled.is_set():
            raise
        return
    except StoreError:
        raise  # Nothing can be stored, so no other sweep could run either
    except Exception:
        queue.remove(name)  # A bug: the other sweeps must not wait for this one forever
        raise
    queue.remove(name)


def _run_sweep(args: argparse.Namespace, store: Store, name: str) -> None:
    record = store.sweep(name)
    if record.status == "finished":
        return
    try:
        data = load_source(record.grid.dataset)
        run_sweep(store, name, record.grid, data, n_jobs=args.jobs, dask=args.dask)
    except EngineError:
        pass  # The record of the run says why.
    except (InputError, DataUnavailable, UnreadableData, OSError, MemoryError) as error:
        store.note_failure(name, " ".join(str(error).split()) or type(error).__name__)


@contextmanager
def _interrupted_when(condition: Callable[[], bool], interrupted: threading.Event) -> Iterator[None]:
    """Raise KeyboardInterrupt inside the block, and set the event, as soon as the condition holds."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(QUEUE_POLL_SECONDS):
            if condition():
                interrupted.set()
                _thread.interrupt_main()
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
