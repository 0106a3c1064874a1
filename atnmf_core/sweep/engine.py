"""Computes the points of a grid, on this machine's cores or a Dask cluster, and stores each result."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..datasets import Dataset
from ..jobs.processes import EngineError, on_workers, run_until_done
from ..model.problem import Array, InputError
from .grid import Grid, Measures, Point
from .reader import StoreError
from .store import Store


def run_sweep(
    store: Store,
    name: str,
    grid: Grid,
    data: Dataset,
    *,
    n_jobs: int = -1,
    dask: str | None = None,
    again: Literal["failed", "all"] | None = None,
    progress: Callable[[int, int], object] = lambda done, total: None,
    reproduces: str | None = None,
) -> None:
    """Compute every point of the grid that the store does not have yet.

    Any number of processes may run the same sweep on the same store: each takes points that no other living
    process has claimed, and all return when the sweep is complete.

    Parameters
    ----------
    name : the sweep's name in the store; the same name and grid resume a sweep.
    data : the data set that `grid.dataset` names.
    n_jobs : worker processes, -1 for one per core. With `dask` the cluster decides.
    dask : address of a Dask scheduler, such as "tcp://10.0.0.1:8786".
    again : recompute what failed in an earlier run, or everything.
    progress : called with the numbers of finished and of all points, at the start and after every result.
    reproduces : the table of the paper that the sweep reproduces; see `SweepRecord`.
    """
    grid.check(data)
    masks = grid.packed_masks(data)
    store.check_integrity()
    sweep = store.add_sweep(name, grid, data.content_hash, reproduces=reproduces)
    if again is not None:
        store.forget(sweep, only_failed=again == "failed")
    run = store.begin_run(sweep)
    errors: list[StoreError] = []

    def begin_round() -> Generator[tuple[str, Measures | str]]:
        calls = _calls(store, sweep, run, data.V, masks, errors)
        yield from on_workers(_compute, calls, [data.V, *masks.values()], n_jobs, dask)
        if errors:
            raise errors[0]

    try:
        run_until_done(
            lambda: store.waiting(sweep),
            begin_round,
            lambda outcome: store.add_outcome(*outcome),
            lambda: progress(len(grid) - store.waiting(sweep), len(grid)),
        )
    except KeyboardInterrupt:
        store.end_run(run, "stopped", "stopped by the user")
        raise
    except EngineError as error:
        store.end_run(run, "failed", str(error))
        raise
    store.end_run(run, "finished")


def _calls(
    store: Store,
    sweep: int,
    run: int,
    V: Array,
    masks: Mapping[float, npt.NDArray[np.uint8]],
    errors: list[StoreError],
) -> Iterator[tuple[Any, ...]]:
    # joblib consumes this in a thread of its own, where an error would be lost and the sweep would hang.
    try:
        for key, fields in store.claims(sweep, run):
            point = Point(**fields)
            yield key, point, V, masks[point.alpha]
    except StoreError as error:
        errors.append(error)


def _compute(key: str, point: Point, *arrays: Any) -> tuple[str, Measures | str]:
    """Compute a point on one BLAS thread: its key, and what was measured or what went wrong."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        try:
            return key, point.measure(*arrays)
        except (InputError, ArithmeticError, MemoryError, np.linalg.LinAlgError) as error:
            return key, f"{type(error).__name__}: {error}"
