"""Abundances that sum to one are the constrained least squares that SciPy finds."""

import numpy as np
import pytest
from scipy.optimize import minimize

from atnmf_core import hide_entries, load_dataset
from atnmf_core.analysis.pure_materials import pure_materials, unit_sum_abundances
from atnmf_core.analysis.unmixing import materials_of, score

RNG = np.random.default_rng(0)


def by_scipy(v: np.ndarray, W: np.ndarray) -> np.ndarray:
    K = W.shape[1]
    found = minimize(
        lambda h: 0.5 * np.sum((W @ h - v) ** 2),
        np.full(K, 1 / K),
        jac=lambda h: W.T @ (W @ h - v),
        bounds=[(0, None)] * K,
        constraints={"type": "eq", "fun": lambda h: h.sum() - 1, "jac": lambda h: np.ones(K)},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    return found.x


@pytest.mark.parametrize("size", [1.0, 5000.0, 1e-4])
@pytest.mark.parametrize("alpha", [0.0, 0.4])
def test_abundances_are_scipys(alpha: float, size: float) -> None:
    W = RNG.random((12, 4))
    V = np.maximum(W @ RNG.dirichlet(np.full(4, 0.5), 30).T + RNG.normal(0, 0.1, (12, 30)), 0)
    observed = hide_entries(V.shape, alpha)

    H = unit_sum_abundances(np.where(observed, V, np.nan) * size, W * size)

    for n in range(30):
        seen = observed[:, n]
        np.testing.assert_allclose(H[:, n], by_scipy(V[seen, n], W[seen]), atol=1e-6)


def test_shares_sum_to_one_and_none_is_negative() -> None:
    W, V = RNG.random((8, 3)), RNG.random((8, 50))

    H = unit_sum_abundances(V, W)

    assert H.sum(axis=0) == pytest.approx(np.ones(50), abs=1e-12)
    assert H.min() >= 0


def test_nothing_is_said_about_a_pixel_of_which_nothing_is_observed() -> None:
    observed = np.ones((8, 5), dtype=bool)
    observed[:, 2] = False

    H = unit_sum_abundances(RNG.random((8, 5)), RNG.random((8, 3)), observed)

    assert np.flatnonzero(np.isnan(H).any(axis=0)).tolist() == [2]


def test_pure_pixels_of_the_simulated_scene_are_its_materials() -> None:
    data = load_dataset("simulated-scene", rows=24, cols=24, bands=40, materials=3)
    observed = hide_entries(data.shape, 0.3)

    pure = pure_materials(data.V, observed, K=3)
    (_, found), truth = materials_of([pure], data.truth, summing=[pure])

    assert score(found, truth).mean_angle < 5
    assert score(found, truth).mean_error < 0.1
