"""The engine makes each fit of a grid once, as `factorize` would, whatever happens to a worker."""

import os
import signal
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import threadpoolctl

from atnmf_core import InputError, factorize, hide_entries, load_dataset, paper_mask, rmse
from atnmf_core.sweep import EngineError, Grid, Point, grid, open_store, paper_start, run_sweep
from atnmf_core.sweep import store as engine
from tests.sweep.processes import done, measured, run, started, wait_until

GRID = Grid("lfw", alphas=(0.3, 0.5), Ks=(4,), lams=(2.0,), missing=("ignore", "zero"), starts=2, max_inner=5)
SIX = Grid("lfw", alphas=(0.3,), Ks=(4,), methods=("nmf",), starts=6)


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "store.sqlite") as opened:
        yield opened


@pytest.fixture
def mark(tmp_path):
    """A file by which workers know what happened before."""
    return tmp_path / "mark"


@pytest.fixture
def behave(mark, monkeypatch):
    """Make every point of the sweeps to come behave in this way."""

    def behave(behaviour):
        monkeypatch.setattr(engine, "Point", partial(Trial, behaviour=behaviour, mark=str(mark)))

    return behave


@pytest.fixture(scope="module")
def faces():
    return load_dataset("lfw")


def test_every_result_is_what_a_single_fit_gives_in_one_process_or_several(store, faces, tmp_path):
    told: list[tuple[int, int]] = []
    run_sweep(store, "s", GRID, faces, n_jobs=1, progress=lambda *counts: told.append(counts))

    results = list(store.outcomes("s"))

    assert len(results) == len(GRID)
    assert told == [(done, 16) for done in range(17)]
    for result in results:
        identity, measures = result.identity, result.measures
        observed = hide_entries(faces.shape, identity["alpha"], seed=0)
        options = {name: identity[name] for name in ("method", "lam", "missing")}
        fit = factorize(faces.V, observed, K=4, seed=identity["start"], max_inner=5, **options)
        assert measures["rmse_hidden"] == pytest.approx(rmse(faces.V, fit.V_hat, ~observed), rel=1e-6)
        assert measures["rmse_observed"] == pytest.approx(rmse(faces.V, fit.V_hat, observed), rel=1e-6)
        assert measures["adversarial_loss"] == pytest.approx(fit.history["adversarial_loss"][-1], rel=1e-6)
        assert measures["n_iter"] == fit.n_iter
    with open_store(tmp_path / "parallel.sqlite") as parallel:
        run_sweep(parallel, "s", GRID, faces, n_jobs=2)
    assert measured(tmp_path / "parallel.sqlite", "s") == measured(store.path, "s")


def test_a_finished_sweep_makes_no_fit_when_run_again_unless_it_is_told_to(store, faces):
    run_sweep(store, "s", GRID, faces, n_jobs=1)
    before = list(store.outcomes("s"))

    run_sweep(store, "s", GRID, faces, n_jobs=1)
    assert len(before) == len(GRID)
    assert list(store.outcomes("s")) == before

    run_sweep(store, "s", GRID, faces, n_jobs=1, again="all")
    after = [result.finished for result in store.outcomes("s")]
    assert len(after) == len(before)
    assert min(after) > max(result.finished for result in before)


def test_a_fit_that_is_not_finite_is_a_failure_and_no_number(store, faces, monkeypatch):
    def diverged(*given, **options):
        fit = factorize(*given, **options)  # type: ignore[arg-type]
        return replace(fit, W=np.full_like(fit.W, np.nan)) if fit.method == "atnmf" else fit

    monkeypatch.setattr(grid, "factorize", diverged)
    run_sweep(store, "s", GRID, faces, n_jobs=1)

    assert (store.sweep("s").done, store.sweep("s").failed) == (8, 8)
    assert all("not finite" in (failure.error or "") for failure in store.outcomes("s", failed=True))


def test_a_failing_point_is_noted_and_the_others_are_made(store, faces, mark, behave):
    behave("fails unless mark")
    run_sweep(store, "s", SIX, faces, n_jobs=1)

    assert (store.sweep("s").done, store.sweep("s").failed) == (3, 3)
    assert [failure.error for failure in store.outcomes("s", failed=True)] == ["MemoryError: too large"] * 3

    mark.touch()
    run_sweep(store, "s", SIX, faces, n_jobs=1, again="failed")
    assert (store.sweep("s").done, store.sweep("s").failed) == (6, 0)


def test_a_worker_that_dies_is_replaced_and_its_point_made(store, faces, mark, behave):
    behave("dies once")
    run_sweep(store, "s", SIX, faces, n_jobs=2)

    assert mark.exists()
    assert store.sweep("s").done == 6


def test_a_sweep_whose_workers_keep_dying_gives_up_with_the_reason(store, faces, behave):
    behave("dies")
    with pytest.raises(EngineError, match="keep dying"):
        run_sweep(store, "s", SIX, faces, n_jobs=2)

    record = store.sweep("s")
    assert record.status == "stopped"
    assert "keep dying" in (record.message or "")


def test_each_worker_uses_one_blas_thread_and_maps_the_data(store, faces, behave):
    behave("looks")
    with threadpoolctl.threadpool_limits(limits=2, user_api="blas"):
        run_sweep(store, "s", SIX, faces, n_jobs=2)

    seen = [outcome.measures for outcome in store.outcomes("s")]
    assert seen == [{"array": "memmap", "threads": 1}] * 6


def test_too_many_parts_are_refused_before_anything_runs(store, faces):
    with pytest.raises(InputError, match="K=101: lfw is 625 x 100, so K is at most 100"):
        run_sweep(store, "s", Grid("lfw", alphas=(0.3,), Ks=(5, 101), methods=("nmf",)), faces)

    assert store.sweeps() == []


def test_the_authors_masks_and_starts_are_used_where_asked_for(store, paper_data):
    data = load_dataset("synthetic-paper")
    how = {"solver": "paper", "dtype": "float64", "max_outer": 2, "max_inner": 20}
    grid = Grid(
        data.name, (0.4,), (5,), (3.0,), missing=("zero",), starts=2, masks="paper", draws="paper", **how
    )

    run_sweep(store, "s", grid, data, n_jobs=1)

    observed, results = paper_mask("synthetic-paper", 0.4), list(store.outcomes("s"))
    assert len(results) == len(grid) == 4
    for result in results:
        init = paper_start(data.shape, 5, 0.4, result.identity["start"])
        how |= {name: result.identity[name] for name in ("method", "lam")}
        fit = factorize(data.V, observed, K=5, missing="zero", init=init, **how)
        assert result.measures["rmse_hidden"] == pytest.approx(rmse(data.V, fit.V_hat, ~observed), rel=1e-9)


@dataclass(frozen=True)
class Seen:
    array: str
    threads: int


@dataclass(frozen=True)
class Trial(Point):
    """A point that behaves badly, or tells what it sees."""

    behaviour: str
    mark: str

    def measure(self, V: np.ndarray, packed: np.ndarray) -> Seen:
        seen = Path(self.mark).exists()
        if self.behaviour == "fails unless mark" and self.start % 2 and not seen:
            raise MemoryError("too large")
        if self.behaviour == "dies" or (self.behaviour == "dies once" and not seen):
            Path(self.mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        pools = [pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]
        return Seen(type(V).__name__, max(pool["num_threads"] for pool in pools))


POINTS = 20
SWEEP = (
    *("sweep", "--name", "s", "--data", "lfw", "--K", "8", "--alpha", "0.3", "0.5", "--lam", "1.5:50:4"),
    *("--starts", "2", "--solver", "paper", "--max-outer", "1", "--max-inner", "150", "--tol-inner", "0"),
)


@pytest.mark.slow
def test_a_cluster_gives_the_same_rows_even_when_a_worker_is_killed(cluster, tmp_path):
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


def test_a_cluster_gives_the_same_rows_as_one_process(cluster, tmp_path):
    grid = Grid("lfw", alphas=(0.3, 0.5), Ks=(4,), lams=(2.0,), starts=3, max_inner=5)
    for name, how in (("cluster", {"dask": cluster.scheduler_address}), ("local", {"n_jobs": 1})):
        with open_store(tmp_path / f"{name}.sqlite") as store:
            run_sweep(store, "s", grid, load_dataset("lfw"), **how)

    assert len(measured(tmp_path / "cluster.sqlite", "s")) == len(grid)
    assert measured(tmp_path / "cluster.sqlite", "s") == measured(tmp_path / "local.sqlite", "s")


def test_an_address_where_no_scheduler_is_ends_with_one_line(tmp_path):
    pytest.importorskip("distributed")

    ended = run(*SWEEP, "--store", "store.sqlite", "--dask", "tcp://127.0.0.1:9", folder=tmp_path)

    assert ended.returncode == 1
    assert ended.stderr == "atnmf_core sweep: no Dask scheduler answers at tcp://127.0.0.1:9.\n"
