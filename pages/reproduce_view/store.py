"""What was run again on this machine, as the store has it."""

from __future__ import annotations

from dataclasses import dataclass

from atnmf_core.reference.stored import stored_measurements, sweep_name
from atnmf_core.sweep import Measurement, SweepRecord
from pages.common.sweeps import STORE_ERRORS, keep_going, reading_store

from .choice import Choice

__all__ = ["StoredRuns", "read_runs"]


@dataclass(frozen=True)
class StoredRuns:
    """What the store says about the paper's tables.

    Attributes
    ----------
    rows : measurements of the chosen table that were made here.
    active : all runs that are under way or wait for their turn, of any table.
    chosen : the run of the chosen cell.
    failures : the errors of its fits that failed, each once.
    unreadable : why the store could not be read, empty where it could.
    """

    rows: tuple[Measurement, ...] = ()
    active: tuple[SweepRecord, ...] = ()
    chosen: SweepRecord | None = None
    failures: tuple[str, ...] = ()
    unreadable: str = ""


def read_runs(choice: Choice) -> StoredRuns:
    """What the store has now."""
    try:
        return _read(choice)
    except STORE_ERRORS as error:
        return StoredRuns(unreadable=str(error))


def _read(choice: Choice) -> StoredRuns:
    keep_going()
    name = sweep_name(choice.table, choice.grid())
    with reading_store() as store:
        if store is None:
            return StoredRuns()
        records = [record for record in store.sweeps() if record.reproduces]
        chosen = next((record for record in records if record.name == name), None)
        failures = store.outcomes(name, failed=True) if chosen is not None else ()
        return StoredRuns(
            rows=stored_measurements(store, choice.table),
            active=tuple(record for record in records if record.is_under_way),
            chosen=chosen,
            failures=tuple(dict.fromkeys(result.error or "" for result in failures)),
        )
