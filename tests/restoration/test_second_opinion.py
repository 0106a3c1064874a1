"""Columns whose wrong entries explain each other, against the truth and a search that knows no shortcut."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from atnmf_core import factorize
from atnmf_core.restoration.prediction import Population
from atnmf_core.restoration.second_opinion import NU, _Doubtful, _limits, second_opinion

rng = np.random.default_rng(5)
F, N, K = 60, 150, 5
W = rng.gamma(0.7, 1, (F, K))
H = rng.gamma(4, 0.25, (K, N))
SOUND = W @ H * (1 + 0.01 * rng.normal(size=(F, N)))
UPSIDE_DOWN = 11
"""A column of which a fifth is three times too bright, so that twice the fifth part would explain it."""
BRIGHT = np.argsort(-W[:, 4])[:12]
OBSERVED = np.ones((F, N), dtype=bool)


@pytest.fixture(scope="module")
def case():
    V = SOUND.copy()
    V[BRIGHT, UPSIDE_DOWN] *= 3
    wrong = V != SOUND
    fit = factorize(V, ~wrong, K=K, dtype="float64", tol_outer=1e-5)
    follows = np.linalg.lstsq(fit.W[BRIGHT], V[BRIGHT, UPSIDE_DOWN], rcond=None)[0].clip(0)
    fit = replace(fit, H=np.where(np.arange(N) == UPSIDE_DOWN, follows[:, None], fit.H))
    suspects = np.abs(V - fit.V_hat) > 0.3 * V
    assert suspects[:, UPSIDE_DOWN].sum() > 30
    return V, wrong, fit, suspects


def test_it_is_explained_by_its_sound_entries(case):
    V, wrong, fit, suspects = case
    found, now_suspect = second_opinion(V, fit, OBSERVED, suspects)
    np.testing.assert_allclose((fit.W @ found)[:, UPSIDE_DOWN], SOUND[:, UPSIDE_DOWN], rtol=0.05)
    np.testing.assert_array_equal(now_suspect[:, UPSIDE_DOWN], wrong[:, UPSIDE_DOWN])


def test_other_columns_stay_as_they_are(case):
    V, _, fit, suspects = case
    found, now_suspect = second_opinion(V, fit, OBSERVED, suspects)
    others = np.arange(N) != UPSIDE_DOWN
    np.testing.assert_array_equal(found[:, others], fit.H[:, others])
    np.testing.assert_array_equal(now_suspect[:, others], suspects[:, others])


def test_the_cost_is_as_stated_and_no_search_from_many_places_finds_a_lower_one(case):
    V, _, fit, suspects = case
    population = Population.of(fit, V, OBSERVED & ~suspects)
    below, above = _limits(V, fit.V_hat, OBSERVED, suspects)
    columns = _Doubtful(population, (below, above), V, OBSERVED)

    def cost(h):
        residual = (V[:, UPSIDE_DOWN] - population.W @ h) / population.noise
        each = [min(r * r, below**2 if r < 0 else above**2) for r in residual]
        off = h - population.mean
        return sum(each) + (NU + K) * np.log(1 + off @ population.precision @ off / NU)

    h = columns.from_the_average()[:, UPSIDE_DOWN]
    assert cost(h) == pytest.approx(columns.cost(columns.from_the_average())[UPSIDE_DOWN])
    starts = [h, fit.H[:, UPSIDE_DOWN], *np.random.default_rng(0).gamma(4, 0.25, (20, K)) * population.mean]
    lowest = min(minimize(cost, start, method="L-BFGS-B", bounds=[(0, None)] * K).fun for start in starts)
    assert cost(h) < 1.02 * lowest


def test_what_is_frequent_costs_less():
    V_hat = np.ones((10, 100))
    V = V_hat.copy()
    V[:3], V[9, :2] = 0.1, 5.0
    below, above = _limits(V, V_hat, np.ones(V.shape, dtype=bool), V_hat != V)
    assert below < above


def test_suspects_are_not_taken_back_because_the_model_could_explain_them(case):
    """It was fitted to them once; they were left out for a reason."""
    V, _, fit, suspects = case
    column = UPSIDE_DOWN + 1
    H, suspects = fit.H.copy(), suspects.copy()
    H[:, column] *= 2
    suspects[:, column] = True
    found, now_suspect = second_opinion(V, replace(fit, H=H), OBSERVED, suspects)
    np.testing.assert_array_equal(found[:, column], H[:, column])
    assert now_suspect[:, column].all()
