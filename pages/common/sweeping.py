"""Sweeps of this dashboard: put in the queue, worked off by a process that outlives the server, and ended."""

from __future__ import annotations

import subprocess
import threading

import streamlit as st

from atnmf_core.sweep import default_store, open_store
from atnmf_core.sweep.queue import Queue, log_file, start_queue, stop

from .sweep_store import reading_store

__all__ = ["cancel_sweep", "keep_going", "queue_sweep", "trouble"]


class _Worker:
    """The process that this server has started to work the queue off, if it has."""

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
    def broke_down(self) -> bool:
        with self._lock:
            return self._process is not None and self._process.poll() not in (None, 0)


@st.cache_resource(show_spinner=False)
def _worker() -> _Worker:
    return _Worker()


def queue_sweep(name: str) -> None:
    """Let a sweep that is in the store be run, or gone on with, when its turn comes."""
    with open_store(default_store()) as store:
        Queue(store).add(name)
    keep_going(again=True)


def cancel_sweep(name: str) -> None:
    """End a sweep, or take it out of the queue; what it has finished is kept."""
    with open_store(default_store()) as store:
        queued, is_worked_off = name in store.queued(), store.is_worked_off()
        Queue(store).remove(name)
        if not (queued and is_worked_off):
            # Nobody else sees to it: it was started at the command line, or whoever started it is gone.
            stop(store.sweep(name))


def keep_going(*, again: bool = False) -> None:
    """See to it that somebody works the queue off, for instance after the machine was switched off."""
    with reading_store() as store:
        idle = store is not None and bool(store.queued()) and not store.is_worked_off()
    if idle:
        _worker().start(again=again)


def trouble() -> str | None:
    """What stopped the process that works the queue off; None where nothing did."""
    if not _worker().broke_down:
        return None
    said = [
        line for line in log_file(default_store()).read_text(errors="replace").splitlines() if line.strip()
    ]
    return said[-1].strip() if said else "it was ended from outside."
