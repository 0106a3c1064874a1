"""`python -m atnmf_core queue`: run the sweeps that wait in a store, one after the other."""

from __future__ import annotations

import _thread
import argparse
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..datasets import DataUnavailable, UnreadableData
from ..problem import InputError
from ..sweep import EngineError, NoStoreError, Store, StoreError, load_source, open_store, run_sweep
from ..sweep.processes import lower_priority
from ..sweep.queue import Queue
from .arguments import Subparsers
from .running import Terminated, add_running_options, ended_by_signals

POLL = 0.25
"""Seconds between checks whether the running sweep was taken out of the queue."""


def add_parser(subparsers: Subparsers) -> None:
    """Add `queue` to the command line."""
    parser = subparsers.add_parser(
        "queue",
        help="run the sweeps that wait in a store",
        description="Run the sweeps in a store's queue, as the dashboard does, one after the other, until "
        "none waits. Ends at once where another process already does so.",
    )
    parser.set_defaults(run=run)
    add_running_options(parser, of_dashboard=True)


def run(args: argparse.Namespace) -> int:
    """Run the queue until it is empty."""
    if not args.store.is_file():
        raise NoStoreError(f"{args.store}: there is no store here.")
    with open_store(args.store) as store:
        queue = Queue(store)
        if not queue.take_over():
            return 0
        # The people at this machine, and the dashboard itself, come first.
        lower_priority()
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
        # Nothing can be stored, so no other sweep could run either.
        raise
    except Exception:
        # A bug: the other sweeps must not wait for this one forever.
        queue.remove(name)
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
        # The record of the run says why.
        return
    except (InputError, DataUnavailable, UnreadableData, OSError, MemoryError) as error:
        store.note_failure(name, " ".join(str(error).split()) or type(error).__name__)


@contextmanager
def _interrupted_when(condition: Callable[[], bool], interrupted: threading.Event) -> Iterator[None]:
    """Raise KeyboardInterrupt inside the block, in the main thread, as soon as the condition holds, and set
    the event.
    """
    over = threading.Event()

    def watch() -> None:
        while not over.wait(POLL):
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
