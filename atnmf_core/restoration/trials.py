"""Trials of a choice that are remembered on disk, so that an interrupted choice is soon where it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import joblib
import numpy as np
import numpy.typing as npt

from ..factorization import SOLVER_VERSIONS
from .choice import MapTrials
from .path import Record, Trial

__all__ = ["remembered"]

Array = npt.NDArray[np.floating]
Mask = npt.NDArray[np.bool_]
MAX_BYTES = 500_000_000
VERSION = 1
"""Changes whenever the records that a trial gives do, for another reason than the solver."""


def remembered(folder: Path) -> MapTrials:
    """Runs trials on all cores but one, which stays free for others; those in the folder are only read.

    joblib's Memory knows a trial by the contents of the arrays and of the trial.
    """
    memory = joblib.Memory(folder / f"{VERSION}-{SOLVER_VERSIONS['fast']}", verbose=0)
    memory.reduce_size(bytes_limit=MAX_BYTES)

    def run_trials(
        function: Callable[[Array, Mask, Mask, Trial], list[Record]],
        V: Array,
        observed: Mask,
        held_out: Sequence[Mask],
        trials: Sequence[Trial],
    ) -> Iterator[list[Record]]:
        known = memory.cache(function)
        cores = max(1, joblib.cpu_count() - 1)
        parallel = joblib.Parallel(n_jobs=cores, return_as="generator_unordered", batch_size=1)
        yield from parallel(
            joblib.delayed(known)(V, observed, held_out[trial.replicate], trial) for trial in trials
        )

    return run_trials
