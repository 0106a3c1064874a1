"""What a fit predicts of entries that it was not shown, against independent computations."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

from atnmf_core import factorize, hide_entries, load_dataset, rmse, transform
from atnmf_core.restoration import prediction
from atnmf_core.restoration.prediction import Columns, columns_of, tell_too_little, with_likely_amounts

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


@pytest.mark.parametrize("exponent", [-100, -66, 66, 100])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_units_do_not_matter_at_all_in_powers_of_two(exponent, dtype):
    """Not even to whether W is fitted again, where half of the data is missing."""
    shown = hide_entries(V.shape, 0.5, seed=2)
    scale = 2.0**exponent
    usual, scaled = (
        with_likely_amounts(factorize(data, shown, K=2 * K, dtype=dtype), data, shown).V_hat
        for data in ((V * unit).astype(dtype) for unit in (1.0, scale))
    )
    np.testing.assert_allclose(scaled.astype(np.float64) / scale, usual, rtol=1e-5)


def test_data_that_is_all_zero_is_predicted_as_zero():
    shown = hide_entries(V.shape, 0.3, seed=2)
    nothing = np.zeros_like(V)
    assert with_likely_amounts(factorize(nothing, shown, K=2), nothing, shown).V_hat.max() == 0


def test_an_empty_column_is_no_reason_to_fit_again(monkeypatch):
    shown = np.ones(V.shape, dtype=bool)
    shown[:, 5] = False
    fit = factorize(V, shown, K=K)
    monkeypatch.setattr(prediction, "improve", None)
    np.testing.assert_array_equal(with_likely_amounts(fit, V, shown).W, fit.W)


@pytest.mark.parametrize("scale", [1e-20, 1e20])
def test_units_do_not_matter(scale):
    usual = with_likely_amounts(factorize(V, SHOWN, K=K, dtype="float64"), V, SHOWN).V_hat
    scaled = with_likely_amounts(factorize(V * scale, SHOWN, K=K, dtype="float64"), V * scale, SHOWN).V_hat
    np.testing.assert_allclose(scaled / scale, usual, rtol=1e-4, atol=1e-6)


def test_refining_the_population_makes_the_shown_entries_more_probable(monkeypatch):
    """Their density, from SciPy, with h integrated out; expectation maximisation raises it in every round."""
    shown = hide_entries(V.shape, 0.8, seed=1)
    fit = factorize(V, shown, K=K, dtype="float64")

    def log_density(rounds):
        monkeypatch.setattr(prediction, "ROUNDS", rounds)
        columns = columns_of(fit, V, shown)
        population = columns.population
        total = 0.0
        for n in range(N):
            seen = shown[:, n]
            part, noise = population.W[seen], np.diag(columns.noise[seen, n] ** 2)
            covariance = part @ np.linalg.inv(population.precision) @ part.T + noise
            total += multivariate_normal(part @ population.mean, covariance).logpdf(V[seen, n])
        return total

    densities = [log_density(rounds) for rounds in (0, 1, 2, 4)]
    assert densities == sorted(densities)
    assert densities[1] > densities[0] + 10


def test_a_row_with_a_part_of_its_own_is_predicted_from_the_others(monkeypatch):
    """The fourth part follows row 7, and rows 8 to 10 have a little of it: what is odd there is multiplied in
    row 7, where that is hidden.
    """
    own = np.hstack([W, np.zeros((F, 1))])
    own[8:11, 3] = 0.3
    own[8:11, :3] = np.maximum(W[8:11] - 0.3 / 4 * W[7], 0)
    own[7] = [0, 0, 0, 4]
    shown = np.ones((F, N), dtype=bool)
    shown[7, ::3] = False
    odd = V.copy()
    odd[8:11, ::3] += 0.2
    fit = factorize(odd, shown, K=K + 1, init=(own, np.vstack([H, V[7] / 4])), dtype="float64", max_inner=1)
    assert prediction.leverage(fit.W)[7] > 0.9
    from_others = rmse(V, with_likely_amounts(fit, odd, shown).V_hat, ~shown)
    monkeypatch.setattr(prediction, "OF_ITS_OWN", 1.5)
    by_its_part = rmse(V, with_likely_amounts(fit, odd, shown).V_hat, ~shown)
    assert from_others < 0.5 * by_its_part


def test_a_row_of_which_everything_is_shown_keeps_its_part():
    own = np.hstack([W, np.zeros((F, 1))])
    own[7] = [0, 0, 0, 4]
    shown = np.ones((F, N), dtype=bool)
    shown[3, ::3] = False
    fit = factorize(V, shown, K=K + 1, init=(own, np.vstack([H, V[7] / 4])), dtype="float64", max_inner=1)
    np.testing.assert_array_equal(with_likely_amounts(fit, V, shown).W, fit.W)


def test_parts_that_were_fitted_to_improbable_amounts_are_fitted_again(monkeypatch):
    """Whole blocks of bands are missing, so that the solver made up what is there."""
    data = load_dataset("simulated-scene")
    lost = np.zeros((data.shape[0], *data.image_shape), dtype=bool)
    places = np.random.default_rng([2000, 0])
    for _ in range(12):
        size = [n // part for n, part in zip(lost.shape, (3, 3, 4), strict=True)]
        first = [int(places.integers(n - m + 1)) for n, m in zip(lost.shape, size, strict=True)]
        lost[tuple(slice(at, at + m) for at, m in zip(first, size, strict=True))] = True
    shown = ~data.layout.fold(lost)
    fit = factorize(data.V, shown, K=12)
    again = rmse(data.V, with_likely_amounts(fit, data.V, shown).V_hat, ~shown)
    monkeypatch.setattr(prediction, "REFITS", 0)
    once = rmse(data.V, with_likely_amounts(fit, data.V, shown).V_hat, ~shown)
    assert again < 0.8 * once


def test_nothing_changes_where_nothing_is_missing():
    fit = factorize(V, K=K)
    assert with_likely_amounts(fit, V, np.ones(V.shape, dtype=bool)) is fit


def test_a_column_with_next_to_nothing_tells_too_little():
    shown = np.zeros((100, 4), dtype=bool)
    for column, entries in enumerate((0, 2, 4, 5)):
        shown[:entries, column] = True
    assert tell_too_little(shown, K=3).tolist() == [True, True, False, False]
    assert tell_too_little(shown, K=20).tolist() == [True, True, True, False]
