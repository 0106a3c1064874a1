"""Which entries look wrong."""

import numpy as np
import pytest

from atnmf_core.restoration.defects import (
    BEYOND,
    RATIO,
    beyond_limits,
    entry_scale,
    find_suspects,
    spread,
    suspicion,
    thresholds,
)

rng = np.random.default_rng(1)
BY_ROW, BY_COLUMN = np.exp(rng.normal(size=80)), np.exp(rng.normal(size=120))
NOISE = BY_ROW[:, None] * BY_COLUMN * rng.normal(size=(80, 120))
EVERYWHERE = np.ones(NOISE.shape, dtype=bool)


def test_the_scale_is_that_of_the_row_times_that_of_the_column():
    ratio = entry_scale(NOISE, EVERYWHERE) / (BY_ROW[:, None] * BY_COLUMN)
    assert np.median(ratio) == pytest.approx(1, rel=0.1)
    assert np.quantile(ratio, 0.05) > 0.5
    assert np.quantile(ratio, 0.95) < 2


def test_a_third_of_wrong_entries_hardly_moves_the_scale():
    wrong = np.where(rng.random(NOISE.shape) < 0.33, 1e3, NOISE)
    assert np.median(entry_scale(wrong, EVERYWHERE) / entry_scale(NOISE, EVERYWHERE)) < 2


def test_what_is_not_used_has_no_influence_on_the_scale():
    use = rng.random(NOISE.shape) < 0.5
    assert np.array_equal(entry_scale(np.where(use, NOISE, 1e9), use), entry_scale(NOISE, use))


def sound_and_damaged():
    V_hat = rng.uniform(1, 2, NOISE.shape)
    V = V_hat * (1 + 0.02 * rng.normal(size=V_hat.shape))
    dark, bright = rng.random(V.shape) < 0.1, rng.random(V.shape) < 0.03
    bright &= ~dark
    return V, np.where(dark, 0.3 * V, np.where(bright, 3 * V, V)), V_hat, dark | bright


def test_entries_far_from_their_prediction_are_suspect_and_no_others():
    sound, damaged, V_hat, wrong = sound_and_damaged()
    assert np.array_equal(suspicion(damaged, V_hat, EVERYWHERE, EVERYWHERE) >= 1, wrong)
    assert not (suspicion(sound, V_hat, EVERYWHERE, EVERYWHERE) >= 1).any()


@pytest.mark.parametrize("limits", [(4.0, 4.0), (2.0, 3.0)])
def test_beyond_limits_is_where_suspicion_is_above_one(limits):
    _, damaged, V_hat, _ = sound_and_damaged()
    damaged[5, :20] = V_hat[5, :20] * np.linspace(0.5, 1.5, 20)
    scales = spread(damaged - V_hat, EVERYWHERE)
    found = beyond_limits(damaged, V_hat, scales, limits)
    assert np.array_equal(found, suspicion(damaged, V_hat, EVERYWHERE, EVERYWHERE, limits) >= 1)
    assert found[5, :20].any()
    assert not found[5, :20].all()


def test_a_residual_of_many_deviations_is_no_defect_where_the_factor_is_small():
    V_hat = np.ones((40, 50))
    V = V_hat + 1e-4 * rng.normal(size=V_hat.shape)
    V[3, 4] = 1 / RATIO + 0.01
    assert suspicion(V, V_hat, V > 0, V > 0)[3, 4] < 1
    V[3, 4] = 1 / RATIO - 0.01
    assert suspicion(V, V_hat, V > 0, V > 0)[3, 4] > 1


@pytest.mark.parametrize("hidden", [np.nan, 0.0, 1e9])
def test_nothing_is_suspected_where_nothing_was_observed(hidden):
    _, damaged, V_hat, _ = sound_and_damaged()
    observed = rng.random(V_hat.shape) < 0.7
    found = suspicion(np.where(observed, damaged, hidden), V_hat, observed, observed)
    assert (found[~observed] == 0).all()
    assert np.isfinite(found).all()


def test_zeros_recorded_and_predicted_give_finite_numbers():
    found = suspicion(np.zeros((4, 5)), np.zeros((4, 5)), np.ones((4, 5), bool), np.ones((4, 5), bool))
    assert (found == 0).all()


def test_a_lopsided_tail_lowers_the_threshold_on_its_side_only():
    V_hat = np.ones((200, 300))
    V = V_hat + 0.2 * rng.normal(size=V_hat.shape)
    everywhere = np.ones(V.shape, bool)
    assert thresholds(V, V_hat, everywhere, everywhere) == (BEYOND, BEYOND)
    V[rng.random(V.shape) < 0.2] = 0.3
    below, above = thresholds(V, V_hat, everywhere, everywhere)
    assert below < BEYOND == above


def test_a_material_that_the_model_does_not_know_is_no_collection_of_defects():
    V_hat = rng.uniform(1, 2, (60, 90))
    V = V_hat * (1 + 0.02 * rng.normal(size=V_hat.shape))
    V[20:32, 40:52] *= 2
    everywhere = np.ones(V.shape, bool)
    assert (suspicion(V, V_hat, everywhere, everywhere) >= 1)[20:32, 40:52].mean() > 0.9
    scattered = rng.random(V.shape) < 0.03
    scattered[20:32, 40:52] = False
    V[scattered] *= 3
    assert np.array_equal(find_suspects(V, V_hat, everywhere, everywhere), scattered)


def test_a_dark_block_is_a_defect_whatever_its_shape():
    V_hat = rng.uniform(1, 2, (60, 90))
    V = V_hat * (1 + 0.02 * rng.normal(size=V_hat.shape))
    V[20:32, 40:52] *= 0.2
    everywhere = np.ones(V.shape, bool)
    assert find_suspects(V, V_hat, everywhere, everywhere)[20:32, 40:52].all()
