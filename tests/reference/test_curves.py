"""The bundled sweeps are complete, and are what its solvers give."""

import math

import pytest

from atnmf_core import SOLVER_VERSIONS, factorize, hide_entries, load_dataset, rmse
from atnmf_core.reference.curves import BUNDLED_GRIDS, bundled_curve
from atnmf_core.sweep.measurements import Measurement, best, gain, level


@pytest.mark.parametrize("name", BUNDLED_GRIDS)
def test_every_combination_of_its_grid_is_there_with_all_starts(name: str) -> None:
    wanted = {
        (point.alpha, point.K, point.method, point.lam, point.missing, point.solver)
        for grid in BUNDLED_GRIDS[name]
        for point in grid.points()
    }

    points = bundled_curve(name)

    assert {(p.alpha, p.K, p.method, p.lam, p.missing, p.solver) for p in points} == wanted
    assert len(points) == len(wanted)
    assert {point.starts for point in points} == {grid.starts for grid in BUNDLED_GRIDS[name]}
    assert all(point.version and point.date and math.isfinite(point.mean) for point in points)


@pytest.mark.parametrize("missing", ["ignore", "zero"])
def test_a_bundled_point_is_the_mean_over_its_starts(missing: str) -> None:
    (point,) = (p for p in bundled_curve("lfw") if (p.missing, p.alpha, p.lam) == (missing, 0.3, 2.0))
    if point.version != SOLVER_VERSIONS["fast"]:
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


def figure(solver: str) -> tuple[list[Measurement], Measurement]:
    """AT-NMF's points on Synthetic, alpha = 0.5, hidden as zeros, and NMF's."""
    points = [point for point in bundled_curve("synthetic") if point.solver == solver]
    nmf = level(points, "nmf")
    assert nmf is not None
    return [point for point in points if point.lam is not None], nmf


@pytest.mark.parametrize("solver", ["paper", "fast"])
def test_on_synthetic_atnmf_goes_to_nmf_as_lambda_grows(solver: str) -> None:
    curve, nmf = figure(solver)

    last = max(curve, key=lambda point: point.lam or 0.0)

    assert last.lam == 100.0
    assert abs(gain(last, nmf)) < 0.02


@pytest.mark.parametrize("solver", ["paper", "fast"])
def test_on_synthetic_the_minimum_lies_below_nmf(solver: str) -> None:
    curve, nmf = figure(solver)

    lowest = best(curve)

    assert lowest is not None
    assert lowest.mean + (lowest.deviation or 0.0) < nmf.mean - (nmf.deviation or 0.0)


def test_the_two_solvers_part_at_small_lambda_only() -> None:
    paper, fast = ({point.lam: point.mean for point in figure(solver)[0]} for solver in ("paper", "fast"))

    apart = {lam: abs(paper[lam] / fast[lam] - 1) for lam in paper if lam is not None}

    assert all(difference < 0.01 for lam, difference in apart.items() if lam >= 7)
    assert all(difference > 0.1 for lam, difference in apart.items() if lam <= 2)
