"""What a fit predicts of entries that it was not shown, against independent computations."""

import numpy as np
import pytest
from scipy.optimize import minimize

from atnmf_core import factorize, rmse, transform
from atnmf_core.restoration.prediction import Columns, columns_of, with_likely_amounts

rng = np.random.default_rng(0)
F, N, K = 30, 200, 3
W = rng.random((F, K)) ** 2
H = rng.multivariate_normal([2, 3, 2.5], [[0.3, 0.25, 0], [0.25, 0.3, -0.1], [0, -0.1, 0.2]], N).T.clip(0)
V = np.maximum(W @ H + 0.02 * rng.normal(size=(F, N)), 0)
SHOWN = np.ones((F, N), dtype=bool)
SHOWN[3:, :40] = False
ADVERSARY = {"method": "atnmf", "lam": 1.3, "leash": 1.0}


@pytest.fixture(scope="module", params=[{}, ADVERSARY], ids=["nmf", "atnmf"])
def columns(request) -> Columns:
    return columns_of(factorize(V, SHOWN, K=K, dtype="float64", **request.param), V, SHOWN)


@pytest.mark.parametrize("column", [0, 17, 150])
def test_the_amounts_are_the_most_probable_ones(columns, column):
    population, weights = columns.population, columns.shown / columns.noise**2

    def improbability(h):
        errors = columns.T[:, column] - population.W @ h
        off = h - population.mean
        return weights[:, column] @ errors**2 + off @ population.precision @ off

    h = columns.amounts()[:, column]
    found = minimize(improbability, h + 0.1, bounds=[(0, None)] * K, options={"ftol": 1e-14, "gtol": 1e-12})
    assert improbability(h) <= found.fun + 1e-9
    np.testing.assert_allclose(h, found.x, atol=1e-3 * h.max())


@pytest.mark.parametrize("column", [0, 150])
def test_the_deviation_is_that_of_a_normal_posterior(columns, column):
    W = columns.population.W
    covariance = np.linalg.inv(columns.population.precision)
    shown = SHOWN[:, column]
    data = W[shown]
    noise = np.diag(columns.noise[shown, column] ** 2)
    # The other way to condition a normal distribution: through the covariance of the data.
    gain = covariance @ data.T @ np.linalg.inv(data @ covariance @ data.T + noise)
    posterior = covariance - gain @ data @ covariance
    expected = np.sqrt(np.diag(W @ posterior @ W.T) + columns.noise[:, column] ** 2)
    np.testing.assert_allclose(columns.deviation()[:, column], expected, rtol=1e-5)


def test_a_column_that_determines_its_amounts_keeps_them():
    exact = W @ H
    fit = factorize(exact, K=K, dtype="float64", tol_outer=1e-6)
    everything = np.ones(exact.shape, dtype=bool)
    likely = with_likely_amounts(fit, exact, everything).H
    np.testing.assert_allclose(likely, transform(exact, fit.W), rtol=0.01, atol=0.02 * fit.H.max())


def test_columns_with_large_gaps_are_predicted_better_than_from_their_own_entries_alone():
    noisy = np.maximum(V + 0.2 * rng.normal(size=V.shape), 0)
    fit = factorize(noisy, SHOWN, K=K)
    alone = rmse(V, fit.V_hat, ~SHOWN)
    assert rmse(V, with_likely_amounts(fit, noisy, SHOWN).V_hat, ~SHOWN) < 0.8 * alone


def test_a_column_of_which_nothing_is_shown_is_predicted_like_the_average_one():
    shown = SHOWN.copy()
    shown[:, 5] = False
    columns = columns_of(factorize(V, shown, K=K, dtype="float64"), V, shown)
    np.testing.assert_allclose(columns.amounts()[:, 5], columns.population.mean, rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-20, 1e20])
def test_units_do_not_matter(scale):
    usual = with_likely_amounts(factorize(V, SHOWN, K=K, dtype="float64"), V, SHOWN).V_hat
    scaled = with_likely_amounts(factorize(V * scale, SHOWN, K=K, dtype="float64"), V * scale, SHOWN).V_hat
    np.testing.assert_allclose(scaled / scale, usual, rtol=1e-4, atol=1e-6)
