"""How long a run of a cell is said to take follows how long it took before."""

from dataclasses import replace

import pytest

from atnmf_core.reference import Measured
from atnmf_core.reference.effort import expected_run_seconds
from atnmf_core.reference.protocol import as_published, as_written

KEPT = Measured(0.3, "atnmf", 2.0, 3, "zero", "paper", "float32", 0.04, None, 1, 20, 50.0, "3", "2026-01-31")
GRID = as_published("moffet", [0.3], ["atnmf"], starts=1, max_outer=20, lams=[2.0])


def test_it_is_the_median_of_what_is_known_for_the_outer_iterations_asked_for() -> None:
    known = [replace(KEPT, seconds=seconds) for seconds in (40.0, 50.0, 90.0)]

    assert expected_run_seconds("moffet", GRID, known, workers=2) == pytest.approx(50)
    assert expected_run_seconds("moffet", replace(GRID, max_outer=100), known, workers=2) == pytest.approx(
        250
    )


def test_several_starts_share_the_cores() -> None:
    four = replace(GRID, starts=4)

    assert expected_run_seconds("moffet", four, [KEPT], workers=1) == pytest.approx(200)
    assert expected_run_seconds("moffet", four, [KEPT], workers=2) == pytest.approx(100)


def test_the_fast_solver_is_not_cut_short_by_outer_iterations() -> None:
    known = [replace(KEPT, missing="ignore", solver="fast", seconds=0.5, max_outer=100)]

    assert expected_run_seconds("moffet", as_written(GRID), known, workers=2) == pytest.approx(0.5)


@pytest.mark.parametrize("method", ["nmf", "anmf", "atnmf"])
@pytest.mark.parametrize("treat", [lambda grid: grid, as_written], ids=["zero", "ignore"])
def test_without_a_measurement_a_model_is_asked(method: str, treat: object) -> None:
    small, large = (
        expected_run_seconds(name, treat(as_published(name, [0.5], [method], starts=1)), [], workers=1)
        for name in ("synthetic", "cbcl")
    )

    assert 0 < small < large
