"""The odds of being sound, against SciPy's distributions and against what was simulated."""

import numpy as np
import pytest
from scipy.stats import norm, t

from atnmf_core.restoration.odds import FREEDOM, START, Odds, repeated_values

rng = np.random.default_rng(1)
F, N = 12, 2_000
TRUTH = rng.uniform(2, 3, (F, N)).astype(np.float32)
NOISE = np.full((F, N), 0.05, np.float32)
ALL = np.ones((F, N), dtype=bool)


def measured() -> np.ndarray:
    return (TRUTH + 0.05 * rng.standard_normal((F, N))).astype(np.float32)


def test_the_probability_is_that_of_bayes_rule():
    V = measured()
    V[0, :50] = rng.uniform(0, 1, 50)
    odds = Odds(V, ALL)
    found, _ = odds.judge(V, TRUTH, NOISE, learn=False)
    right = (1 - 2 * START) * t.pdf((V - TRUTH) / NOISE, FREEDOM) / NOISE
    low, high = np.minimum(V.min(axis=1, keepdims=True), 0), V.max(axis=1, keepdims=True)
    room = np.where(V < TRUTH, TRUTH - low, high - TRUTH)
    wrong = START / np.maximum(room, 10 * NOISE)
    assert np.allclose(found, right / (right + wrong), atol=5e-3)
    assert odds.log_density == pytest.approx(np.log(right + wrong).mean(), abs=5e-3)


def test_the_shares_of_wrong_entries_are_learned_row_by_row():
    V, share = measured(), np.linspace(0, 0.5, F)
    dark = rng.random((F, N)) < share[:, None]
    V[dark] *= rng.uniform(0, 0.6, dark.sum())
    odds = Odds(V, ALL)
    for _ in range(10):
        found, _ = odds.judge(V, TRUTH, NOISE)
    assert np.abs(odds.below[:, 0] - dark.mean(axis=1)).max() < 0.03
    assert odds.above.max() < 0.03
    assert ((found < 0.5) == dark).mean() > 0.995


def test_values_that_repeat_are_atoms_and_rounding_makes_none():
    V = measured()
    assert repeated_values(V.ravel()) == []
    assert repeated_values(np.round(V, 2).ravel()) == []
    V[rng.random(V.shape) < 0.02] = 0
    V[rng.random(V.shape) < 0.02] = 5
    assert repeated_values(V.ravel()) == [(0.0, -1), (5.0, 1)]
    assert (2.5, 0) in repeated_values(np.where(rng.random(V.shape) < 0.05, np.float32(2.5), V).ravel())


def test_an_end_stays_an_end_where_stripes_have_moved_a_few_entries_beyond_it():
    values = np.clip(np.random.default_rng(3).normal(0.3, 0.3, 50_000), 0, 1)
    striped = values.copy()
    striped[:1000] -= np.linspace(0.1, 0.2, 1000)
    ends = {0.0: -1, 1.0: 1}
    assert dict(repeated_values(values)) == dict(repeated_values(striped)) == ends


def test_clipped_entries_stand_for_the_mean_of_the_tail():
    dim = np.full((F, N), 0.03, np.float32)
    V = np.maximum(dim + 0.05 * rng.standard_normal((F, N)), 0).astype(np.float32)
    odds = Odds(V, ALL)
    sound, _ = odds.judge(V, dim, NOISE, rounds=5)
    assert (sound > 0.5).all()
    target, beyond = odds.stands_for(V, dim, NOISE), 0.03 / 0.05
    expected = 0.03 - 0.05 * norm.pdf(beyond) / norm.sf(beyond)
    assert np.allclose(target[V == 0], expected, rtol=1e-4)
    assert np.array_equal(target[V > 0], V[V > 0])


def test_a_zero_far_below_its_prediction_is_wrong_and_other_columns_are_judged_alike():
    V = measured()
    dead = rng.random(V.shape) < 0.1
    V[dead] = 0
    odds = Odds(V, ALL)
    sound, _ = odds.judge(V, TRUTH, NOISE, rounds=3)
    assert np.array_equal(sound < 0.5, dead)
    whole, _ = odds.judge(V, TRUTH, NOISE, learn=False)
    some = slice(0, 100)
    part, _ = odds.of(V[:, some], ALL[:, some]).judge(V[:, some], TRUTH[:, some], NOISE[:, some], learn=False)
    assert np.allclose(part, whole[:, some])
