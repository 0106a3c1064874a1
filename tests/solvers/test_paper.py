"""Algorithm 1 against a literal transcription, against the authors' own run, and against their tables."""

from unittest.mock import patch

import numpy as np
import pytest

from atnmf_core import factorize, hide_entries, load_dataset, paper_mask, rmse
from atnmf_core.reference.paper_tables import PROTOCOLS
from atnmf_core.solvers import paper
from atnmf_core.sweep import paper_start

from .literal import algorithm_1

rng = np.random.default_rng(5)
V = rng.random((20, 4)) @ rng.random((4, 30))
OBSERVED = rng.random(V.shape) < 0.6
LIMITS = {"max_outer": 100, "max_inner": 1000, "tol_inner": 1e-2, "tol_outer": 1e-2}
"""The paper's."""
SHORT = {"max_outer": 4, "max_inner": 300, "tol_inner": 3e-2, "tol_outer": 3e-2}
"""Short enough for rounding not to send the two on different ways."""
MODELS = {"nmf": None, "atnmf, lam 2": 2.0, "atnmf, lam 3": 3.0, "atnmf, lam 5": 5.0}


def start(F, N, K, seed=1):
    generator = np.random.RandomState(seed)
    return abs(generator.normal(size=(F, K))), abs(generator.normal(size=(K, N)))


def both(data, observed, K, lam, missing, limits):
    """This project's run and the literal one, from the same start."""
    W, H = start(*data.shape, K)
    literal = algorithm_1(data, observed, W, H, lam, missing, limits)
    method = {"method": "nmf"} if lam is None else {"method": "atnmf", "lam": lam}
    fit = factorize(
        data, observed, K=K, missing=missing, solver="paper", dtype="float64", init=(W, H), **method, **limits
    )
    return fit, literal


@pytest.mark.parametrize("missing", ["ignore", "zero"])
@pytest.mark.parametrize("model", MODELS)
def test_with_the_norm_at_every_step_it_is_the_literal_algorithm(model, missing):
    with patch.object(paper, "CHECK_EVERY", 1):
        fit, (W, H, inner_counts, errors) = both(V, OBSERVED, 4, MODELS[model], missing, SHORT)
    assert fit.n_iter == sum(inner_counts)
    assert np.allclose(fit.history["squared_error"], errors, rtol=1e-6)
    assert np.allclose(fit.V_hat, W @ H, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("missing", ["ignore", "zero"])
@pytest.mark.parametrize("model", MODELS)
def test_fewer_norms_add_at_most_nine_steps_to_an_inner_loop(model, missing):
    one_loop = {**LIMITS, "max_outer": 1}
    fit, (_, _, inner_counts, _) = both(V, OBSERVED, 4, MODELS[model], missing, one_loop)
    assert inner_counts[0] <= fit.n_iter <= inner_counts[0] + 9


def rmse_of_both(lam, limits):
    data, observed = load_dataset("synthetic-paper").V, paper_mask("synthetic-paper", 0.5)
    fit, (W, H, _, _) = both(data, observed, 5, lam, "zero", limits)
    return rmse(data, fit.V_hat, ~observed), rmse(data, W @ H, ~observed)


@pytest.mark.parametrize("lam", [None, 3.0])
def test_fewer_norms_change_no_printed_digit_early_on(paper_data, lam):
    """The paper prints two decimals of the RMSE on its synthetic data."""
    ours, literal = rmse_of_both(lam, {**LIMITS, "max_outer": 3, "max_inner": 200})
    assert ours == pytest.approx(literal, abs=0.005)


@pytest.mark.slow
@pytest.mark.parametrize("lam", [None, 2.0, 3.0, 5.0])
def test_fewer_norms_change_no_printed_digit_to_the_end(paper_data, lam):
    """Against the same run with the norm at every step: at lam 2 the alternation is chaotic, and a product
    summed in another order would end elsewhere."""
    data, observed = load_dataset("synthetic-paper").V, paper_mask("synthetic-paper", 0.5)
    method = {"method": "nmf"} if lam is None else {"method": "atnmf", "lam": lam}
    errors = []
    for every in (1, paper.CHECK_EVERY):
        with patch.object(paper, "CHECK_EVERY", every):
            fit = factorize(
                data, observed, K=5, missing="zero", solver="paper", init=start(*data.shape, 5), **method
            )
        errors.append(rmse(data, fit.V_hat, ~observed))
    print(f"lam {lam}: {errors[1]:.5f}, with every norm {errors[0]:.5f}")
    assert errors[1] == pytest.approx(errors[0], abs=0.005)


@pytest.mark.parametrize("lam", [2.0, 3.0])
def test_small_numbers_die_as_they_do_in_plain_single_precision(lam):
    """Which entries of the factors are lost below the normal numbers decides where the alternation goes."""
    limits = {"max_outer": 12, "max_inner": 400, "tol_inner": 0.0, "tol_outer": 0.0}
    data = (V / V[OBSERVED].max()).astype(np.float32)
    W, H = (factor.astype(np.float32) for factor in start(20, 30, 4))
    with np.errstate(all="ignore"):
        _, literal_H, _, errors = algorithm_1(data, OBSERVED, W, H, lam, "zero", limits)

    fit = factorize(
        data, OBSERVED, K=4, method="atnmf", lam=lam, missing="zero", solver="paper", init=(W, H), **limits
    )

    lost = literal_H < np.finfo(np.float32).tiny
    assert lost.mean() > 0.05
    assert np.array_equal(np.less(fit.H, np.finfo(np.float32).tiny), lost)
    assert np.allclose(fit.history["squared_error"], errors, rtol=1e-4)


def test_the_authors_run_on_cbcl_is_replayed(paper_data):
    """Their mask for alpha 0.3, their generator and seed: the squared error after the warm-up is known."""
    data, observed = load_dataset("cbcl").V, paper_mask("cbcl", 0.3)
    fit = factorize(
        data, observed, K=49, missing="zero", solver="paper", seed=1, dtype="float64", callback=lambda _: True
    )
    assert fit.history["squared_error"][0] == pytest.approx(22290.773, abs=0.01)


def test_drawn_starts_are_the_authors_and_single_precision_follows_double():
    """Data within (0.5, 1] is not scaled; the draw there is |N(0, 1)|, W before H."""
    data = V / V[OBSERVED].max()
    once = {"solver": "paper", "max_outer": 1, "max_inner": 3}
    drawn = factorize(data, OBSERVED, K=4, seed=1, dtype="float64", **once)
    given = factorize(data, OBSERVED, K=4, init=start(20, 30, 4), dtype="float64", **once)
    assert np.array_equal(drawn.W, given.W)
    assert np.allclose(factorize(data, OBSERVED, K=4, seed=1, **once).V_hat, drawn.V_hat, atol=1e-3)


def test_the_limits_are_kept():
    tight = {"tol_inner": 0.0, "tol_outer": 0.0, "solver": "paper"}
    fit = factorize(V, OBSERVED, K=4, method="atnmf", lam=2.0, max_outer=4, max_inner=7, **tight)
    assert fit.n_iter == 28
    assert len(fit.history["seconds"]) == 5
    assert not fit.converged


@pytest.mark.parametrize("missing", ["ignore", "zero"])
def test_standard_nmf_never_raises_its_loss(missing):
    how = {"solver": "paper", "dtype": "float64", "max_inner": 1, "max_outer": 300, "tol_outer": 0}
    losses = factorize(V, OBSERVED, K=4, missing=missing, **how).history["adversarial_loss"]
    assert (np.diff(losses) <= 1e-12 * losses[0]).all()


def test_below_two_the_papers_alternation_can_raise_the_loss_and_the_fast_solver_cannot():
    """Why there are two solvers: with lam below 2 the released alternation overshoots."""
    options = {"K": 4, "method": "atnmf", "lam": 1.2, "missing": "zero", "dtype": "float64", "tol_outer": 0}
    released = factorize(V, OBSERVED, solver="paper", max_outer=20, max_inner=200, **options)
    monotone = factorize(V, OBSERVED, solver="fast", max_inner=200, **options)
    assert (np.diff(released.history["adversarial_loss"]) > 0).any()
    assert (np.diff(monotone.history["adversarial_loss"]) <= 1e-12 * V.size).all()
    assert monotone.history["adversarial_loss"][-1] < released.history["adversarial_loss"][-1]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("lam", [1.0001, 1.01, 1.2])
@pytest.mark.parametrize("missing", ["ignore", "zero"])
def test_iterates_that_collapse_or_grow_without_bound_stay_numbers_in_silence(missing, lam, dtype):
    """Near lam = 1 the released alternation drives factors towards zero, or, with little observed, out of the
    range of single precision; that is a result, not a crash."""
    how = {"K": 4, "method": "atnmf", "lam": lam, "missing": missing, "solver": "paper", "dtype": dtype}
    for observed in (OBSERVED, hide_entries(V.shape, 0.9, 0), hide_entries(V.shape, 0.9, 1)):
        fit = factorize(V, observed, max_outer=10, max_inner=100, **how)
        assert np.isfinite(fit.V_hat).all()
        assert np.isfinite(fit.history["adversarial_loss"]).all()


SYNTHETIC = "synthetic-paper"
# data, alpha, and for each lam (None: NMF) the published mean and standard deviation
PUBLISHED = [
    (name, alpha, *row)
    for name, alpha, rows in (
        (SYNTHETIC, 0.3, [(None, 5.37, 0.02), (2.0, 5.41, 0.12), (3.0, 5.11, 0.03), (5.0, 5.20, 0.02)]),
        (SYNTHETIC, 0.5, [(None, 6.41, 0.01), (2.0, 6.27, 0.11), (3.0, 6.05, 0.03), (5.0, 6.18, 0.02)]),
        (SYNTHETIC, 0.9, [(None, 8.45, 0.01), (2.0, 8.44, 0.02), (3.0, 8.34, 0.02), (5.0, 8.35, 0.02)]),
        ("moffet", 0.5, [(None, 0.088, 0.000), (2.0, 0.064, 0.000), (5.0, 0.079, 0.000)]),
        ("madonna", 0.5, [(None, 0.175, 0.000), (2.0, 0.131, 0.006), (5.0, 0.161, 0.000)]),
    )
    for row in rows
]
STARTS = {SYNTHETIC: 10, "moffet": 3, "madonna": 3}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "alpha", "lam", "mean", "deviation"), PUBLISHED)
def test_the_published_mean_is_found_again(paper_data, name, alpha, lam, mean, deviation):
    data, observed = load_dataset(name).V, paper_mask(name, alpha)
    K = PROTOCOLS[name.removesuffix("-paper")].K
    how = {"K": K, "missing": "zero", "solver": "paper"}
    how |= {"method": "nmf"} if lam is None else {"method": "atnmf", "lam": lam}
    errors = []
    for start in range(STARTS[name]):
        fit = factorize(data, observed, init=paper_start(data.shape, K, alpha, start), **how)
        errors.append(rmse(data, fit.V_hat, ~observed))
    print(f"{name} alpha {alpha} lam {lam}: {np.mean(errors):.4f} +- {np.std(errors):.4f}, published {mean}")
    assert np.mean(errors) == pytest.approx(mean, abs=max(3 * deviation, 0.01 * mean))


@pytest.mark.slow
def test_the_costs_that_the_authors_logged_for_cbcl_are_found_again(paper_data):
    # NMF at alpha = 0.3 from start 0: squared error on observed entries after the five warm-up steps, and
    # after all 100,000, which take five minutes.
    data, observed = load_dataset("cbcl").V, paper_mask("cbcl", 0.3)
    start = paper_start(data.shape, 49, 0.3, 0)

    fit = factorize(data, observed, K=49, missing="zero", solver="paper", init=start)

    assert fit.history["squared_error"][0] == pytest.approx(22290.773, abs=0.01)
    assert fit.history["squared_error"][-1] == pytest.approx(9729.213, abs=0.05)
