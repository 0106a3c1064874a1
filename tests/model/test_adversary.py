"""The adversary against brute force: nothing that it could do is better than the closed form."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize_scalar

from atnmf_core.model.adversary import (
    adversarial_loss,
    at_wall,
    attack_objective,
    curvature,
    descent_target,
    effective_data,
    entry_loss,
    local_curvature,
    lower_bend,
    optimal_attack,
)

entries = st.floats(0, 10).map(lambda x: x if x > 1e-6 else 0.0)
prices = st.floats(1.01, 50)
leashes = st.one_of(st.none(), st.sampled_from([0.0, 0.25, 1.0, 4.0]), st.floats(0, 5))
quick = settings(max_examples=60, deadline=None, derandomize=True)
pairs = st.integers(1, 12).flatmap(lambda n: st.tuples(arrays(float, (2, n), elements=entries), st.just(n)))


def close(a, b):
    return a == pytest.approx(b, rel=1e-9, abs=1e-9)


@quick
@given(v=entries, p=entries, lam=prices, leash=leashes)
def test_no_number_that_scipy_finds_is_a_better_attack_on_an_entry(v, p, lam, leash):
    gain = lambda r: (v + r - p) ** 2 - lam * r**2  # noqa: E731
    best = float(optimal_attack(np.array([v]), np.array([p]), lam, leash=leash)[0])
    furthest = -v + 20 + 20 / (lam - 1) if leash is None else leash * v
    assert -v <= best <= furthest
    found = minimize_scalar(
        lambda r: -gain(r), bounds=(-v, furthest), method="bounded", options={"xatol": 1e-10}
    )
    # The search ends close to the maximum, never above it.
    slack = 1e-7 * (1 + abs(gain(best)))
    assert -found.fun <= gain(best) + 1e-12 * (1 + abs(gain(best)))
    assert -found.fun >= gain(best) - slack or best in (-v, furthest)


@quick
@given(both=pairs, lam=prices, leash=leashes)
def test_no_point_of_a_fine_grid_over_the_box_beats_the_closed_form(both, lam, leash):
    V, V_hat = both[0]
    furthest = 20 + 20 / (lam - 1) if leash is None else leash * V
    best = attack_objective(V, optimal_attack(V, V_hat, lam, leash=leash), V_hat, lam)
    grid = -V + np.linspace(0, 1, 4001)[:, None] * (furthest + V)
    found = ((V + grid - V_hat) ** 2 - lam * grid**2).max(axis=0).sum()
    assert found <= best + 1e-9 * (1 + abs(best))
    assert found >= best - (lam - 1) * len(V) * (np.max(furthest + V) / 4000) ** 2 - 1e-9 * (1 + abs(best))


@quick
@given(both=pairs, lam=prices, leash=leashes, seed=st.integers(0, 99))
def test_no_feasible_random_attack_beats_the_closed_form(both, lam, leash, seed):
    ((V, V_hat), n), rng = both, np.random.default_rng(seed)
    best = attack_objective(V, optimal_attack(V, V_hat, lam, leash=leash), V_hat, lam)
    for spread in (0.01, 1.0, 100.0):
        R = np.clip(rng.normal(scale=spread, size=n), -V, np.inf if leash is None else leash * V)
        assert attack_objective(V, R, V_hat, lam) <= best + 1e-9 * (1 + abs(best))


@quick
@given(both=pairs, lam=prices, leash=leashes)
def test_the_exact_loss_is_what_the_best_attack_gains_and_attacked_data_what_is_fitted(both, lam, leash):
    V, V_hat = both[0]
    R = optimal_attack(V, V_hat, lam, leash=leash)
    assert close(adversarial_loss(V, V_hat, lam, leash=leash), attack_objective(V, R, V_hat, lam))
    assert (V + R >= -1e-12).all()
    if leash is None:
        assert close(effective_data(V, V_hat, lam), V + R)


@quick
@given(v=entries, p=entries, p0=entries, lam=prices, leash=leashes)
def test_the_descent_target_touches_the_loss_and_lies_nowhere_below_it(v, p, p0, lam, leash):
    t = float(descent_target(np.array([v]), np.array([p0]), lam, leash=leash)[0])
    wall = v if t > v or leash is None else leash * v
    floor = lam * ((t - v) ** 2 + 2 * wall * abs(t - v))
    surrogate = lambda q: curvature(lam) * (q - t) ** 2 + floor  # noqa: E731
    assert close(surrogate(p0), float(entry_loss(v, p0, lam, leash)))
    assert surrogate(p) >= float(entry_loss(v, p, lam, leash)) - 1e-9 * (1 + surrogate(p))


@quick
@given(v=entries, p=entries, q=entries, lam=prices, leash=leashes)
def test_the_exact_loss_is_convex_in_the_prediction_and_no_less_than_the_squared_error(v, p, q, lam, leash):
    middle = float(entry_loss(v, (p + q) / 2, lam, leash))
    ends = (float(entry_loss(v, p, lam, leash)) + float(entry_loss(v, q, lam, leash))) / 2
    assert middle <= ends + 1e-9 * (1 + ends)
    assert float(entry_loss(v, p, lam, leash)) >= (v - p) ** 2 - 1e-9


@pytest.mark.parametrize("leash", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("bend", ["upper", "lower"])
def test_the_pieces_of_the_loss_meet_without_a_jump_or_a_kink(leash, bend):
    lam, v, h = 1.7, 0.6, 1e-6
    edge = lam * v if bend == "upper" else lower_bend(lam, leash) * v
    below, at, above = (float(entry_loss(v, edge + step, lam, leash)) for step in (-h, 0, h))
    assert above - below == pytest.approx(0, abs=1e-5)
    assert (at - below) / h == pytest.approx((above - at) / h, rel=1e-4, abs=1e-5)


def test_a_leash_too_long_to_be_reached_changes_nothing():
    V, V_hat = np.random.default_rng(3).random((2, 50))
    long = 1 / (1.5 - 1)
    assert lower_bend(1.5, long) == lower_bend(1.5, None) == 0
    assert np.array_equal(optimal_attack(V, V_hat, 1.5, leash=long), optimal_attack(V, V_hat, 1.5))
    assert np.array_equal(entry_loss(V, V_hat, 1.5, long), entry_loss(V, V_hat, 1.5))
    assert np.array_equal(descent_target(V, V_hat, 1.5, leash=long), descent_target(V, V_hat, 1.5))


def test_an_attack_of_infinite_price_is_no_attack_and_a_measured_zero_is_at_the_wall_at_once():
    V, V_hat = np.array([0.2, 0.9]), np.array([0.5, 0.1])
    assert (optimal_attack(V, V_hat, np.inf) == 0).all()
    assert adversarial_loss(V, V_hat, np.inf) == pytest.approx(((V - V_hat) ** 2).sum())
    assert curvature(np.inf) == 1
    assert at_wall(np.zeros(3), np.array([0, 0.01, 5]), 1.05).tolist() == [False, True, True]


@pytest.mark.parametrize("hidden", [np.nan, np.inf, -5.0])
def test_what_stands_at_an_unobserved_entry_has_no_influence(hidden):
    V, V_hat = np.array([[0.2, 0.9], [0.4, 0.0]]), np.array([[0.5, 0.1], [0.3, 0.2]])
    observed = np.array([[True, False], [True, True]])
    strange = np.where(observed, V, hidden)
    R = optimal_attack(strange, V_hat, 2.0, observed)
    assert np.array_equal(R, np.where(observed, optimal_attack(V, V_hat, 2.0), 0.0))
    assert adversarial_loss(strange, V_hat, 2.0, observed) == adversarial_loss(
        V[observed], V_hat[observed], 2.0
    )
    assert attack_objective(strange, R, V_hat, 2.0, observed) == pytest.approx(
        adversarial_loss(V, V_hat, 2.0, observed)
    )


def test_results_can_be_written_into_a_given_array():
    V, V_hat, out = np.array([0.2, 0.9]), np.array([0.5, 0.1]), np.empty(2)
    assert effective_data(V, V_hat, 3.0, out=out) is out
    assert np.array_equal(out, effective_data(V, V_hat, 3.0))
    assert descent_target(V, V_hat, 3.0, out=out) is out
    assert np.array_equal(out, [0.2, 0.9])


@quick
@given(v=entries, p=entries, lam=prices, leash=leashes)
def test_the_local_curvature_is_the_second_difference_of_the_loss(v, p, lam, leash):
    step = 1e-3
    bends = np.array([lam * v, lower_bend(lam, leash) * v])
    assume((abs(p - bends) > step).all())
    before, here, after = entry_loss(v, [p - step, p, p + step], lam, leash)
    share = local_curvature(np.array([v]), np.array([p]), lam, leash)[0]
    expected = (after - 2 * here + before) / (2 * step**2)
    assert share * curvature(lam) == pytest.approx(expected, rel=1e-4)


@quick
@given(pair=pairs, lam=prices, leash=leashes, seed=st.integers(0, 9))
def test_an_entry_stands_at_a_wall_where_the_bounds_and_nothing_else_hold_the_attacker(
    pair, lam, leash, seed
):
    (v, p), n = pair
    observed = np.random.default_rng(seed).random(n) < 0.7
    wished = (v - p) / (lam - 1)
    assume((np.abs(wished + v) > 1e-9).all())
    assume(leash is None or (np.abs(wished - leash * v) > 1e-9).all())

    held = at_wall(v, p, lam, observed, leash)

    np.testing.assert_array_equal(held, observed & (optimal_attack(v, p, lam, leash=leash) != wished))
    assert not at_wall(v, p, np.inf).any()
