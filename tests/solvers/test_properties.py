"""What holds for any data, mask, K and lam, not for chosen examples only."""

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from atnmf_core import factorize
from atnmf_core.model.adversary import adversarial_loss, attack_objective

# Examples still depend on which modules the process has imported: Hypothesis draws constants from them.
quick = settings(max_examples=40, deadline=None, derandomize=True)
# Zeros, ordinary numbers, and numbers whose squares leave the range of single precision.
entries = st.one_of(st.just(0.0), st.floats(1e-3, 1), st.sampled_from([1e-30, 1e-22, 1e-12, 5.0]))
prices = st.one_of(st.floats(1.01, 50), st.sampled_from([1.01, 2.0, 50.0]))


@st.composite
def ordinary_problems(draw):
    """Dense noisy data of sizes, shares and K at which the solver takes each of its kinds of steps."""
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    F, N = draw(st.integers(22, 30)), draw(st.integers(22, 30))
    V = rng.random((F, 4)) @ rng.random((4, N)) + 0.3 * rng.random((F, N))
    observed = rng.random((F, N)) < draw(st.sampled_from([0.02, 0.15, 0.5, 0.9]))
    observed[0, 0] = True
    return V, observed, draw(st.sampled_from([1, 4, 11, 22]))


@st.composite
def strange_problems(draw, most=9):
    """Few entries, many of them zero or tiny; rows and columns may have nothing observed."""
    F, N = draw(st.integers(1, most)), draw(st.integers(1, most))
    V = draw(arrays(float, (F, N), elements=entries))
    observed = draw(arrays(bool, (F, N)))
    observed[draw(st.integers(0, F - 1)), draw(st.integers(0, N - 1))] = True
    return V, observed, draw(st.integers(1, min(F, N)))


def problems():
    return st.one_of(strange_problems(), ordinary_problems())


treatments = st.sampled_from(["ignore", "zero"])
leashes = st.sampled_from([None, 0.0, 0.25, 1.0, 4.0])
attacks = st.builds(lambda lam, leash: {"method": "atnmf", "lam": lam, "leash": leash}, prices, leashes)
models = st.one_of(st.just({"method": "nmf"}), attacks)
unleashed = st.one_of(st.just({"method": "nmf"}), prices.map(lambda lam: {"method": "atnmf", "lam": lam}))
precisions = st.sampled_from(["float32", "float64"])


def rounding(dtype, V, observed, lam=2.0):
    """What the sum of the losses cannot resolve: rounding of single entries, weighed by the steepest loss,
    and squares too small for the number format.
    """
    limits = np.finfo(dtype)
    return (
        50 * limits.eps * (lam / (lam - 1)) * (np.where(observed, V, 0) ** 2).sum()
        + 100 * V.size * limits.tiny
    )


@example(
    problem=(np.zeros((3, 5)), np.random.default_rng(3).random((3, 5)) < 0.5, 3),
    model={"method": "nmf"},
    missing="ignore",
    dtype="float32",
    seed=3,
)
@settings(quick, max_examples=120)
@given(problem=problems(), model=models, missing=treatments, dtype=precisions, seed=st.integers(0, 9))
def test_the_loss_of_the_fast_solver_never_rises(problem, model, missing, dtype, seed):
    V, observed, K = problem
    fit = factorize(
        V, observed, K=K, **model, missing=missing, dtype=dtype, seed=seed, max_inner=30, tol_outer=0
    )
    losses = fit.history["adversarial_loss"]
    eps = np.finfo(dtype).eps
    # A prediction that should be zero is one rounding error of the factors that it started from.
    slack = rounding(dtype, V, observed, model.get("lam", 2.0)) + 50 * eps**2 * losses[0]
    assert (np.diff(losses) <= 50 * eps * losses[:-1] + slack).all()


@pytest.mark.parametrize("lam", [1.001, 1.3, 10.0])
@pytest.mark.parametrize("missing", ["ignore", "zero"])
def test_nor_does_that_of_a_problem_of_which_little_is_observed(missing, lam):
    rng = np.random.default_rng(60)
    V = rng.random((60, 3)) @ rng.random((3, 700))
    observed = rng.random(V.shape) < 0.045
    how = {"method": "atnmf", "lam": lam, "leash": 0.25, "missing": missing, "max_inner": 40, "tol_outer": 0}

    losses = factorize(V, observed, K=1, **how).history["adversarial_loss"]

    slack = rounding("float32", V, observed, lam) / 50
    assert (np.diff(losses) <= 20 * np.finfo("float32").eps * losses[:-1] + slack).all()


@quick
@given(problem=problems(), model=models, missing=treatments, dtype=precisions)
def test_the_recorded_losses_are_those_of_the_factors(problem, model, missing, dtype):
    V, observed, K = problem
    fit = factorize(V, observed, K=K, **model, missing=missing, dtype=dtype, max_inner=15)
    V_hat, lam = fit.W.astype(float) @ fit.H.astype(float), model.get("lam", np.inf)
    expected = adversarial_loss(V, V_hat, lam, observed, model.get("leash"))
    if missing == "zero":
        expected += (V_hat[~observed] ** 2).sum()
    slack = rounding(dtype, V, observed, model.get("lam", 2.0))
    assert abs(fit.history["adversarial_loss"][-1] - expected) <= 1e-4 * expected + slack


@quick
@given(problem=problems(), lam=prices, missing=treatments, seed=st.integers(0, 99))
def test_r_of_a_fit_beats_every_feasible_random_attack(problem, lam, missing, seed):
    V, observed, K = problem
    fit = factorize(V, observed, K=K, method="atnmf", lam=lam, missing=missing, dtype="float64", max_inner=10)
    best = attack_objective(V, fit.R, fit.V_hat, lam, observed)
    assert np.isclose(best, adversarial_loss(V, fit.V_hat, lam, observed), rtol=1e-9, atol=1e-12)
    assert (fit.R >= -V)[observed].all()
    rng = np.random.default_rng(seed)
    for spread in (0.1, 10.0):
        other = np.maximum(fit.R + rng.normal(scale=spread, size=V.shape), -V)
        assert attack_objective(V, other, fit.V_hat, lam, observed) <= best + 1e-9 * (1 + abs(best))


@quick
@given(problem=problems(), missing=treatments, solver=st.sampled_from(["fast", "paper"]))
def test_an_adversary_of_huge_price_leaves_standard_nmf(problem, missing, solver):
    V, observed, K = problem
    limits = {"max_inner": 12, "max_outer": 2, "tol_inner": 0, "tol_outer": 0}
    how = {"K": K, "missing": missing, "solver": solver, "dtype": "float64", **limits}
    plain, priced = (factorize(V, observed, **how, **one) for one in ({}, {"method": "atnmf", "lam": 1e9}))
    assert np.allclose(priced.V_hat, plain.V_hat, rtol=1e-4, atol=1e-5 * max(V[observed].max(), 1e-300))


@quick
@given(
    problem=problems(),
    model=unleashed,
    missing=treatments,
    solver=st.sampled_from(["fast", "paper"]),
    hidden=st.floats(allow_nan=True, allow_infinity=True),
)
def test_hidden_values_have_no_influence(problem, model, missing, solver, hidden):
    V, observed, K = problem
    options = {"K": K, **model, "missing": missing, "solver": solver, "max_inner": 8, "max_outer": 2}
    one = factorize(np.where(observed, V, 0.5), observed, **options)
    two = factorize(np.where(observed, V, hidden), observed, **options)
    assert np.array_equal(one.W, two.W)
    assert np.array_equal(one.H, two.H)
    assert np.array_equal(one.history["adversarial_loss"], two.history["adversarial_loss"])


@quick
@given(problem=problems(), model=models, missing=treatments, seed=st.integers(0, 9))
def test_a_transposed_problem_has_the_same_losses(problem, model, missing, seed):
    V, observed, K = problem
    # A square one has no longer side to start with.
    assume(V.shape[0] != V.shape[1])
    rng = np.random.default_rng(seed)
    W, H = rng.random((V.shape[0], K)), rng.random((K, V.shape[1]))
    options = {"K": K, **model, "missing": missing, "dtype": "float64", "max_inner": 10, "tol_outer": 0}
    upright = factorize(V, observed, init=(W, H), **options)
    lying = factorize(V.T, observed.T, init=(H.T, W.T), **options)
    slack = rounding("float64", V, observed, model.get("lam", 2.0))
    # A loss of exactly zero ends a fit, and rounding decides who reaches it first.
    losses = zip(*(fit.history["adversarial_loss"] for fit in (upright, lying)), strict=False)
    assert all(np.isclose(one, other, rtol=1e-6, atol=slack) for one, other in losses)


@quick
@given(problem=problems(), model=models, missing=treatments)
def test_single_precision_agrees_with_double(problem, model, missing):
    V, observed, K = problem
    options = {"K": K, **model, "missing": missing, "max_inner": 6, "tol_outer": 0}
    single, double = (factorize(V, observed, **options, dtype=d) for d in ("float32", "float64"))
    slack = rounding("float32", V, observed, model.get("lam", 2.0))
    losses = [fit.history["adversarial_loss"][-1] for fit in (single, double)]
    assert np.isclose(*losses, rtol=2e-2, atol=slack)


@quick
@given(problem=problems(), model=unleashed, missing=treatments, dtype=precisions, data=st.data())
def test_both_solvers_return_finite_nonnegative_factors_in_silence(problem, model, missing, dtype, data):
    V, observed, K = problem
    solver = data.draw(st.sampled_from(["fast", "paper"]))
    fit = factorize(
        V, observed, K=K, **model, missing=missing, solver=solver, dtype=dtype, max_inner=12, max_outer=4
    )
    for factor in (fit.W, fit.H):
        assert np.isfinite(factor).all()
        assert (factor >= 0).all()
    assert np.isfinite(fit.V_hat).all()
    assert np.isfinite(fit.R).all()
    assert all(np.isfinite(record).all() for record in fit.history.values())
