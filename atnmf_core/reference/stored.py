"""Cells of the paper's tables that were run again on this machine, as a store has them."""

from __future__ import annotations

from ..sweep.grid import Grid
from ..sweep.measurements import Measurement
from ..sweep.reader import StoreReader
from .protocol import PROTOCOLS
from .tables import best_of_each, is_current

__all__ = ["stored_measurements", "sweep_name"]


def sweep_name(table: str, grid: Grid) -> str:
    """The name under which a store has the run of a grid for a table."""
    return f"reproduce {table}, {grid.missing[0]}, {grid.fingerprint}"


def stored_measurements(store: StoreReader, table: str, K: int | None = None) -> tuple[Measurement, ...]:
    """What a store has for a table, of each cell the best run by the present solvers; K is the table's own
    unless another is asked for.
    """
    wanted = PROTOCOLS[table].K if K is None else K
    sweeps = [record.name for record in store.sweeps() if record.reproduces == table]
    rows = (row for sweep in reversed(sweeps) for row in store.summary(sweep))
    return best_of_each(row for row in rows if wanted == row.K and is_current(row))
