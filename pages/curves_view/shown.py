"""The curve that is looked at, in one form: one that comes with the program, or a sweep of this machine."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from atnmf_core.curves import CurvePoint, csv_text, from_summary

from atnmf_core.commands.sweep import command_line
from atnmf_core.reference import measured, write_measured
from atnmf_core.reference.curves import KEPT_GRIDS, kept_curve, kept_text
from atnmf_core.reference.protocol import PROTOCOLS
from atnmf_core.reference.tables import Measured
from atnmf_core.sweep import Grid, Result, SweepRecord, default_store, read_store

from .notes import NOTES

__all__ = ["FIRST", "KEPT", "Shown", "find"]

FIRST = "lfw"
KEPT = {
    "lfw": "Bundled faces",
    "synthetic": "The paper's figure: Synthetic",
    "table:synthetic": "Table 1: Synthetic",
    "table:cbcl": "Table 2: CBCL",
    "table:moffet": "Table 3: Moffett",
    "table:madonna": "Table 4: Madonna",
}
"""Curves that are there at once: two sweeps, and the measured cells of the paper's tables."""


@dataclass(frozen=True, eq=False)
class Shown:
    """A curve with all that the page says about it.

    Attributes
    ----------
    made : by what and when, in words.
    note : what to make of it, empty where there is nothing to say.
    commands : command lines that make it again.
    csv : its numbers as a text, made when somebody asks.
    grid : of which it is the result; None for the paper's tables, which are made of several.
    record, failures : where it is a sweep of this machine.
    """

    name: str
    title: str
    points: tuple[CurvePoint, ...]
    made: str
    note: str
    commands: tuple[str, ...]
    csv: Callable[[], str]
    grid: Grid | None = None
    record: SweepRecord | None = None
    failures: tuple[Result, ...] = ()

    @property
    def is_under_way(self) -> bool:
        return self.record is not None and self.record.status in ("running", "queued")


def find(show: str) -> Shown | None:
    """The curve that an address names; None where there is no such curve (any more)."""
    kind, _, name = show.partition(":")
    if kind == "kept" and name in KEPT:
        return _table(name.partition(":")[2]) if name.startswith("table:") else _kept(name)
    return _sweep(name) if kind == "sweep" else None


def _kept(name: str) -> Shown:
    points, grids = kept_curve(name), KEPT_GRIDS[name]
    return Shown(
        name=name,
        title=KEPT[name],
        points=points,
        made=f"Comes with the program: {_versions(points)}",
        note=NOTES[name],
        commands=tuple(command_line(grid, f"curve_{name}_{grid.solver}.csv") for grid in grids),
        csv=lambda: _joined(kept_text(name)),
        grid=grids[0],
    )


def _table(name: str) -> Shown:
    cells = measured(name)
    points = tuple(_point(cell) for cell in cells)
    return Shown(
        name=f"table-{name}",
        title=KEPT[f"table:{name}"],
        points=points,
        made=f"Comes with the program: {_versions(points)}, K = {PROTOCOLS[name].K}",
        note=NOTES["table"],
        commands=(f"python -m atnmf_core reproduce {name} --csv measured_{name}.csv",),
        csv=lambda: _measured_csv(cells),
    )


def _sweep(name: str) -> Shown | None:
    if not default_store().exists():
        return None
    with read_store(default_store()) as store:
        record = next((record for record in store.sweeps() if record.name == name), None)
        if record is None:
            return None
        rows = store.summary(name)
        failures = tuple(store.results(name, failed=True)) if record.failed else ()
    points = from_summary(rows)
    return Shown(
        name=name,
        title=name,
        points=points,
        made=f"A sweep of this machine: {_versions(points)}" if points else "A sweep of this machine",
        note="",
        commands=(command_line(record.grid),),
        csv=lambda: csv_text(rows),
        grid=record.grid,
        record=record,
        failures=failures,
    )


def _point(cell: Measured) -> CurvePoint:
    return CurvePoint(
        alpha=cell.alpha,
        K=cell.K,
        method=cell.method,
        lam=cell.lam,
        missing=cell.missing,
        solver=cell.solver,
        starts=cell.starts,
        mean=cell.mean,
        deviation=cell.deviation,
        version=cell.version,
        date=cell.date,
    )


def _versions(points: Sequence[CurvePoint]) -> str:
    versions = " and ".join(sorted({point.version for point in points}))
    dates = sorted({point.date for point in points})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    starts = sorted({point.starts for point in points})
    number = f"{starts[0]}" if len(starts) == 1 else f"{starts[0]} to {starts[-1]}"
    return f"solver version {versions}, {when}, {number} start{'' if starts == [1] else 's'} each"


def _measured_csv(cells: Sequence[Measured]) -> str:
    file = io.StringIO()
    write_measured(cells, file)
    return file.getvalue()


def _joined(texts: Sequence[str]) -> str:
    """Tables of one form as one table."""
    first, *rest = texts
    return first + "".join(text.partition("\n")[2] for text in rest)
