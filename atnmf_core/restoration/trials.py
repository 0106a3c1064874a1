"""Trials of a choice that are stored on disk, so that an interrupted choice is soon where it was."""

from __future__ import annotations

from pathlib import Path

import joblib

from ..factorization import SOLVER_VERSIONS
from .path import MapTrials
from .workers import trials_on_workers

MAX_BYTES = 500_000_000
VERSION = 6
"""Changes whenever the records that a trial gives do, for another reason than the solver."""


def stored_trials(folder: Path, n_jobs: int = -1) -> MapTrials:
    """As `trials_on_workers`; a trial that is in the folder is read from it.

    joblib's Memory knows a trial by the contents of the arrays and of the trial.
    """
    memory = joblib.Memory(folder / f"{VERSION}-{SOLVER_VERSIONS['fast']}", verbose=0)
    memory.reduce_size(bytes_limit=MAX_BYTES)
    workers = trials_on_workers(n_jobs)
    return lambda function, *trials: workers(memory.cache(function), *trials)
