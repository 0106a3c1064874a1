"""Cells of the paper's tables that were run again on this machine, as a store keeps them."""

from __future__ import annotations

from datetime import UTC, datetime

from ..sweep.grid import Grid
from ..sweep.reader import StoreReader
from .protocol import PROTOCOLS
from .tables import Measured, merged

__all__ = ["belongs_to", "cells_of", "measured_in", "stored_cells", "sweep_name"]


def sweep_name(name: str, grid: Grid) -> str:
    """Under which name a store has the run of a grid for the table `name`."""
    return f"{_beginning(name)}{grid.missing[0]}, {grid.fingerprint}"


def belongs_to(sweep: str) -> str | None:
    """The table that a sweep was run for, by its name; None where it is another sweep."""
    return next((name for name in PROTOCOLS if sweep.startswith(_beginning(name))), None)


def stored_cells(store: StoreReader, sweep: str) -> list[Measured]:
    """What one sweep has measured so far."""
    max_outer = store.sweep(sweep).grid.max_outer
    return [
        Measured(
            alpha=row.alpha,
            method=row.method,
            lam=row.lam,
            K=row.K,
            missing=row.missing,
            solver=row.solver,
            dtype=row.dtype,
            mean=row.rmse_hidden,
            deviation=row.rmse_hidden_sd,
            starts=row.starts,
            max_outer=max_outer,
            seconds=row.seconds,
            version=row.version,
            date=datetime.fromtimestamp(row.finished, UTC).date().isoformat(),
        )
        for row in store.summary(sweep)
    ]


def measured_in(store: StoreReader, name: str) -> tuple[Measured, ...]:
    """All cells of the table `name` in a store, each by its best run; those of another K do not belong."""
    return merged((), (cell for cell in cells_of(store, name) if cell.K == PROTOCOLS[name].K))


def cells_of(store: StoreReader, name: str) -> list[Measured]:
    """What every sweep of the table `name` has measured so far, the oldest first."""
    sweeps = [record.name for record in store.sweeps() if belongs_to(record.name) == name]
    return [cell for sweep in reversed(sweeps) for cell in stored_cells(store, sweep)]


def _beginning(name: str) -> str:
    return f"reproduce {name}, "
