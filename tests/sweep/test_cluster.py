"""On a Dask cluster the same grid gives the same rows, also when a worker is killed."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from atnmf_core import load_dataset
from atnmf_core.sweep import Grid, open_store, run_sweep
from tests.sweep.processes import done, measured, run, started, wait_until

POINTS = 20
SWEEP = (
    *("sweep", "--name", "s", "--data", "lfw", "--K", "8", "--alpha", "0.3", "0.5", "--lam", "1.5:50:4"),
    *("--starts", "2", "--solver", "paper", "--max-outer", "1", "--max-inner", "150", "--tol-inner", "0"),
)


@pytest.mark.slow
def test_a_cluster_gives_the_same_rows_even_when_a_worker_is_killed(cluster: Any, tmp_path: Path) -> None:
    store = tmp_path / "cluster.sqlite"
    address = cluster.scheduler_address
    with started(*SWEEP, "--store", store.name, "--dask", address, folder=tmp_path) as process:
        wait_until(lambda: done(store, "s") >= 3, process, "three points")
        os.kill(next(iter(cluster.workers.values())).process.pid, signal.SIGKILL)
        _, said = process.communicate()
    assert process.returncode == 0, said

    assert run(*SWEEP, "--store", "local.sqlite", folder=tmp_path).returncode == 0

    rows = measured(store, "s")
    assert len(rows) == POINTS
    assert rows == measured(tmp_path / "local.sqlite", "s")


def test_a_cluster_gives_the_same_rows_as_one_process(cluster: Any, tmp_path: Path) -> None:
    data = load_dataset("lfw")
    grid = Grid("lfw", alphas=(0.3, 0.5), Ks=(4,), lams=(2.0,), starts=3, max_inner=5)
    with (
        open_store(tmp_path / "cluster.sqlite") as cluster_store,
        open_store(tmp_path / "local.sqlite") as local,
    ):
        run_sweep(cluster_store, "s", grid, data, dask=cluster.scheduler_address)
        run_sweep(local, "s", grid, data, n_jobs=1)

    assert len(measured(tmp_path / "cluster.sqlite", "s")) == len(grid)
    assert measured(tmp_path / "cluster.sqlite", "s") == measured(tmp_path / "local.sqlite", "s")


def test_an_address_where_no_scheduler_is_ends_with_one_line(tmp_path: Path) -> None:
    pytest.importorskip("distributed")

    ended = run(*SWEEP, "--store", "store.sqlite", "--dask", "tcp://127.0.0.1:9", folder=tmp_path)

    assert ended.returncode == 1
    assert ended.stderr == "atnmf_core sweep: no Dask scheduler answers at tcp://127.0.0.1:9.\n"
