"""The front doors: what every method, treatment and solver has in common, and how much each entry counts."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize, nnls

from atnmf_core import Fit, InputError, factorize, rmse, transform
from atnmf_core.model.adversary import adversarial_loss, entry_loss, optimal_attack
from atnmf_core.solvers import factorization, fast

rng = np.random.default_rng(11)
V = rng.random((14, 3)) @ rng.random((3, 18)) + 0.05 * rng.random((14, 18))
OBSERVED = rng.random(V.shape) < 0.7
MODELS = {"nmf": {}, "atnmf": {"method": "atnmf", "lam": 2.0}}
EVERY = [
    pytest.param({**MODELS[model], "missing": missing, "solver": solver}, id=f"{model}-{missing}-{solver}")
    for model, missing, solver in itertools.product(MODELS, ("ignore", "zero"), ("fast", "paper"))
]
PAIRS = [
    p for p in EVERY if p.id in {"nmf-ignore-fast", "atnmf-zero-fast", "nmf-zero-paper", "atnmf-ignore-paper"}
]
"""Each model with each treatment and each solver, and each treatment with each solver, in half the cases."""
DTYPES = ("float32", "float64")
SHORT = {"max_outer": 8, "max_inner": 40}


def fitted(data=V, observed=OBSERVED, K=3, **options):
    return factorize(data, observed, K=K, **{**SHORT, **options})


def assert_valid(fit: Fit, shape=V.shape, K=3):
    assert fit.W.shape == (shape[0], K)
    assert fit.H.shape == (K, shape[1])
    for factor in (fit.W, fit.H):
        assert np.isfinite(factor).all()
        assert (factor >= 0).all()
    assert np.isfinite(fit.R).all()
    assert {len(record) for record in fit.history.values()} == {len(fit.history["seconds"])}
    assert all(np.isfinite(record).all() for record in fit.history.values())


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("options", EVERY)
def test_every_method_treatment_and_solver_gives_one_kind_of_result(options, dtype):
    fit = fitted(**options, dtype=dtype)
    assert_valid(fit)
    assert fit.W.dtype == fit.H.dtype == fit.V_hat.dtype == dtype
    assert np.allclose(fit.V_hat, fit.W @ fit.H)
    assert set(fit.history) == {"squared_error", "adversarial_loss", "seconds"}
    assert (np.diff(fit.history["seconds"]) >= 0).all()
    assert 0 < fit.history["seconds"][-1] <= fit.seconds
    assert fit.n_iter >= len(fit.history["seconds"]) - 1
    assert (fit.method, fit.lam) == (options.get("method", "nmf"), options.get("lam"))
    assert (fit.missing, fit.solver, fit.seed) == (options["missing"], options["solver"], 0)


@pytest.mark.parametrize("options", EVERY)
def test_the_history_ends_with_the_losses_of_the_returned_factors(options):
    fit = fitted(**options, dtype="float64")
    seen = np.where(OBSERVED, V, 0)
    squared_error = ((seen - fit.V_hat)[OBSERVED] ** 2).sum()
    lam = fit.lam or np.inf
    loss = (
        adversarial_loss(V, fit.V_hat, lam, OBSERVED)
        if fit.missing == "ignore"
        else adversarial_loss(V, fit.V_hat, lam, OBSERVED) + (fit.V_hat[~OBSERVED] ** 2).sum()
    )
    assert fit.history["squared_error"][-1] == pytest.approx(squared_error, rel=1e-9)
    assert fit.history["adversarial_loss"][-1] == pytest.approx(loss, rel=1e-9)


@pytest.mark.parametrize("options", PAIRS)
def test_r_is_the_best_attack_on_the_result(options):
    fit = fitted(**options, dtype="float64")
    assert (fit.R[~OBSERVED] == 0).all()
    if fit.lam is None:
        assert not fit.R.any()
    else:
        assert np.allclose(fit.R[OBSERVED], optimal_attack(V, fit.V_hat, 2.0)[OBSERVED], atol=1e-12)


@pytest.mark.parametrize("options", PAIRS)
def test_a_seed_repeats_its_result_to_the_last_digit_also_where_random_is_said(options):
    one, two = fitted(**options, seed=5), fitted(**options, seed=5, init="random")
    assert np.array_equal(one.W, two.W)
    assert np.array_equal(one.H, two.H)
    assert np.array_equal(one.history["adversarial_loss"], two.history["adversarial_loss"])
    assert not np.array_equal(one.W, fitted(**options, seed=6).W)


@pytest.mark.parametrize("options", PAIRS)
def test_nan_means_not_observed_as_does_a_mask(options):
    holed, expected = np.where(OBSERVED, V, np.nan), fitted(**options).W
    half = OBSERVED | (np.arange(V.shape[1]) < 9)
    masked = np.ma.array(np.where(OBSERVED, V, 77), mask=~OBSERVED)
    for data, observed in ((holed, None), (holed, half), (masked, None)):
        assert np.array_equal(fitted(data, observed, **options).W, expected)


@pytest.mark.parametrize("options", PAIRS)
def test_the_size_of_the_data_changes_nothing_but_the_size_of_the_result(options):
    for dtype, scale in itertools.product(DTYPES, (2.0**-100, 2.0**100)):
        plain, scaled = fitted(**options, dtype=dtype), fitted(V * scale, **options, dtype=dtype)
        assert np.array_equal(scaled.V_hat, plain.V_hat * plain.V_hat.dtype.type(scale))
        assert np.array_equal(scaled.R, plain.R * scale)
        expected = plain.history["adversarial_loss"] * scale**2
        assert np.allclose(scaled.history["adversarial_loss"], expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("options", PAIRS)
def test_a_constant_is_fitted_by_that_constant(options):
    for dtype, level in itertools.product(DTYPES, (0, 1e-30, 0.7, 1e30)):
        fit = fitted(np.full((6, 5), level), None, K=1, max_outer=30, dtype=dtype, **options)
        assert_valid(fit, (6, 5), 1)
        assert np.allclose(fit.V_hat / (level or 1), level > 0, atol=1e-3 if level else 1e-6)


@pytest.mark.parametrize("options", PAIRS)
def test_of_several_starts_the_one_with_the_lowest_loss_is_kept(options):
    many = fitted(**options, n_init=4, seed=9)
    generator = np.random.RandomState(9)
    each = []
    for _ in range(4):
        start = np.abs(generator.normal(size=(14, 3))), np.abs(generator.normal(size=(3, 18)))
        # Given starts are at the data's scale, drawn ones at the problem's.
        scale = 2.0 ** np.ceil(np.log2(V[OBSERVED].max()))
        each.append(fitted(**options, init=(start[0] * scale, start[1])))
    losses = [fit.history["adversarial_loss"][-1] for fit in each]
    assert many.history["adversarial_loss"][-1] == min(losses)
    assert np.array_equal(many.W, each[int(np.argmin(losses))].W)


@pytest.mark.parametrize("options", PAIRS)
def test_a_warm_start_goes_on_where_the_last_fit_ended(options):
    how = {**options, "dtype": "float64", "tol_outer": 0, "max_outer": 3, "max_inner": 20}
    cold = fitted(**how)
    warm = fitted(**how, init=(cold.W, cold.H))
    # The paper's solver warms up once more, on V, before its history begins.
    if options["solver"] == "fast" or "lam" not in options:
        assert warm.history["adversarial_loss"][0] <= cold.history["adversarial_loss"][-1] * (1 + 1e-9)
    assert warm.history["adversarial_loss"][-1] <= cold.history["adversarial_loss"][0]


@pytest.mark.parametrize("options", PAIRS)
def test_the_callback_hears_of_the_start_and_of_every_iteration_and_has_factors_of_its_own(options):
    heard, plain = [], fitted(**options)

    def spoil(progress):
        heard.append(progress)
        for factor in progress.factors():
            factor[...] = np.nan

    fit = fitted(**options, callback=spoil)
    assert np.array_equal(fit.W, plain.W)
    assert [progress.iteration for progress in heard] == list(range(len(fit.history["seconds"])))
    assert np.array_equal([progress.loss for progress in heard], fit.history["adversarial_loss"])
    assert (np.diff([progress.share for progress in heard]) > 0).all()
    assert heard[0].share == 0

    # Progress of several starts fills one bar.
    heard.clear()
    fitted(**options, n_init=3, tol_outer=0, callback=heard.append)
    shares = [progress.share for progress in heard]
    assert (np.diff(shares) >= 0).all()
    assert (np.diff([progress.seconds for progress in heard]) >= 0).all()
    assert shares.count(0) == 1
    assert all(np.isclose(shares, third / 3).any() for third in (1, 2))
    assert 2 / 3 < shares[-1] <= 1


@pytest.mark.parametrize("options", PAIRS)
@pytest.mark.parametrize("stop_at", [0, 3])
def test_true_from_the_callback_ends_the_fit_there_with_a_valid_result(options, stop_at):
    last = []

    def stop(progress):
        last.append(progress.factors())
        return progress.iteration == stop_at

    fit = fitted(**options, tol_outer=0, n_init=3, callback=stop)
    assert_valid(fit)
    assert len(fit.history["seconds"]) == stop_at + 1 == len(last)
    assert not fit.converged
    assert np.array_equal(fit.W, last[-1][0])
    assert np.array_equal(fit.H, last[-1][1])


def test_a_fit_remembers_its_leash_and_its_attack_stays_within():
    fit = fitted(method="atnmf", lam=1.2, leash=0.1, dtype="float64")
    assert fit.leash == 0.1
    assert (fit.R <= 0.1 * V * (1 + 1e-12)).all()
    assert not (fitted(method="atnmf", lam=1.2, dtype="float64").R <= 0.1 * V).all()
    assert fitted().leash is None


def test_reaching_the_tolerance_is_told_from_reaching_the_limit():
    for solver in ("fast", "paper"):
        assert fitted(solver=solver, tol_outer=0.5, tol_inner=0.5, max_inner=1000).converged
        assert not fitted(solver=solver, tol_outer=0, max_inner=12).converged


@pytest.mark.parametrize("kind", ["uint8", "uint16", "uint64", "int8", "bool"])
def test_whole_numbers_are_attacked_like_the_same_numbers_with_a_point(kind):
    whole = np.rint(30 * V).astype(kind)
    given, same = (fitted(data, method="atnmf", lam=2.0) for data in (whole, whole.astype(float)))
    assert np.allclose(given.R, same.R, atol=1e-4)


@pytest.mark.parametrize("model", MODELS)
def test_with_nothing_hidden_the_treatment_of_hidden_entries_changes_nothing(model):
    ignored, zeros = (
        factorize(V, K=3, missing=missing, **MODELS[model]).V_hat for missing in ("ignore", "zero")
    )
    assert np.array_equal(ignored, zeros)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_start_that_ends_in_no_number_is_never_kept(monkeypatch):
    runs = itertools.count()

    def spoilt(problem, W, H, limits, recorder):
        outcome = fast.solve(problem, W, H, limits, recorder)
        if next(runs) == 0:
            recorder.record(np.nan, np.nan, W * np.nan, H, share=1.0)
            return replace(outcome, W=outcome.W * np.nan)
        return outcome

    monkeypatch.setitem(factorization.SOLVERS, "fast", spoilt)
    assert_valid(fitted(n_init=3))


def test_fits_are_told_apart_and_shown_in_a_line():
    one, other = fitted(), fitted()
    assert one == one
    assert len({one, other}) == 2
    assert "method='nmf'" in repr(one)
    assert "array" not in repr(one)


def test_a_rank_one_matrix_is_completed_from_its_observed_entries():
    data = np.outer(rng.random(12) + 0.1, rng.random(15) + 0.1)
    observed = rng.random(data.shape) < 0.5
    observed[0], observed[:, 0] = True, True
    fit = factorize(data, observed, K=1, tol_outer=1e-8, max_inner=2000, dtype="float64")
    assert rmse(data, fit.V_hat, ~observed) < 1e-4


METHODS = [{"method": "nmf"}, {"method": "atnmf", "lam": 1.3}, {"method": "atnmf", "lam": 1.1, "leash": 0.5}]
SOLVERS = [(options, solver) for options in METHODS for solver in ("fast", "paper") if "leash" not in options]
SOLVERS += [(METHODS[2], "fast")]


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    V = rng.random((12, 3)) @ rng.random((3, 20)) + 0.2 * rng.random((12, 20))
    return V, rng.random(V.shape) < 0.8, rng.uniform(0.1, 4, V.shape)


def loss_of(fit, V, counted, weights):
    losses = entry_loss(np.where(counted, V, 0), fit.W @ fit.H, fit.lam or np.inf, fit.leash)
    return (weights * losses).sum() if fit.missing == "zero" else (weights * losses)[counted].sum()


@pytest.mark.parametrize("missing", ["ignore", "zero"])
@pytest.mark.parametrize(("options", "solver"), SOLVERS)
def test_the_history_has_the_weighted_loss(data, options, solver, missing):
    V, observed, weights = data
    fit = factorize(
        V, observed, K=3, **options, solver=solver, missing=missing, weights=weights, dtype="float64"
    )

    assert fit.history["adversarial_loss"][-1] == pytest.approx(loss_of(fit, V, observed, weights))
    if solver == "fast":
        assert (np.diff(fit.history["adversarial_loss"]) <= 1e-12).all()


@pytest.mark.parametrize("K", [2, 11])
@pytest.mark.parametrize("missing", ["ignore", "zero"])
@pytest.mark.parametrize("options", METHODS)
def test_the_fit_is_a_minimum_of_the_weighted_loss(data, options, missing, K):
    V, observed, weights = data
    fit = factorize(
        V, observed, K=K, **options, missing=missing, weights=weights, dtype="float64", tol_outer=1e-9
    )
    counted = observed if missing == "ignore" else np.ones_like(observed)
    shown = np.where(observed, V, 0)

    def loss(h):
        P = fit.W @ h.reshape(fit.H.shape)
        return (weights * entry_loss(shown, P, fit.lam or np.inf, fit.leash))[counted].sum()

    better = minimize(
        loss, fit.H.ravel(), bounds=[(0, None)] * fit.H.size, method="L-BFGS-B", options={"maxfun": 20_000}
    )
    assert better.fun > (1 - 2e-3) * loss(fit.H.ravel())


def test_one_step_of_the_paper_counts_the_weights_in_both_products(data):
    V, observed, D = data
    rng = np.random.default_rng(0)
    W, H = rng.random((12, 2)), rng.random((2, 20))
    fit = factorize(
        V, observed, K=2, solver="paper", init=(W, H), weights=D, dtype="float64", max_outer=1, max_inner=1
    )
    D, V = D * observed, np.where(observed, V, 0)
    for _ in range(6):  # five to warm up, and one
        W = W * ((D * V) @ H.T) / ((D * (W @ H)) @ H.T)
        H = H * (W.T @ (D * V)) / (W.T @ (D * (W @ H)))

    np.testing.assert_allclose(fit.V_hat, W @ H, rtol=1e-8)


@pytest.mark.parametrize(("options", "solver"), SOLVERS)
def test_weights_of_0_and_1_are_a_mask(data, options, solver):
    V, observed, _ = data
    settings = {"K": 3, **options, "solver": solver, "dtype": "float64", "max_outer": 5}
    masked = factorize(V, observed, **settings)
    weighted = factorize(V, weights=7.0 * observed, **settings)

    np.testing.assert_allclose(weighted.V_hat, masked.V_hat, rtol=1e-6)
    # A column or a row of weights stands for a whole matrix.
    for some in (np.linspace(1, 2, 12)[:, None], np.linspace(1, 2, 20)):
        short, whole = (factorize(V, weights=w, **settings) for w in (some, np.broadcast_to(some, V.shape)))
        assert np.array_equal(short.W, whole.W)


def test_a_noisy_row_spoils_the_others_less_if_it_counts_less():
    rng = np.random.default_rng(1)
    truth = rng.random((20, 2)) @ rng.random((2, 60))
    noise = np.where(np.arange(20) < 5, 0.3, 0.005)[:, None]
    V = np.abs(truth + noise * rng.standard_normal(truth.shape))
    errors = [
        np.abs(factorize(V, K=2, weights=weights, tol_outer=1e-4).V_hat - truth)[5:].mean()
        for weights in (None, 1 / noise**2)
    ]

    assert errors[1] < errors[0] / 3


def test_transform_solves_weighted_least_squares_and_a_column_without_weight_is_unknown(data):
    V, observed, weights = data
    W = np.random.default_rng(5).random((12, 4))
    weights[:, 2] = 0
    H = transform(V, W, observed, weights=weights)
    assert np.flatnonzero(np.isnan(H).any(axis=0)).tolist() == [2]
    for n in (0, 1, *range(3, 20)):
        root = np.sqrt(weights[:, n] * observed[:, n])
        np.testing.assert_allclose(H[:, n], nnls(W * root[:, None], V[:, n] * root)[0], atol=1e-7)


@pytest.mark.parametrize(
    ("weights", "method", "words"),
    [
        (-1.0, "nmf", "weights are 0 or more"),
        (np.nan, "nmf", "weights are 0 or more"),
        ("heavy", "nmf", "weights are 0 or more"),
        (np.ones(7), "nmf", "shape \\(7,\\)"),
        (0.0, "nmf", "at least one must count"),
        (1.0, "anmf", "'anmf' has none"),
    ],
)
def test_weights_that_cannot_be_used_are_refused(data, weights, method, words):
    with pytest.raises(InputError, match=words):
        factorize(data[0], K=2, method=method, weights=weights)
