"""How long a run of a cell is said to take follows how long it took before."""

from dataclasses import replace

import pytest

from atnmf_core.reference.effort import expected_run_seconds
from atnmf_core.reference.protocol import ignoring_hidden, published_grid
from atnmf_core.sweep import Measurement

ROW = Measurement(
    0.3, "atnmf", 2.0, 3, "zero", "paper", "float32", 0.04, None, 1, 20, 50.0, "3", "2026-01-31"
)
GRID = published_grid("moffet", [0.3], ["atnmf"], starts=1, max_outer=20, lams=[2.0])


def test_it_is_the_median_of_what_is_known_for_the_outer_iterations_asked_for() -> None:
    known = [replace(ROW, seconds=seconds) for seconds in (40.0, 50.0, 90.0)]

    assert expected_run_seconds("moffet", GRID, known, workers=2) == pytest.approx(50)
    assert expected_run_seconds("moffet", replace(GRID, max_outer=100), known, workers=2) == pytest.approx(
        250
    )


def test_a_measurement_without_a_time_says_nothing_about_it() -> None:
    known = [ROW, replace(ROW, seconds=None)]

    assert expected_run_seconds("moffet", GRID, known, workers=1) == pytest.approx(50)


def test_several_starts_share_the_cores() -> None:
    four = replace(GRID, starts=4)

    assert expected_run_seconds("moffet", four, [ROW], workers=1) == pytest.approx(200)
    assert expected_run_seconds("moffet", four, [ROW], workers=2) == pytest.approx(100)


def test_the_fast_solver_is_not_cut_short_by_outer_iterations() -> None:
    known = [replace(ROW, missing="ignore", solver="fast", seconds=0.5, max_outer=100)]

    assert expected_run_seconds("moffet", ignoring_hidden(GRID), known, workers=2) == pytest.approx(0.5)


@pytest.mark.parametrize("method", ["nmf", "anmf", "atnmf"])
@pytest.mark.parametrize("treat", [lambda grid: grid, ignoring_hidden], ids=["zero", "ignore"])
def test_without_a_measurement_a_model_is_asked(method: str, treat: object) -> None:
    small, large = (
        expected_run_seconds(name, treat(published_grid(name, [0.5], [method], starts=1)), [], workers=1)
        for name in ("synthetic", "cbcl")
    )

    assert 0 < small < large
