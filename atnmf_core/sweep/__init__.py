"""Many fits at once: a grid as plain data, an engine that runs it, and a store that keeps the results."""

from .engine import run_sweep
from .grid import Grid, Point
from .reader import StoreReader, read_store
from .records import EngineError, Measures, Result, Summary, SweepRecord, Tally
from .sources import load_source, save_dataset
from .store import Store, StoreError, open_store

__all__ = [
    "EngineError",
    "Grid",
    "Measures",
    "Point",
    "Result",
    "Store",
    "StoreError",
    "StoreReader",
    "Summary",
    "SweepRecord",
    "Tally",
    "load_source",
    "open_store",
    "read_store",
    "run_sweep",
    "save_dataset",
]
