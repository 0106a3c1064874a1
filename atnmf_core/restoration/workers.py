"""The trials of a choice on the workers that sweeps have, on this machine or a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..problem import Array, Mask
from ..sweep.engine import EngineError, WorkersLost, on_workers
from .path import HeldOutResult, MapTrials, Trial


def trials_on_workers(n_jobs: int = -1, dask: str | None = None) -> MapTrials:
    """For `restore(map_trials=...)`; `n_jobs` and `dask` as in `run_sweep`."""

    def run(
        function: Callable[[Array, Mask, Mask, Trial], list[HeldOutResult]],
        V: Array,
        observed: Mask,
        held_out: Sequence[Mask],
        trials: Sequence[Trial],
    ) -> Iterator[list[HeldOutResult]]:
        calls = ((V, observed, held_out[trial.replicate], trial) for trial in trials)
        try:
            yield from on_workers(function, calls, [V, observed, *held_out], n_jobs, dask)
        except WorkersLost as error:
            raise EngineError(
                "worker processes died, perhaps for lack of memory; use fewer of them."
            ) from error

    return run
