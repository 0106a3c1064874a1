"""Cells that were run again are found in a store under the names that `reproduce` gives them."""

from dataclasses import replace
from pathlib import Path

import pytest

from atnmf_core import SOLVER_VERSIONS
from atnmf_core.reference.protocol import published_grid
from atnmf_core.reference.stored import stored_measurements, sweep_name
from atnmf_core.sweep import Grid, Measures, open_store
from atnmf_core.sweep.points import identify
from atnmf_core.sweep.store import Store


def test_the_better_run_of_a_cell_is_found(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.sqlite") as store:
        enter(store, published_grid("moffet", [0.5], ["nmf"], starts=2, max_outer=100), [0.08, 0.09])
        enter(store, published_grid("moffet", [0.5], ["nmf"], starts=1, max_outer=5), [0.2])

        (cell,) = stored_measurements(store, "moffet")

    assert (cell.alpha, cell.method, cell.missing, cell.starts, cell.max_outer) == (
        0.5,
        "nmf",
        "zero",
        2,
        100,
    )
    assert cell.mean == pytest.approx(0.085)
    assert cell.deviation == pytest.approx(0.005 * 2**0.5)


def test_runs_of_another_table_or_another_K_do_not_belong(tmp_path: Path) -> None:
    with open_store(tmp_path / "store.sqlite") as store:
        enter(store, published_grid("moffet", [0.5], ["nmf"], starts=1, K=5), [0.06])

        assert stored_measurements(store, "moffet") == ()
        assert stored_measurements(store, "madonna") == ()


def test_numbers_of_an_earlier_solver_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = published_grid("moffet", [0.5], ["nmf"], starts=2)
    with open_store(tmp_path / "store.sqlite") as store:
        with monkeypatch.context() as before:
            before.setitem(SOLVER_VERSIONS, "paper", "an earlier one")
            enter(store, grid, [0.2, 0.3])
        assert stored_measurements(store, "moffet") == ()

        enter(store, replace(grid, starts=1), [0.08])
        (row,) = stored_measurements(store, "moffet")

    assert (row.mean, row.version) == (pytest.approx(0.08), SOLVER_VERSIONS["paper"])


def test_one_lambda_of_a_table_can_be_run_alone() -> None:
    grid = published_grid("synthetic", [0.5], ["atnmf"], starts=1, lams=[3.0])

    assert [point.lam for point in grid.points()] == [3.0]


def test_a_sweep_that_is_given_the_name_of_a_run_of_a_table_does_not_become_one(tmp_path: Path) -> None:
    grid = published_grid("moffet", [0.5], ["nmf"], starts=1)
    with open_store(tmp_path / "store.sqlite") as store:
        store.add_sweep("mine", grid, "a content hash")
        store.add_outcome(
            identify(next(grid.points()), "a content hash")[0], Measures(0.1, 0.1, 1.0, 1.0, 10, True, 0.1)
        )

        store.rename_sweep("mine", "reproduce moffet, mine")

        assert store.sweep("reproduce moffet, mine").reproduces is None
        assert stored_measurements(store, "moffet") == ()


def enter(store: Store, grid: Grid, errors: list[float]) -> None:
    store.add_sweep(sweep_name("moffet", grid), grid, "a content hash", reproduces="moffet")
    for point, error in zip(grid.points(), errors, strict=True):
        outcome = Measures(error, error, 1.0, 1.0, 10, True, 0.1)
        assert store.add_outcome(identify(point, "a content hash")[0], outcome)
