"""Cells of the paper's tables that were rerun on this machine, from a store."""

from __future__ import annotations

from ..sweep.grid import Grid
from ..sweep.measurements import Measurement
from ..sweep.reader import StoreReader
from .protocol import PROTOCOLS
from .tables import best_of_each, is_current


def sweep_name(table: str, grid: Grid) -> str:
    """The name of the sweep that runs a grid for a table."""
    return f"reproduce {table}, {grid.missing[0]}, {grid.fingerprint}"


def stored_measurements(store: StoreReader, table: str, K: int | None = None) -> tuple[Measurement, ...]:
    """The best stored run of each cell of a table by the current solvers, with the table's own K unless
    another is given.
    """
    wanted = PROTOCOLS[table].K if K is None else K
    sweeps = [record.name for record in store.sweeps() if record.reproduces == table]
    rows = (row for sweep in reversed(sweeps) for row in store.summary(sweep))
    return best_of_each(row for row in rows if wanted == row.K and is_current(row))
