"""Many fits at once: a grid as plain data, an engine that runs it, and a store that keeps the results."""

from .engine import run_sweep
from .grid import Grid, Point, expected_sweep_seconds, lambda_series
from .measurements import Measurement
from .reader import StoreReader, read_store
from .records import EngineError, Measures, Result, SweepRecord, Tally
from .sources import load_source, save_dataset, save_upload, upload_path
from .store import MAX_NAME_LENGTH, Store, StoreError, default_store, open_store

__all__ = [
    "MAX_NAME_LENGTH",
    "EngineError",
    "Grid",
    "Measurement",
    "Measures",
    "Point",
    "Result",
    "Store",
    "StoreError",
    "StoreReader",
    "SweepRecord",
    "Tally",
    "default_store",
    "expected_sweep_seconds",
    "lambda_series",
    "load_source",
    "open_store",
    "read_store",
    "run_sweep",
    "save_dataset",
    "save_upload",
    "upload_path",
]
