"""Spans: posteriors and predictions against dense linear algebra, and the way up the ladder."""

import numpy as np
import pytest

from atnmf_core.restoration.choice import ENTRIES, Treatment, choose
from atnmf_core.restoration.odds import Odds
from atnmf_core.restoration.span import (
    Columns,
    Span,
    brighter_or_darker,
    climb_again,
    explain,
    explain_otherwise,
    explain_rows_otherwise,
    main_directions,
    median_column,
    quantile_of,
    refitted,
)

rng = np.random.default_rng(2)
F, N, K = 30, 400, 3
BASIS = np.linalg.qr(rng.standard_normal((F, K)))[0]
SPREAD = np.array([900.0, 200.0, 40.0])
MEAN, ROW_NOISE = rng.uniform(1, 2, F), rng.uniform(0.01, 0.05, F)
SPAN = Span(*(np.asarray(part, np.float32) for part in (MEAN, ROW_NOISE, BASIS, SPREAD)))
Z = rng.standard_normal((N, K)) * np.sqrt(SPREAD)
TRUTH = SPAN.at(Z)
V = (TRUTH + ROW_NOISE[:, None] * rng.standard_normal((F, N))).astype(np.float32)
WEIGHTS = rng.uniform(0, 1, (F, N)).astype(np.float32)


def dense_posterior(n: int, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of a column's entries: a normal distribution, conditioned as a whole."""
    prior = (ROW_NOISE[:, None] * BASIS * SPREAD) @ (ROW_NOISE[:, None] * BASIS).T
    there = weights > 0
    noise = np.diag(ROW_NOISE[there] ** 2 / weights[there])
    gain = prior[:, there] @ np.linalg.inv(prior[np.ix_(there, there)] + noise)
    return MEAN + gain @ (V[there, n] - MEAN[there]), prior - gain @ prior[there]


@pytest.mark.parametrize("n", [0, 7, 399])
def test_the_posterior_is_that_of_a_conditioned_normal(n):
    made = explain(SPAN, V, WEIGHTS)
    mean, covariance = dense_posterior(n, WEIGHTS[:, n].astype(np.float64))
    assert np.allclose(made.predicted[:, n], mean, atol=2e-4)
    assert np.allclose(made.leverage[:, n] * ROW_NOISE**2, np.diag(covariance), rtol=1e-3, atol=1e-7)


def test_each_entry_is_predicted_by_the_others_as_if_it_were_not_there():
    columns = Columns(
        V, np.ones(V.shape, bool), None, np.ones_like(V), np.ones_like(V), np.ones(N, np.float32)
    )
    columns.look(SPAN)
    for row, n in ((0, 0), (11, 5), (29, 399)):
        without = np.ones(F)
        without[row] = 0
        mean, covariance = dense_posterior(n, without)
        assert columns.others[row, n] == pytest.approx(mean[row], abs=2e-4)
        spread = np.sqrt(covariance[row, row] / ROW_NOISE[row] ** 2 + columns.loudness[n] ** 2)
        assert columns.deviation[row, n] == pytest.approx(spread * ROW_NOISE[row], rel=1e-3)


def test_the_span_is_fitted_by_weighted_least_squares():
    none = np.zeros((N, K * (K + 1) // 2), np.float32)
    found = refitted(SPAN, V, WEIGHTS, Z.astype(np.float32), none, SPAN.noise)
    for row in (0, 13, 29):
        root = np.sqrt(WEIGHTS[row])[:, None]
        solved = np.linalg.lstsq(root * np.c_[Z, np.ones(N)], root[:, 0] * V[row], rcond=None)[0]
        # Where the coordinates are 0 on average, the fitted row is the mean of the span.
        assert found.mean[row] == pytest.approx(np.append(Z.mean(axis=0), 1) @ solved, rel=1e-4)
        turned = np.sqrt(found.spread) * found.basis[row] * found.noise[row]
        assert np.linalg.norm(turned) == pytest.approx(np.std(Z @ solved[:K]), rel=1e-3)
    assert np.allclose(found.basis.T @ found.basis, np.eye(K), atol=1e-4)
    assert np.linalg.svd(found.basis.T @ BASIS)[1].min() > 0.995


def test_main_directions_are_those_of_the_singular_value_decomposition():
    units = rng.standard_normal((F, N))
    directions, variances = main_directions(units, 4)
    left, values, _ = np.linalg.svd(units, full_matrices=False)
    assert np.allclose(np.abs(np.diag(directions.T @ left[:, :4])), 1, atol=1e-6)
    assert np.allclose(variances, values[:4] ** 2 / N)


def test_quantiles_are_of_what_counts():
    size, counted = rng.random((6, 50)), rng.random((6, 50)) < 0.5
    counted[3] = False
    found = quantile_of(size, counted, axis=1, share=0.4)
    for row in (0, 1, 2, 4, 5):
        there = np.sort(size[row, counted[row]])
        assert found[row] == there[int(np.ceil(0.4 * there.size)) - 1]
    assert np.isnan(found[3])


def test_brighter_or_darker_columns_are_found_in_spite_of_wrong_entries():
    sound = np.outer(rng.uniform(1, 2, 25), rng.uniform(0.5, 1.5, 80))
    wrong = rng.random(sound.shape) < 0.3
    damaged = np.where(wrong, sound * rng.uniform(0, 0.6, sound.shape), sound)
    seen = np.ones(sound.shape, bool)
    found = brighter_or_darker(damaged, seen, median_column(damaged, seen))
    assert np.median(np.abs(found / sound - 1)) < 0.05


def dark(share: float) -> tuple[np.ndarray, np.ndarray]:
    wrong = np.random.default_rng(5).random(V.shape) < share
    return np.where(wrong, V * rng.uniform(0, 0.6, V.shape), V).astype(np.float32), wrong


def climbed(damaged: np.ndarray) -> tuple[Columns, Span]:
    """Columns as they stand on the ladder that is chosen for them, and the span of its last rung."""
    seen = np.ones(V.shape, bool)
    ladder, choice = choose(damaged, seen, "unmarked", treatments=(Treatment(),))
    assert 3 <= choice.chosen.K <= 12
    columns = ladder.columns(damaged, seen)
    climb_again(columns, ladder.rungs)
    return columns, ladder.rungs[-1].span


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_on_the_way_up_wrong_entries_are_found(share):
    damaged, wrong = dark(share)
    columns, span = climbed(damaged)
    explain_otherwise(columns, span)
    assert ((columns.sound < 0.5) == wrong).mean() > 0.975


def test_a_block_of_wrong_entries_is_not_learned():
    damaged, _ = dark(0.05)
    damaged[5:11, 30:60] *= 0.2
    columns, span = climbed(damaged)
    explain_otherwise(columns, span)
    assert (columns.sound[5:11, 30:60] < 0.5).mean() > 0.98


def test_an_adversary_is_chosen_where_half_of_the_entries_are_dark():
    damaged, _ = dark(0.5)
    _, choice = choose(damaged, np.ones(V.shape, bool), "unmarked")
    assert choice.chosen.treatment.lam == 1.02
    _, choice = choose(V, np.ones(V.shape, bool), "unmarked")
    assert choice.chosen.treatment.lam is None


def test_a_column_that_lost_its_sound_entries_gets_them_back():
    damaged, wrong = dark(0.1)
    columns, span = climbed(damaged)
    columns.sound[:, 3] = np.where(wrong[:, 3], 1, 0)
    columns.sound[:20, 3] = 0
    columns.look(span)
    columns.sound[:, 3] = np.where(wrong[:, 3], 1, 0)
    explain_otherwise(columns, span)
    assert ((columns.sound[:, 3] < 0.5) == wrong[:, 3]).mean() > 0.9


def test_a_row_that_lost_its_sound_entries_gets_them_back():
    seen, row = np.ones(V.shape, bool), 4
    damaged = V.copy()
    damaged[row, ::20] = 5 * V.max()
    columns = Columns.start(damaged, seen, Odds(damaged, seen), TRUTH, ROW_NOISE)
    basis, mean = SPAN.basis.copy(), SPAN.mean.copy()
    basis[row], mean[row] = -basis[row], 2 * mean[row]
    columns.look(Span(mean, SPAN.noise, basis, SPAN.spread))
    lost = ((columns.sound < 0.5) & seen)[row].mean()

    explain_rows_otherwise(columns, Span(mean, SPAN.noise, basis, SPAN.spread))

    found = columns.sound[row] < 0.5
    assert lost > 0.6
    assert found[::20].all()
    assert found.mean() < 0.06


def test_a_row_whose_dark_entries_were_taken_for_noise_is_explained_again():
    seen, row = np.ones(V.shape, bool), 4
    dark = np.random.default_rng(1).random(V.shape[1]) < 0.5
    damaged = V.copy()
    damaged[row, dark] *= 0.3
    columns = Columns.start(damaged, seen, Odds(damaged, seen), TRUTH, ROW_NOISE)
    basis, mean, noise = SPAN.basis.copy(), SPAN.mean.copy(), SPAN.noise.copy()
    basis[row], mean[row], noise[row] = 0, damaged[row].mean(), damaged[row].std()
    taken = Span(mean, noise, basis, SPAN.spread)
    columns.look(taken)
    missed = (columns.sound[row] > 0.5)[dark].mean()

    explain_rows_otherwise(columns, taken, most_are_sound=False)

    assert missed > 0.9
    assert (columns.sound[row] < 0.5)[dark].mean() > 0.95
    assert (columns.sound[row] < 0.5)[~dark].mean() < 0.05


def test_large_data_is_learned_from_some_columns():
    assert Odds(V, np.ones(V.shape, bool)).atoms == [], "nothing repeats"
    wide = np.tile(V, (1, 1 + ENTRIES // V.size + 1))
    assert wide.size > ENTRIES
    ladder, _ = choose(wide, np.ones(wide.shape, bool), "marked", K=3)
    assert ladder.odds is None
    columns = ladder.columns(wide, np.ones(wide.shape, bool))
    climb_again(columns, ladder.rungs)
    error = np.sqrt(np.square(columns.explained.predicted - np.tile(TRUTH, (1, wide.shape[1] // N))).mean())
    assert error < 0.5 * ROW_NOISE.mean()
