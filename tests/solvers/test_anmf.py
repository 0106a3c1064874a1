"""ANMF (reconstruction): two players, one dictionary, checked against the problem as it is stated."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from atnmf_core import InputError, factorize
from atnmf_core.model.problem import make_problem
from atnmf_core.solvers.anmf import Game

TREATMENTS = ["ignore", "zero"]
TO_THE_END = {"max_inner": 20_000, "tol_outer": 1e-11, "dtype": "float64"}


def small_problem(seed=0, F=9, N=12, K=3):
    rng = np.random.default_rng(seed)
    V = rng.random((F, K)) @ rng.random((K, N)) + 0.2 * rng.random((F, N))
    V /= V.max()
    observed = rng.random((F, N)) < 0.7
    start = rng.random((F, K)), rng.random((K, N))
    return V, observed, start, rng.permuted(V, axis=1)


def best_reply(Z, W, H, mu):
    """The attacker's dictionary by a least-squares solver, the rows of H having unit length."""
    K = len(H)
    A = np.vstack([H.T, np.sqrt(mu) * np.eye(K)])
    return np.linalg.lstsq(A, np.vstack([Z.T, np.sqrt(mu) * W.T]), rcond=None)[0].T


def upper_objective(V, observed, Z, mu, gamma, W, H, missing):
    """The learner's objective, straight from its definition."""
    length = np.linalg.norm(H, axis=1)
    W, H = W * length, H / length[:, None]
    V = np.where(observed, V, 0)
    weight = observed if missing == "ignore" else np.ones_like(V)
    attacked = weight * (V - best_reply(Z, W, H, mu) @ H)
    plain = weight * (V - W @ H)
    return gamma * (attacked**2).sum() + (1 - gamma) * (plain**2).sum()


def flat_objective(V, observed, Z, mu, gamma, missing, K):
    """The same as a function of one vector, and a way to make that vector."""
    F, N = V.shape

    def value(x):
        W, H = x[: F * K].reshape(F, K), x[F * K :].reshape(K, N)
        return upper_objective(V, observed, Z, mu, gamma, W, H, missing)

    return value, lambda W, H: np.concatenate([W.ravel(), H.ravel()])


def projected_gradient(value, x, step=1e-6):
    """||x - max(x - g, 0)||, g by central differences."""
    gradient = np.array([(value(x + step * e) - value(x - step * e)) / (2 * step) for e in np.eye(x.size)])
    return np.linalg.norm(x - np.maximum(x - gradient, 0))


def game_of(V, observed, missing, **attack):
    problem = make_problem(
        V, observed, K=3, method="anmf", lam=None, missing=missing, dtype="float64", **attack
    )
    return Game(problem, problem.attack), problem.scale


def test_the_attacked_dictionary_is_the_attackers_best_reply():
    V, _, (W, H), Z = small_problem()
    game, scale = game_of(V, None, "ignore", Z=Z, mu=0.7, gamma=0.4)
    point = game.at(W, H)
    np.testing.assert_allclose(np.linalg.norm(point.H, axis=1), 1)
    np.testing.assert_allclose(
        point.W_attacked * scale, best_reply(Z, point.W * scale, point.H, 0.7), atol=1e-12
    )


@pytest.mark.parametrize("missing", TREATMENTS)
def test_the_objective_and_its_gradient_are_those_of_the_definition(missing):
    V, observed, (W, H), Z = small_problem()
    game, scale = game_of(V, observed, missing, Z=Z, mu=0.3, gamma=0.6)
    point = game.at(W, H)
    value, flat = flat_objective(V / scale, observed, Z / scale, 0.3, 0.6, missing, 3)
    x = flat(point.W, point.H)
    assert point.loss == pytest.approx(value(x), rel=1e-12)
    gradient = 2 * flat(game.half_gradient_W(point), game.half_gradient_H(point))
    rng = np.random.default_rng(1)
    for _ in range(5):
        direction = rng.standard_normal(x.size)
        slope = (value(x + 1e-6 * direction) - value(x - 1e-6 * direction)) / 2e-6
        assert gradient @ direction == pytest.approx(slope, rel=1e-6, abs=1e-6)


def test_how_the_scale_is_shared_between_the_factors_does_not_matter():
    V, observed, (W, H), Z = small_problem()
    game, _ = game_of(V, observed, "ignore", Z=Z, mu=1.0, gamma=0.5)
    sizes = np.array([1e-3, 1.0, 50.0])
    assert game.at(W * sizes, H / sizes[:, None]).loss == pytest.approx(game.at(W, H).loss, rel=1e-9)


def test_with_the_scale_left_open_the_learner_would_escape_the_attacker():
    _, _, (W, H), Z = small_problem()

    def reply_moves(c):
        """How far the reply to (W/c, c H) takes the prediction, H not brought to unit length."""
        return np.linalg.norm(best_reply(Z, W / c, c * H, mu=1.0) @ (c * H) - W @ H)

    assert reply_moves(1e-4) < 1e-6 * reply_moves(1.0)


@pytest.mark.parametrize("missing", TREATMENTS)
@pytest.mark.parametrize("mu", [0.3, 3.0])
def test_first_order_conditions_hold_at_convergence(missing, mu):
    V, observed, start, Z = small_problem()
    fit = factorize(
        V, observed, K=3, method="anmf", missing=missing, init=start, Z=Z, mu=mu, gamma=0.5, **TO_THE_END
    )
    assert fit.converged
    value, flat = flat_objective(V, observed, Z, mu, 0.5, missing, 3)
    at_start = projected_gradient(value, flat(*start))
    assert projected_gradient(value, flat(fit.W, fit.H)) < 1e-4 * at_start


def by_scipy(V, observed, Z, mu, gamma, missing, start):
    """L-BFGS-B on the definition, with the gradient that is checked above."""
    game, scale = game_of(V, observed, missing, Z=Z, mu=mu, gamma=gamma)
    value, flat = flat_objective(V, observed, Z, mu, gamma, missing, 3)
    F, K = start[0].shape
    assert scale == 1

    def gradient(x):
        H = x[F * K :].reshape(K, -1)
        length = np.linalg.norm(H, axis=1)
        point = game.at(x[: F * K].reshape(F, K), H)
        return 2 * flat(game.half_gradient_W(point) * length, game.half_gradient_H(point) / length[:, None])

    x = flat(*start)
    options = {"maxiter": 5000, "maxfun": 20_000, "ftol": 1e-14, "gtol": 1e-9}
    found = minimize(value, x, jac=gradient, method="L-BFGS-B", bounds=[(0, None)] * x.size, options=options)
    return found.fun


@pytest.mark.parametrize("missing", TREATMENTS)
def test_scipy_from_the_same_starts_gets_no_lower_and_from_the_end_no_further(missing):
    ours, theirs = [], []
    for seed in range(5):
        V, observed, start, Z = small_problem(seed)
        fit = factorize(
            V, observed, K=3, method="anmf", missing=missing, init=start, Z=Z, mu=1.0, gamma=0.5, **TO_THE_END
        )
        ours.append(fit.history["adversarial_loss"][-1])
        theirs.append(by_scipy(V, observed, Z, 1.0, 0.5, missing, start))
        assert by_scipy(V, observed, Z, 1.0, 0.5, missing, (fit.W, fit.H)) > ours[-1] * (1 - 1e-6)
    # Not convex: from one start the two may end in different valleys, so the starts are judged together.
    assert np.mean(np.log(ours)) <= np.mean(np.log(theirs)) + 1e-3


@pytest.mark.parametrize("missing", TREATMENTS)
def test_without_weight_on_the_attack_it_is_exactly_nmf(missing):
    V, observed, _, Z = small_problem()
    nmf = factorize(V, observed, K=3, missing=missing, seed=4)
    anmf = factorize(V, observed, K=3, method="anmf", missing=missing, seed=4, Z=Z, gamma=0)
    np.testing.assert_array_equal(anmf.W, nmf.W)
    np.testing.assert_array_equal(anmf.H, nmf.H)
    np.testing.assert_array_equal(anmf.history["adversarial_loss"], nmf.history["adversarial_loss"])
    # Of several starts the one with the lowest objective is kept.
    best, first = (factorize(V, observed, K=3, method="anmf", Z=Z, n_init=n, seed=7) for n in (5, 1))
    assert best.history["adversarial_loss"][-1] <= first.history["adversarial_loss"][-1]


def test_an_attack_at_a_forbidding_price_changes_nothing():
    V, observed, _, Z = small_problem()
    fit = factorize(V, observed, K=3, method="anmf", Z=Z, mu=1e9, gamma=0.5, dtype="float64")
    assert fit.history["adversarial_loss"][-1] == pytest.approx(fit.history["squared_error"][-1], rel=1e-6)


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 999),
    mu=st.sampled_from([1e-6, 0.01, 1.0, 1e9]),
    gamma=st.sampled_from([0.1, 0.5, 1.0]),
    size=st.sampled_from([1e-12, 1.0, 1e6]),
    target=st.sampled_from(["zero", "negative", "permuted", "far"]),
    missing=st.sampled_from(TREATMENTS),
    dtype=st.sampled_from(["float32", "float64"]),
)
def test_the_objective_never_rises(seed, mu, gamma, size, target, missing, dtype):
    V, observed, _, permuted = small_problem(seed)
    Z = {"zero": 0.0, "negative": -V, "permuted": permuted, "far": 1e9}[target]
    fit = factorize(
        V * size, observed, K=3, method="anmf", missing=missing, seed=seed, max_inner=30, dtype=dtype,
        Z=np.multiply(Z, size), mu=mu, gamma=gamma,
    )  # fmt: skip
    assert (np.diff(fit.history["adversarial_loss"]) <= 0).all()
    assert np.isfinite(fit.W).all()
    assert np.isfinite(fit.H).all()
    assert (fit.W >= 0).all()
    assert (fit.H >= 0).all()


@pytest.mark.parametrize("missing", TREATMENTS)
def test_the_history_ends_with_the_objective_of_the_returned_factors(missing):
    V, observed, _, Z = small_problem()
    V, Z = 1000 * V, 1000 * Z
    fit = factorize(V, observed, K=3, method="anmf", missing=missing, Z=Z, mu=0.5, gamma=0.3, dtype="float64")
    assert fit.history["adversarial_loss"][-1] == pytest.approx(
        upper_objective(V, observed, Z, 0.5, 0.3, fit.W, fit.H, missing), rel=1e-9
    )
    assert fit.history["squared_error"][-1] == pytest.approx(((V - fit.V_hat)[observed] ** 2).sum(), rel=1e-9)
    assert not fit.R.any()


def test_hidden_values_have_no_influence_also_by_default():
    V, observed, _, _ = small_problem()
    hidden = np.where(observed, V, np.nan)
    for missing in TREATMENTS:
        one = factorize(V, observed, K=3, method="anmf", missing=missing)
        other = factorize(hidden, K=3, method="anmf", missing=missing)
        np.testing.assert_array_equal(one.V_hat, other.V_hat)


def test_by_default_the_target_is_half_the_data_as_far_as_it_is_known():
    V, observed, _, _ = small_problem()
    row_means = np.nanmean(np.where(observed, V, np.nan), axis=1, keepdims=True)
    for missing, hidden in (("ignore", row_means), ("zero", 0.0)):
        given = {"K": 3, "method": "anmf", "missing": missing, "dtype": "float64"}
        explicit = factorize(V, observed, Z=np.where(observed, V, hidden) / 2, mu=10.0, gamma=0.5, **given)
        np.testing.assert_allclose(factorize(V, observed, **given).V_hat, explicit.V_hat, rtol=1e-9)


def test_a_callback_sees_the_factors_and_stops_the_fit():
    V, observed, _, Z = small_problem()
    seen = []

    def stop_at_third(progress):
        seen.append((progress.loss, *progress.factors()))
        return progress.iteration == 3

    fit = factorize(V, observed, K=3, method="anmf", Z=Z, callback=stop_at_third)
    assert not fit.converged
    assert fit.n_iter == 3
    assert len(seen) == 4
    np.testing.assert_array_equal(seen[-1][1], fit.W)
    np.testing.assert_array_equal(seen[-1][2], fit.H)


def test_a_part_that_starts_empty_does_no_harm():
    V, observed, (W, H), Z = small_problem()
    H[1] = 0
    fit = factorize(V, observed, K=3, method="anmf", Z=Z, init=(W, H))
    assert np.isfinite(fit.V_hat).all()
    assert (np.diff(fit.history["adversarial_loss"]) <= 0).all()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"method": "anmf", "lam": 2.0}, "lam=2.0: method 'anmf' knows no lam"),
        ({"method": "anmf", "solver": "paper"}, "the code of ANMF is not public"),
        ({"method": "anmf", "mu": 0}, "mu=0: the attacker's price"),
        ({"method": "anmf", "mu": float("inf")}, "mu=inf"),
        ({"method": "anmf", "mu": "1"}, "mu='1'"),
        ({"method": "anmf", "gamma": -0.1}, "gamma=-0.1"),
        ({"method": "anmf", "gamma": 1.1}, "gamma=1.1"),
        ({"method": "anmf", "Z": np.zeros((2, 2))}, r"Z has shape \(2, 2\)"),
        ({"method": "anmf", "Z": "V"}, "Z has shape"),
        ({"method": "anmf", "Z": np.nan}, "Z: an entry is NaN"),
        ({"method": "anmf", "Z": 1e12}, "Z: an entry is NaN, infinite or over 1e.09 times"),
        ({"method": "nmf", "Z": 0.0}, "Z was given, but only method 'anmf'"),
        ({"method": "nmf", "gamma": 0.5}, "gamma was given"),
        ({"method": "atnmf", "lam": 2.0, "mu": 1.0}, "mu was given"),
    ],
)
def test_what_cannot_be_used_is_refused_with_a_reason(arguments, reason):
    with pytest.raises(InputError, match=reason):
        factorize(np.ones((4, 5)), K=2, **arguments)
