"""Many fits at once: a grid as plain data, an engine that runs it, and a store for the results."""

from ..datasets.catalogue import is_saved_dataset, load_source, save_dataset, save_upload, upload_path
from ..jobs.processes import EngineError
from .grid import Grid, Measures, Point, expected_sweep_seconds, lambda_series, paper_start
from .measurements import FinishedPoint, Measurement
from .reader import NoStoreError, StoreError, StoreReader, SweepRecord, find_store, read_store
from .store import MAX_NAME_LENGTH, Store, default_store, open_store, run_sweep

__all__ = [
    "MAX_NAME_LENGTH", "EngineError", "FinishedPoint", "Grid", "Measurement", "Measures",
    "NoStoreError", "Point", "Store", "StoreError", "StoreReader", "SweepRecord", "default_store",
    "expected_sweep_seconds", "find_store", "is_saved_dataset", "lambda_series", "load_source",
    "open_store", "paper_start", "read_store", "run_sweep", "save_dataset", "save_upload",
    "upload_path",
]  # fmt: skip
