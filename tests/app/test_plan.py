"""A planned sweep says what is wrong with it before anything starts."""

from dataclasses import replace

import numpy as np
import pytest

from pages.curves_view.plan import MAX_FITS, Plan

FACES = (625, 100)


def test_the_first_plan_can_be_started() -> None:
    assert Plan().problems(FACES) == []
    assert len(Plan().grid("lfw")) == 3 * (1 + 12)


def test_lambdas_are_evenly_spaced_in_the_logarithm_of_lambda_minus_one() -> None:
    lams = Plan(low=1.01, high=101.0, count=5).lams()

    assert (lams[0], lams[-1]) == (1.01, 101.0)
    assert np.diff(np.log(np.array(lams) - 1)) == pytest.approx(np.log(10), rel=0.01)


def test_a_lambda_is_spelled_the_same_in_a_grid_and_in_an_address() -> None:
    for plan in (Plan(low=1.013, high=87.3, count=30), Plan(low=1.0001, high=1.003, count=30)):
        assert plan.problems(FACES) == []
        for lam in plan.lams():
            assert float(f"{lam:g}") == lam


def test_lambdas_that_round_to_the_same_are_one() -> None:
    assert Plan(low=1.001, high=1.002, count=40).lams() == tuple(1 + n / 10_000 for n in range(10, 21))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"low": 1.0}, "begins at 1: it must begin above 1"),
        ({"low": -3.0}, "begins at -3"),
        ({"low": 5.0, "high": 2.0}, "ends at 2, before it begins at 5"),
        ({"low": 2.0, "high": 2.0}, "begins and ends at 2"),
        ({"low": 1.00001}, "too near 1"),
        ({"high": 1e9}, "up to 1,000,000"),
        ({"high": float("inf")}, "up to 1,000,000"),
        ({"alphas": ()}, "at least one hidden share"),
        ({"methods": ()}, "at least one method"),
        ({"missing": ()}, "unmarked, marked, or both"),
        ({"K": 101}, "K = 101 is too many parts for 625 × 100: at most 100"),
        ({"count": 500, "starts": 50}, f"up to {MAX_FITS:,}"),
    ],
    ids=str,
)
def test_what_cannot_be_started_is_explained(change: dict, said: str) -> None:
    (problem,) = replace(Plan(), **change).problems(FACES)

    assert said in problem


def test_a_range_does_not_matter_without_atnmf() -> None:
    plan = Plan(methods=("nmf", "anmf"), low=5.0, high=2.0)

    assert plan.problems(FACES) == []
    assert len(plan.grid("lfw")) == 2 * 3


def test_one_lambda_is_a_range_too() -> None:
    assert Plan(low=2.0, high=2.0, count=1).lams() == (2.0,)
