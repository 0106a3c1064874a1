"""The sweep that comes with the program is complete, and is what its solver gives."""

import pytest

from atnmf_core import SOLVER_VERSION, factorize, hide_entries, load_dataset, rmse
from atnmf_core.reference import lfw_curve


def test_each_treatment_has_nmf_and_sixteen_lambdas() -> None:
    for missing in ("ignore", "zero"):
        points = [point for point in lfw_curve() if point.missing == missing]

        assert [point.method for point in points] == ["nmf"] + ["atnmf"] * 16
        assert [point.lam for point in points[1:]] == sorted(point.lam for point in points[1:])


@pytest.mark.parametrize("missing", ["ignore", "zero"])
def test_a_kept_point_is_the_mean_over_its_starts(missing: str) -> None:
    point = next(point for point in lfw_curve() if point.missing == missing and point.lam == 2.0)
    if point.version != SOLVER_VERSION:
        pytest.skip(f"the curve was made by solver version {point.version}")
    data = load_dataset("lfw")
    observed = hide_entries(data.shape, 0.3, seed=0)

    errors = [
        rmse(
            data.V,
            factorize(data.V, observed, K=25, method="atnmf", lam=2.0, missing=missing, seed=seed).V_hat,
            ~observed,
        )
        for seed in range(point.starts)
    ]

    assert point.mean == pytest.approx(sum(errors) / len(errors), rel=1e-3)
