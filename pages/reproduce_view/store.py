"""What was run again on this machine: put in the queue, watched and read through the store."""

from __future__ import annotations

from dataclasses import dataclass

from atnmf_core import Dataset
from atnmf_core.reference import Measured
from atnmf_core.reference.stored import belongs_to, measured_in, sweep_name
from atnmf_core.sweep import StoreError, SweepRecord, default_store, open_store, read_store
from pages.common.sweeping import keep_going, queue_sweep

from .choice import Choice

__all__ = ["Here", "look_up", "start"]

ACTIVE = ("running", "queued")


@dataclass(frozen=True)
class Here:
    """What the store says about the paper's tables.

    Attributes
    ----------
    cells : those of the chosen table that were run here.
    active : all runs that are under way or wait for their turn, of any table.
    chosen : the run of the chosen cell, with the errors of its fits that failed.
    unreadable : why the store could not be read, empty where it could.
    """

    cells: tuple[Measured, ...] = ()
    active: tuple[SweepRecord, ...] = ()
    chosen: SweepRecord | None = None
    failures: tuple[str, ...] = ()
    unreadable: str = ""


def look_up(choice: Choice) -> Here:
    """What there is in the store now."""
    try:
        return _read(choice)
    except (StoreError, OSError) as error:
        return Here(unreadable=str(error))


def _read(choice: Choice) -> Here:
    path = default_store()
    if not path.exists():
        return Here()
    keep_going()
    name = sweep_name(choice.table, choice.grid())
    with read_store(path) as store:
        records = [record for record in store.sweeps() if belongs_to(record.name)]
        chosen = next((record for record in records if record.name == name), None)
        failures = store.results(name, failed=True) if chosen is not None else ()
        return Here(
            cells=measured_in(store, choice.table),
            active=tuple(record for record in records if record.status in ACTIVE),
            chosen=chosen,
            failures=tuple(dict.fromkeys(result.error or "" for result in failures)),
        )


def start(choice: Choice, data: Dataset) -> None:
    """Put the chosen cell in the queue. Where it was finished, it is fitted again: that is what was asked."""
    grid = choice.grid()
    name = sweep_name(choice.table, grid)
    with open_store(default_store()) as store:
        sweep = store.add_sweep(name, grid, data.content_hash)
        if store.sweep(name).status == "finished":
            store.forget(sweep, only_failed=False)
    queue_sweep(name)
