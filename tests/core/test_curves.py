"""Points of a curve come back from the table they are written in, and say what is best."""

import math

import pytest

from atnmf_core.curves import CurvePoint, best, csv_text, from_csv, from_summary, gain, level
from atnmf_core.sweep import Summary


def row(method: str = "atnmf", lam: float | None = 2.0, error: float = 0.25, **other: object) -> Summary:
    values = {
        "sweep": "s",
        "dataset": "lfw",
        "version": "3",
        "alpha": 0.3,
        "K": 5,
        "method": method,
        "lam": lam,
        "missing": "zero",
        "solver": "fast",
        "dtype": "float32",
        "starts": 3,
        "rmse_hidden": error,
        "rmse_hidden_sd": 0.015625,
        "rmse_observed": 0.1,
        "seconds": 0.5,
        "n_iter": 12.0,
        "finished": 1_700_000_000.0,
    }
    return Summary(**(values | other))


ROWS = [row("nmf", None, 0.5), row(lam=1.05, error=0.375), row(lam=2.0), row(lam=100.0, error=0.484375)]


def test_a_curve_comes_back_from_its_table() -> None:
    assert from_csv(csv_text(ROWS)) == from_summary(ROWS)


def test_a_single_start_has_no_deviation_in_the_table_either() -> None:
    rows = [row(starts=1, rmse_hidden_sd=None)]

    assert from_csv(csv_text(rows)) == from_summary(rows)
    assert from_csv(csv_text(rows))[0].deviation is None


def test_a_point_says_by_which_solver_and_when_it_was_made() -> None:
    (point,) = from_summary([row()])

    assert (point.version, point.date, point.starts) == ("3", "2023-11-14", 3)


def test_an_error_that_is_no_number_is_no_point() -> None:
    assert from_summary([row(error=math.nan)]) == ()


def test_the_best_point_is_atnmfs_of_least_error_and_its_gain_is_a_share_of_nmfs() -> None:
    points = from_summary(ROWS)
    found, nmf = best(points), level(points, "nmf")

    assert found is not None
    assert nmf is not None
    assert found.lam == 2.0
    assert gain(found, nmf) == pytest.approx(0.5)
    assert gain(nmf, found) == pytest.approx(-1.0)


def test_without_atnmf_nothing_is_best() -> None:
    assert best(from_summary([row("nmf", None)])) is None


def test_a_level_is_that_of_the_same_solver_where_there_are_two() -> None:
    points = from_summary([row("nmf", None, 0.5, solver="fast"), row("nmf", None, 0.6, solver="paper")])
    like = from_summary([row(solver="paper")])[0]

    found = level(points, "nmf", like)

    assert isinstance(found, CurvePoint)
    assert found.solver == "paper"
