"""Sweeps of this dashboard: queued, run by a process that outlives the server, and ended."""

from __future__ import annotations

import signal
import subprocess
import threading

import streamlit as st

from atnmf_core.sweep import default_store, open_store
from atnmf_core.sweep.queue import Queue, log_file, start_queue

from .sweep_store import reading_store

__all__ = ["cancel_sweep", "keep_going", "queue_process", "queue_sweep", "trouble"]


class _QueueProcess:
    """The process that this server has started to run the queue, if it has."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def start(self, *, again: bool) -> None:
        """Start it, unless it runs. One that broke down is started again only where somebody asks for it."""
        with self._lock:
            code = 0 if self._process is None else self._process.poll()
            if code == 0 or (code is not None and again):
                self._process = start_queue(default_store())

    @property
    def failure(self) -> int | None:
        """The code with which it broke down; None where it did not."""
        with self._lock:
            code = None if self._process is None else self._process.poll()
        return code or None


@st.cache_resource(show_spinner=False)
def queue_process() -> _QueueProcess:
    """One for all sessions of this server."""
    return _QueueProcess()


def queue_sweep(name: str) -> None:
    """Let a sweep that is in the store be run, or resumed, when its turn comes."""
    with open_store(default_store()) as store:
        Queue(store).add(name)
    keep_going(again=True)


def cancel_sweep(name: str) -> None:
    """End a sweep, or take it out of the queue; its finished fits stay stored."""
    with open_store(default_store()) as store:
        Queue(store).cancel(name)


def keep_going(*, again: bool = False) -> None:
    """Make sure that a process runs the queue, for instance after the machine was switched off."""
    with reading_store() as store:
        idle = store is not None and bool(store.queued()) and store.queue_process() is None
    if idle:
        queue_process().start(again=again)


def trouble() -> str | None:
    """What stopped the process that runs the queue; None where nothing did."""
    code = queue_process().failure
    if code is None:
        return None
    log = log_file(default_store())
    said = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    if said:
        return said[-1].strip()
    if code < 0:
        return f"it was ended from outside, by {signal.Signals(-code).name}."
    return f"with code {code}, and could not write why; perhaps the disk is full."
