"""Sweeps of this dashboard: their store, the process that runs them, and why either cannot be used."""

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import wraps
from typing import ParamSpec

import streamlit as st

from atnmf_core import InputError
from atnmf_core.datasets import DataUnavailable
from atnmf_core.sweep import (
    Grid,
    Store,
    StoreError,
    StoreReader,
    SweepRecord,
    default_store,
    find_store,
    open_store,
)
from atnmf_core.sweep.store import Queue, default_store_path, log_file, start_queue

from .hosting import is_hosted, person, quotas
from .widgets import show_error

STORE_ERRORS = (StoreError, OSError)
"""A disk that is full or read-only, a file that is damaged or stays locked."""
STORE_POLL_SECONDS = 1.0
_REFUSAL = "sweep_refusal"
Arguments = ParamSpec("Arguments")


@contextmanager
def reading_store() -> Iterator[StoreReader | None]:
    with find_store(default_store()) or nullcontext() as store:
        yield store


@contextmanager
def showing_store_errors() -> Iterator[None]:
    try:
        yield
    except STORE_ERRORS as error:
        show_error(message_of(error), "The sweeps on this machine cannot be read.")


def message_of(error: Exception) -> str:
    """What an error says; on a server for others, without the folder of its files."""
    folder = f"{default_store_path().parent}{os.sep}"
    return str(error).replace(folder, "") if is_hosted() else str(error)


def report_errors(action: Callable[Arguments, object]) -> Callable[Arguments, None]:
    """The action as a callback of a widget; why it could not be done is shown by `show_refusal`."""

    @wraps(action)
    def callback(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        try:
            action(*args, **kwargs)
        except (*STORE_ERRORS, InputError, DataUnavailable) as error:
            st.session_state[_REFUSAL] = message_of(error)

    return callback


def show_refusal() -> None:
    if refusal := st.session_state.pop(_REFUSAL, ""):
        show_error(refusal)


def is_own(record: SweepRecord) -> bool:
    """Whether a sweep is this person's to change; on a server for this machine alone, all are."""
    return person() is None or record.owner == person()


def own_sweeps(store: StoreReader) -> list[SweepRecord]:
    """The sweeps that this person sees, the newest first; runs of the paper's tables are not among them."""
    return [record for record in store.sweeps() if record.reproduces is None and is_own(record)]


def own_sweep(store: StoreReader, name: str) -> SweepRecord:
    """A sweep that this person may see and change."""
    record = store.sweep(name)
    if not is_own(record):
        raise InputError(f"You have no sweep {name!r} on this server.")
    return record


def add_sweep(store: Store, name: str, grid: Grid, content_hash: str, **what: str) -> int:
    """Add a sweep that belongs to this person, within the quotas; `what` is passed to the store."""
    limits = quotas()
    if limits is not None:
        _check_queue(store)
        stored = len(own_sweeps(store))
        if stored >= limits.sweeps:
            raise InputError(
                f"You have as many sweeps as one person may have on this server ({stored}): delete one first."
            )
    return store.add_sweep(name, grid, content_hash, owner=person(), **what)


def _check_queue(store: StoreReader) -> None:
    limits, waiting = quotas(), len(store.queued())
    if limits is not None and waiting >= limits.queue:
        raise InputError(f"The queue of this server is full ({waiting}): try again when a sweep has ended.")


def queue_sweep(name: str) -> None:
    """Queue a stored sweep, to be run or resumed in its turn. Anybody may queue the paper's tables."""
    with open_store(default_store()) as store:
        if store.sweep(name).reproduces is None:
            own_sweep(store, name)
        if name not in store.queued():
            _check_queue(store)
        Queue(store).add(name)
    ensure_queue_runs(again=True)


def cancel_sweep(name: str) -> None:
    with open_store(default_store()) as store:
        own_sweep(store, name)
        Queue(store).cancel(name)


class _QueueProcess:
    """The process that this server has started to run the queue, if it has."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def start(self, *, again: bool) -> None:
        """Start it, unless it runs. After a failure it is started again only if somebody asks for that."""
        with self._lock:
            code = 0 if self._process is None else self._process.poll()
            if code == 0 or (code is not None and again):
                self._process = start_queue(default_store())

    @property
    def failure(self) -> int | None:
        with self._lock:
            code = None if self._process is None else self._process.poll()
        return code or None


@st.cache_resource(show_spinner=False)
def queue_process() -> _QueueProcess:
    return _QueueProcess()


def ensure_queue_runs(*, again: bool = False) -> None:
    """Make sure that a process runs the queue, for instance after the machine was switched off."""
    with reading_store() as store:
        idle = store is not None and bool(store.queued()) and store.queue_process() is None
    if idle:
        queue_process().start(again=again)


def why_queue_failed() -> str | None:
    """What stopped the process that runs the queue; None where nothing did, or another one runs it now."""
    code = queue_process().failure
    if code is None or _runs_elsewhere():
        return None
    said = log_file(default_store()).read_text(errors="replace").strip()
    if said:
        return said.splitlines()[-1].strip()
    if code < 0:
        return f"it was ended from outside, by {signal.Signals(-code).name}."
    return f"with code {code}, and could not write why; perhaps the disk is full."


def _runs_elsewhere() -> bool:
    try:
        with reading_store() as store:
            return store is not None and store.queue_process() is not None
    except STORE_ERRORS:
        return False
