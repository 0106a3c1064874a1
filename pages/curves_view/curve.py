"""The curve on display, in one form whether it is bundled with the program or a sweep on this machine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from atnmf_core import InputError
from atnmf_core.recipe import command_line, sweep_command
from atnmf_core.reference import TITLES, measured
from atnmf_core.reference.curves import BUNDLED_GRIDS, bundled_curve
from atnmf_core.reference.protocol import PROTOCOLS
from atnmf_core.sweep import FinishedPoint, Grid, Measurement, SweepRecord
from atnmf_core.sweep.sources import is_upload_of
from pages.common.hosting import is_hosted
from pages.common.sweeps import own_sweep, reading_store

from .notes import note_of

_TABLE = "kept:table:"
BUNDLED = {
    "kept:lfw": "Bundled faces",
    "kept:synthetic": "The paper's figure: Synthetic",
    **{
        f"{_TABLE}{name}": f"Table {number}: {title}"
        for number, (name, title) in enumerate(TITLES.items(), 1)
    },
}
"""Curves that need no computing, by address: two sweeps, and the measured cells of the paper's tables."""


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve with everything that the page says about it.

    Attributes
    ----------
    rows : everything that was measured, as in its CSV file.
    provenance : how and when it was made, in words.
    note : how to read it, or empty.
    commands : command lines that reproduce it.
    grid : the grid of the sweep; None for the paper's tables, which come from several.
    record, failures : of a sweep on this machine.
    """

    name: str
    title: str
    rows: tuple[Measurement, ...]
    provenance: str
    note: str
    commands: tuple[str, ...]
    grid: Grid | None = None
    record: SweepRecord | None = None
    failures: tuple[FinishedPoint, ...] = ()

    @property
    def points(self) -> tuple[Measurement, ...]:
        """The rows that can be drawn, whose error is a number."""
        return tuple(row for row in self.rows if math.isfinite(row.mean))


def find_curve(address: str) -> Curve | None:
    """The curve that an address names; None if there is no such curve, or no longer."""
    if address in BUNDLED:
        table = address.removeprefix(_TABLE)
        return _bundled(address) if table == address else _table(table, BUNDLED[address])
    kind, _, name = address.partition(":")
    return _sweep(name) if kind == "sweep" else None


def _bundled(address: str) -> Curve:
    name = address.removeprefix("kept:")
    rows, grids = bundled_curve(name), BUNDLED_GRIDS[name]
    return Curve(
        name=name,
        title=BUNDLED[address],
        rows=rows,
        provenance=f"Bundled with the program: {_versions(rows)}",
        note=note_of(name),
        commands=tuple(sweep_command(grid, f"curve_{name}_{grid.solver}.csv") for grid in grids),
        grid=grids[0],
    )


def _table(name: str, title: str) -> Curve:
    rows = measured(name)
    return Curve(
        name=f"table-{name}",
        title=title,
        rows=rows,
        provenance=f"Bundled with the program: {_versions(rows)}, K = {PROTOCOLS[name].K}",
        note=note_of("table"),
        commands=(command_line("reproduce", name, csv=f"measured_{name}.csv"),),
    )


def _sweep(name: str) -> Curve | None:
    with reading_store() as store:
        if store is None:
            return None
        try:
            record = own_sweep(store, name)
        except InputError:
            return None
        is_upload = is_upload_of(store.path, record.grid.dataset)
        rows = tuple(store.summary(name))
        failures = tuple(store.outcomes(name, failed=True)) if record.failed else ()
    return Curve(
        name=name,
        title=name,
        rows=rows,
        provenance=f"A sweep on this machine: {_versions(rows)}" if rows else "A sweep on this machine",
        note="",
        # A server for others does not reveal where it stores uploads.
        commands=() if is_hosted() and is_upload else (sweep_command(record.grid),),
        grid=record.grid,
        record=record,
        failures=failures,
    )


def _versions(rows: Sequence[Measurement]) -> str:
    versions = " and ".join(sorted({row.version for row in rows}))
    dates = sorted({row.date for row in rows})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    starts = sorted({row.starts for row in rows})
    number = f"{starts[0]}" if len(starts) == 1 else f"{starts[0]} to {starts[-1]}"
    return f"solver version {versions}, {when}, {number} start{'' if starts == [1] else 's'} each"
