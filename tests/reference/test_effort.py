"""How long a run of a cell is said to take follows how long it took before."""

from dataclasses import replace

import pytest

from atnmf_core.reference import Measured
from atnmf_core.reference.effort import expected_cell_seconds

KEPT = Measured(0.3, "atnmf", 2.0, 3, "zero", "paper", "float32", 0.04, None, 1, 20, 50.0, "3", "2026-01-31")


def test_it_is_the_median_of_what_is_known_for_the_outer_iterations_asked_for() -> None:
    known = [replace(KEPT, seconds=seconds) for seconds in (40.0, 50.0, 90.0)]

    assert expected_cell_seconds("moffet", "atnmf", "zero", 20, known) == pytest.approx(50)
    assert expected_cell_seconds("moffet", "atnmf", "zero", 100, known) == pytest.approx(250)


def test_the_fast_solver_is_not_cut_short_by_outer_iterations() -> None:
    known = [replace(KEPT, missing="ignore", solver="fast", seconds=0.5, max_outer=100)]

    assert expected_cell_seconds("moffet", "atnmf", "ignore", 1, known) == pytest.approx(0.5)


@pytest.mark.parametrize("method", ["nmf", "anmf", "atnmf"])
@pytest.mark.parametrize("missing", ["zero", "ignore"])
def test_without_a_measurement_a_model_is_asked(method: str, missing: str) -> None:
    small, large = (expected_cell_seconds(name, method, missing, 100, []) for name in ("synthetic", "cbcl"))

    assert 0 < small < large
