"""The engine makes the fits of a grid, each once, as `factorize` would, whatever happens to a worker."""

import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import threadpoolctl

from atnmf_core import Dataset, Fit, InputError, factorize, hide_entries, load_dataset, paper_mask, rmse
from atnmf_core.sweep import (
    EngineError,
    Grid,
    Measures,
    Point,
    Store,
    Tally,
    fitting,
    open_store,
    run_sweep,
    workers,
)
from atnmf_core.sweep.starts import paper_start

GRID = Grid("lfw", alphas=(0.3, 0.5), Ks=(4,), lams=(2.0,), missing=("ignore", "zero"), starts=2, max_inner=5)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    with open_store(tmp_path / "store.sqlite") as opened:
        yield opened


@pytest.fixture(scope="module")
def faces() -> Dataset:
    return load_dataset("lfw")


def test_every_result_is_what_a_single_fit_gives(store: Store, faces: Dataset) -> None:
    run_sweep(store, "s", GRID, faces, n_jobs=1)

    results = list(store.results("s"))

    assert len(results) == len(GRID)
    for result in results:
        observed = hide_entries(faces.shape, result.alpha, seed=0)
        fit = factorize(
            faces.V,
            observed,
            K=4,
            method=result.method,
            lam=result.lam,
            missing=result.missing,
            seed=result.start,
            max_inner=5,
        )
        assert result.measures is not None
        assert result.measures.rmse_hidden == pytest.approx(rmse(faces.V, fit.V_hat, ~observed), rel=1e-6)
        assert result.measures.rmse_observed == pytest.approx(rmse(faces.V, fit.V_hat, observed), rel=1e-6)
        assert result.measures.adversarial_loss == pytest.approx(
            fit.history["adversarial_loss"][-1], rel=1e-6
        )
        assert result.measures.n_iter == fit.n_iter


def test_processes_give_the_same_rows_as_one_process(store: Store, faces: Dataset, tmp_path: Path) -> None:
    run_sweep(store, "s", GRID, faces, n_jobs=1)
    with open_store(tmp_path / "parallel.sqlite") as parallel:
        run_sweep(parallel, "s", GRID, faces, n_jobs=2)

        assert numbers(parallel) == numbers(store)


def test_a_finished_sweep_makes_no_fit_when_run_again(
    store: Store, faces: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_sweep(store, "s", GRID, faces, n_jobs=1)
    monkeypatch.setattr(workers, "fit_point", forbidden)

    run_sweep(store, "s", GRID, faces, n_jobs=1)

    assert store.sweep("s").done == len(GRID)


def test_everything_can_be_fitted_again_on_request(store: Store, faces: Dataset) -> None:
    run_sweep(store, "s", GRID, faces, n_jobs=1)
    before = [result.finished for result in store.results("s")]

    run_sweep(store, "s", GRID, faces, n_jobs=1, again="all")

    after = [result.finished for result in store.results("s")]
    assert len(after) == len(before)
    assert min(after) > max(before)


def test_a_fit_that_is_not_finite_is_a_failure_and_no_number(
    store: Store, faces: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    def diverged(*given: object, **options: object) -> Fit:
        fit = factorize(*given, **options)  # type: ignore[arg-type]
        return replace(fit, W=np.full_like(fit.W, np.nan)) if fit.method == "atnmf" else fit

    monkeypatch.setattr(fitting, "factorize", diverged)
    run_sweep(store, "s", GRID, faces, n_jobs=1)

    assert (store.sweep("s").done, store.sweep("s").failed) == (8, 8)
    assert all("not finite" in failure.error for failure in store.results("s", failed=True))


def test_a_point_that_fails_is_noted_and_the_others_are_made(
    store: Store, faces: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    def exhausted(V: np.ndarray, packed: np.ndarray, point: Point) -> Measures:
        if point.method == "atnmf":
            raise MemoryError("out of memory")
        return Measures(0.5, 0.5, 1.0, 1.0, 1, True, 0.0)

    monkeypatch.setattr(fitting, "_measure", exhausted)
    run_sweep(store, "s", GRID, faces, n_jobs=1)

    assert (store.sweep("s").done, store.sweep("s").failed) == (8, 8)
    assert {failure.error for failure in store.results("s", failed=True)} == {"MemoryError: out of memory"}

    monkeypatch.undo()
    run_sweep(store, "s", GRID, faces, n_jobs=1, again="failed")
    assert (store.sweep("s").done, store.sweep("s").failed) == (16, 0)


def test_progress_ends_with_all_points_done(store: Store, faces: Dataset) -> None:
    tallies: list[Tally] = []

    run_sweep(store, "s", GRID, faces, n_jobs=1, progress=tallies.append)

    assert [tally.done for tally in tallies] == sorted(tally.done for tally in tallies)
    assert (tallies[-1].done, tallies[-1].total, tallies[-1].seconds_left) == (16, 16, 0.0)


def test_a_worker_that_dies_is_replaced_and_its_point_made(
    store: Store, faces: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "fit_point", DiesOnce(tmp_path / "died"))

    run_sweep(store, "s", GRID, faces, n_jobs=2)

    assert (tmp_path / "died").exists()
    assert store.sweep("s").done == len(GRID)


def test_a_sweep_whose_workers_keep_dying_gives_up_with_the_reason(
    store: Store, faces: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "fit_point", dies)

    with pytest.raises(EngineError, match="keep dying"):
        run_sweep(store, "s", GRID, faces, n_jobs=2)

    record = store.sweep("s")
    assert record.status == "stopped"
    assert record.message is not None
    assert "keep dying" in record.message


def test_each_worker_uses_one_blas_thread_and_maps_the_data(
    store: Store, faces: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitting, "_measure", None)
    monkeypatch.setattr(workers, "fit_point", Observes(tmp_path))

    run_sweep(store, "s", GRID, faces, n_jobs=2)

    seen = [file.read_text() for file in tmp_path.glob("seen-*")]
    assert len(seen) == len(GRID)
    assert set(seen) == {"memmap"}


def test_blas_is_held_to_one_thread_during_a_fit(faces: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[int] = []

    def count(V: np.ndarray, packed: np.ndarray, point: Point) -> Measures:
        threads.extend(
            pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"
        )
        return Measures(0.5, 0.5, 1.0, 1.0, 1, True, 0.0)

    monkeypatch.setattr(fitting, "_measure", count)
    with threadpoolctl.threadpool_limits(limits=2, user_api="blas"):
        fitting.fit_point(faces.V, np.packbits(faces.observed), "key", next(GRID.points()))

    assert set(threads) == {1}


def test_too_many_parts_are_refused_before_anything_runs(store: Store, faces: Dataset) -> None:
    with pytest.raises(InputError, match="K=101: lfw is 625 x 100, so K is at most 100"):
        run_sweep(store, "s", Grid("lfw", alphas=(0.3,), Ks=(5, 101), methods=("nmf",)), faces)

    assert store.sweeps() == []


def test_the_authors_masks_and_starts_are_used_where_asked_for(store: Store, paper_data: Path) -> None:
    data = load_dataset("synthetic-paper")
    grid = Grid(
        "synthetic-paper",
        alphas=(0.4,),
        Ks=(5,),
        lams=(3.0,),
        missing=("zero",),
        solver="paper",
        starts=2,
        masks="paper",
        draws="paper",
        dtype="float64",
        max_outer=2,
        max_inner=20,
    )

    run_sweep(store, "s", grid, data, n_jobs=1)

    observed = paper_mask("synthetic-paper", 0.4)
    for result in store.results("s"):
        fit = factorize(
            data.V,
            observed,
            K=5,
            method=result.method,
            lam=result.lam,
            missing="zero",
            solver="paper",
            init=paper_start(data.shape, 5, 0.4, result.start),
            dtype="float64",
            max_outer=2,
            max_inner=20,
        )
        assert result.measures is not None
        assert result.measures.rmse_hidden == pytest.approx(rmse(data.V, fit.V_hat, ~observed), rel=1e-9)


def numbers(store: Store) -> dict[str, tuple[float, float, int]]:
    return {
        result.key: (result.measures.rmse_hidden, result.measures.adversarial_loss, result.measures.n_iter)
        for result in store.results("s")
        if result.measures is not None
    }


def forbidden(*arguments: object) -> None:
    raise AssertionError("a finished point was fitted again")


def dies(*arguments: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class DiesOnce:
    """Kills the worker in which it runs first, and fits points from then on."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __call__(
        self, V: np.ndarray, packed: np.ndarray, key: str, point: Point
    ) -> tuple[str, fitting.Outcome]:
        try:
            self.mark.touch(exist_ok=False)
        except FileExistsError:
            return fitting.fit_point(V, packed, key, point)
        dies()
        raise AssertionError


class Observes:
    """Writes down in what form the data reached the worker."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(
        self, V: np.ndarray, packed: np.ndarray, key: str, point: Point
    ) -> tuple[str, fitting.Outcome]:
        (self.folder / f"seen-{key}").write_text(type(V).__name__)
        return key, Measures(0.5, 0.5, 1.0, 1.0, 1, True, 0.0)
