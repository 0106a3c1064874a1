"""New columns through a fitted model, against SciPy's solvers on the exact loss."""

import numpy as np
import pytest
from scipy.optimize import minimize, nnls

from atnmf_core import InputError, factorize, transform
from atnmf_core.model.adversary import entry_loss

rng = np.random.default_rng(3)
F, K, N = 30, 4, 12
W = rng.random((F, K)) * (rng.random((F, K)) < 0.8)
V = W @ (rng.random((K, N)) * (rng.random((K, N)) < 0.6)) + 0.05 * rng.random((F, N))
V[rng.random(V.shape) < 0.15] *= 0.2
V[rng.random(V.shape) < 0.05] *= 4
V[rng.random(V.shape) < 0.05] = 0
GAPS = np.where(rng.random(V.shape) < 0.7, V, np.nan)

ADVERSARIES = {
    "none": {},
    "weak": {"lam": 10.0},
    "the paper's": {"lam": 2.0},
    "strong": {"lam": 1.02},
    "strongest": {"lam": 1 + 1e-6},
    "leashed": {"lam": 1.05, "leash": 0.5},
    "on a short leash": {"lam": 1.5, "leash": 0.1},
    "that cannot add": {"lam": 1.2, "leash": 0.0},
    "leashed, strongest": {"lam": 1.0001, "leash": 1.0},
}


def loss(h, v, lam=np.inf, leash=None):
    known = ~np.isnan(v)
    return entry_loss(v[known], (W @ h)[known], lam, leash).sum()


def least_loss(v, start, lam, leash=None):
    """The lowest loss that L-BFGS-B finds, with the derivative of the loss taken numerically per entry."""
    known = ~np.isnan(v)
    v, parts = v[known], W[known]

    def objective(h):
        p = parts @ h
        step = 1e-6
        slope = (entry_loss(v, p + step, lam, leash) - entry_loss(v, p - step, lam, leash)) / (2 * step)
        scale = (lam - 1) / lam
        return scale * entry_loss(v, p, lam, leash).sum(), scale * (parts.T @ slope)

    options = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000, "maxfun": 10_000}
    found = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=[(0, None)] * K, options=options)
    return found.fun * lam / (lam - 1)


@pytest.mark.parametrize("data", [V, GAPS], ids=["whole", "with gaps"])
def test_without_an_adversary_it_is_nonnegative_least_squares(data):
    H = transform(data, W)
    for v, h in zip(data.T, H.T, strict=True):
        known = ~np.isnan(v)
        assert np.allclose(h, nnls(W[known], v[known])[0], rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("data", [V, GAPS], ids=["whole", "with gaps"])
@pytest.mark.parametrize("name", list(ADVERSARIES)[1:])
def test_scipy_finds_no_lower_loss(name, data):
    adversary = ADVERSARIES[name]
    H = transform(data, W, **adversary)
    assert H.min() >= 0
    for v, h in zip(data.T, H.T, strict=True):
        reached = loss(h, v, **adversary)
        for start in (h, np.full(K, 0.5)):
            best = least_loss(v, start, **adversary)
            assert reached <= best + 1e-8 * abs(best)


@pytest.mark.parametrize("name", ADVERSARIES)
def test_any_start_ends_at_the_lowest_loss(name):
    adversary = ADVERSARIES[name]
    H = transform(GAPS, W, **adversary)
    again = transform(GAPS, W, **adversary, start=np.random.default_rng(5).random(H.shape))
    assert again.min() >= 0
    for v, h, other in zip(GAPS.T, H.T, again.T, strict=True):
        assert np.isclose(loss(other, v, **adversary), loss(h, v, **adversary), rtol=1e-9)


@pytest.mark.parametrize("name", ADVERSARIES)
def test_a_column_does_not_depend_on_the_others(name):
    together = transform(GAPS, W, **ADVERSARIES[name])
    alone = np.hstack([transform(GAPS[:, [n]], W, **ADVERSARIES[name]) for n in range(N)])
    assert np.allclose(together, alone, rtol=1e-7, atol=1e-9)


def test_many_columns_are_what_they_are_in_blocks(monkeypatch):
    whole = transform(GAPS, W, lam=1.1)
    monkeypatch.setattr("atnmf_core.solvers.columns.BLOCK_BYTES", 3 * F * 8)
    assert np.allclose(transform(GAPS, W, lam=1.1), whole, rtol=1e-7, atol=1e-9)


def test_what_is_not_observed_is_not_looked_at_or_counts_as_zero():
    shown = np.where(np.isnan(GAPS), 1e9, GAPS)
    assert np.array_equal(transform(shown, W, ~np.isnan(GAPS), lam=2.0), transform(GAPS, W, lam=2.0))
    zeros = transform(np.nan_to_num(GAPS), W, lam=1.5)
    assert np.array_equal(transform(GAPS, W, lam=1.5, missing="zero"), zeros)


def test_it_lowers_the_loss_of_the_fit_that_the_parts_are_from():
    fit = factorize(GAPS, K=K, method="atnmf", lam=1.2, leash=0.5)
    H = transform(GAPS, fit.W, lam=1.2, leash=0.5)
    known = ~np.isnan(GAPS)
    fitted, lowest = (
        entry_loss(V[known], (fit.W.astype(float) @ h)[known], 1.2, 0.5).sum() for h in (fit.H, H)
    )
    assert lowest < fitted
    assert H.dtype == fit.W.dtype == np.float32


def test_a_column_of_which_nothing_is_observed_stays_unknown():
    data = GAPS.copy()
    data[:, [0, 3]] = np.nan
    H = transform(data, W, lam=2.0)
    assert np.isnan(H[:, [0, 3]]).all()
    assert np.allclose(np.delete(H, [0, 3], 1), np.delete(transform(GAPS, W, lam=2.0), [0, 3], 1))
    assert np.isnan(transform(np.full((F, 2), np.nan), W)).all()


@pytest.mark.parametrize("adversary", [{}, {"lam": 1.1, "leash": 0.5}], ids=["nmf", "atnmf"])
def test_fewer_entries_than_parts_are_fitted_by_the_smallest_parts_that_do(adversary):
    data = np.full((F, 3), np.nan)
    data[5, :], data[8, 1:] = 0.5, 0.25
    H = transform(data, W, **adversary)
    known = ~np.isnan(data)
    assert np.allclose((W @ H)[known], data[known])
    norms = np.linalg.norm(W, axis=0)
    assert np.allclose(H[:, 0], np.linalg.lstsq((W / norms)[[5]], [0.5])[0] / norms, rtol=1e-3)


def test_a_part_that_is_all_but_unobserved_is_left_out():
    parts = np.array([[1e-12, 1.0], [1.0, 1.0], [1.0, 0.0]])
    assert np.allclose(transform([[0.5], [np.nan], [np.nan]], parts), [[0.0], [0.5]])


@pytest.mark.parametrize("adversary", [{}, {"lam": 1.1, "leash": 0.5}], ids=["nmf", "atnmf"])
@pytest.mark.parametrize("kind", ["no part", "equal parts", "nearly equal parts", "more parts than rows"])
def test_parts_that_say_nothing_new_do_no_harm(kind, adversary):
    extra = {
        "no part": np.zeros((F, 1)),
        "equal parts": W,
        "nearly equal parts": W * (1 + 1e-9),
        "more parts than rows": np.abs(rng.standard_normal((F, F))),
    }[kind]
    lam, leash = adversary.get("lam", np.inf), adversary.get("leash")
    parts = np.hstack([W, extra])
    known = ~np.isnan(GAPS)
    H = transform(GAPS, parts, **adversary)
    few, many = (
        entry_loss(V[known], P[known], lam, leash).sum()
        for P in (W @ transform(GAPS, W, **adversary), parts @ H)
    )
    assert np.isfinite(H).all()
    assert many <= few * (1 + 1e-9)


@pytest.mark.parametrize("scale", [1e-140, 1e-6, 1e6, 1e140])
def test_the_unit_of_the_data_does_not_matter(scale):
    assert np.allclose(transform(V * scale, W, lam=1.3) / scale, transform(V, W, lam=1.3))
    assert np.allclose(transform(V, W * scale, lam=1.3) * scale, transform(V, W, lam=1.3))
    assert np.array_equal(transform(np.zeros((F, 2)), W * scale, lam=1.5), np.zeros((K, 2)))
    assert np.allclose(transform([[6.0 * scale]], [[2.0]]), 3.0 * scale)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"W": W[:-1]}, "W has 29 rows, V has 30"),
        ({"W": -W}, "nonnegative parts"),
        ({"W": W * np.nan}, "nonnegative parts"),
        ({"W": W[0]}, "a matrix of real numbers"),
        ({"V": -V}, "are negative"),
        ({"V": V[0]}, "a matrix"),
        ({"V": V, "observed": V[0] > 0}, "must be alike"),
        ({"lam": 0.5}, "above 1"),
        ({"leash": 0.5}, "only the adversary of method 'atnmf'"),
        ({"missing": "none"}, "choose one of"),
        ({"start": np.full((K, N), -1.0)}, "negative"),
        ({"start": np.full((K, N), np.nan)}, "NaN"),
        ({"start": np.ones((K, N + 1))}, "shape"),
    ],
)
def test_what_cannot_be_used_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        transform(**{"V": V, "W": W, **arguments})
