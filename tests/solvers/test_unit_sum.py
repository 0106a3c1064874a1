"""Abundances that sum to one are SciPy's constrained minimum, and simulated materials are found with them."""

import numpy as np
import pytest
from scipy.optimize import nnls

from atnmf_core import InputError, factorize, hide_entries, load_dataset
from atnmf_core.analysis.unmixing import materials_of, pure_materials, score, spectral_angles
from atnmf_core.datasets import Truth
from atnmf_core.solvers.unit_sum import _Sums, _volume, summing_to_one

RNG = np.random.default_rng(0)
E = load_dataset("simulated-scene", rows=8, cols=8, bands=40, materials=4, noise=0).truth.endmembers[:, 1:]
A = RNG.dirichlet(np.ones(3), 900).T
V = np.maximum(E @ A + RNG.normal(0, 0.005, (40, 900)), 0)


def mean_angle(W: np.ndarray, truth: np.ndarray = E) -> float:
    return float(spectral_angles(truth, W).min(axis=1).mean())


@pytest.mark.parametrize(
    ("minimum", "ones", "atol"),
    [(summing_to_one, 1e5, 1e-6), (_Sums(spread=0.2, noise=0.01).minimum, 0.5, 1e-9)],
    ids=["sums of one", "sums that may vary"],
)
def test_shares_are_those_of_nonnegative_least_squares_with_a_row_of_ones(minimum, ones, atol):
    W, pixels = RNG.random((12, 4)), RNG.random((12, 30))
    grams = np.broadcast_to(W.T @ W, (30, 4, 4))

    H = minimum(grams, pixels.T @ W, np.full((30, 4), 0.25))

    for v, h in zip(pixels.T, H, strict=True):
        expected = nnls(np.vstack([W, np.full(4, ones)]), np.append(v, ones))[0]
        np.testing.assert_allclose(h, expected, atol=atol)


@pytest.mark.parametrize("exact", [True, False])
def test_the_volume_is_the_simplexs_and_falls_along_its_derivative(exact):
    W = RNG.random((9, 3))
    value, form = _volume(W, exact)
    edges = W[:, 1:] - W[:, :1] if exact else W
    # The complement of ones is orthonormal: three times the Gram determinant of the edges from one corner.
    expected = np.linalg.slogdet(edges.T @ edges)[1] - (np.log(3) if exact else 0)
    step = 1e-6 * RNG.normal(size=W.shape)

    assert value == pytest.approx(expected, abs=1e-3)
    assert _volume(W + step, exact)[0] - value == pytest.approx(2 * np.sum(step * (W @ form)), rel=1e-2)


@pytest.mark.parametrize(("method", "lam"), [("nmf", None), ("atnmf", 1.5)])
@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_materials_are_nearer_to_the_truth_than_pure_pixels(method, lam, alpha):
    observed = hide_entries(V.shape, alpha)
    start = pure_materials(V, observed, K=3)

    fit = factorize(V, observed, K=3, method=method, lam=lam, unit_sum=True)

    assert fit.H.min() >= 0
    np.testing.assert_allclose(fit.H.sum(axis=0), 1, atol=1e-6)
    assert mean_angle(fit.W) < mean_angle(start[0])
    # Its own abundances are those of its materials, whatever their scale.
    (found,), truth = materials_of([(fit.W, fit.H * 1.2)], Truth(E, A), unit_sum=True)
    np.testing.assert_allclose(found.abundances.sum(axis=0), 1, atol=1e-6)
    assert score(found, truth).mean_error < 0.05


def test_a_strong_adversary_does_not_bias_abundances():
    """In dark bands noise takes entries far below their prediction, as losses do."""
    data = load_dataset("simulated-scene", rows=32, cols=32)
    errors = []
    for how in ({"method": "nmf"}, {"method": "atnmf", "lam": 1.05}):
        fit = factorize(data.V, K=5, unit_sum=True, **how)
        (found,), truth = materials_of([(fit.W, fit.H)], data.truth, unit_sum=True)
        errors.append(score(found, truth).mean_error)

    assert errors[1] < 1.1 * errors[0]


@pytest.mark.parametrize("how", ["dark", "bright", "either end"])
def test_wrong_entries_that_nobody_marks_move_materials_by_less_than_a_degree(how):
    wrong = RNG.random(V.shape) < 0.1
    by = {"dark": RNG.uniform(0, 0.6, V.shape), "bright": RNG.uniform(1.5, 3, V.shape)}
    ends = np.where(RNG.random(V.shape) < 0.5, 0, V.max())
    damaged = np.where(wrong, V * by[how] if how in by else ends, V)

    for method, lam in (("nmf", None), ("atnmf", 1.1)):
        clean = factorize(V, K=3, method=method, lam=lam, unit_sum=True)
        fit = factorize(damaged, K=3, method=method, lam=lam, unit_sum=True)
        assert abs(mean_angle(fit.W) - mean_angle(clean.W)) < 1


def test_dead_entries_of_a_dark_material_are_found_although_they_are_nearly_right():
    rng = np.random.default_rng(2)
    spectra = rng.random((60, 3)) * (1, 0.5, 0.06)
    scene = np.maximum(spectra @ rng.dirichlet(np.full(3, 0.3), 1500).T + rng.normal(0, 0.01, (60, 1500)), 0)
    dead = scene * (rng.random(scene.shape) > 0.1)

    clean, damaged = (mean_angle(factorize(X, K=3, unit_sum=True).W, spectra) for X in (scene, dead))

    assert damaged < clean + 0.5


def test_a_brightness_that_varies_is_told_from_abundances():
    spectra, level = RNG.random((30, 3)), RNG.normal(1, 0.12, 900)
    shares = RNG.dirichlet(np.full(3, 0.5), 900).T
    scene = np.maximum(spectra @ shares * level + RNG.normal(0, 0.005, (30, 900)), 0)

    fit = factorize(scene, K=3, unit_sum=True)

    assert mean_angle(fit.W, spectra) < 1
    assert np.corrcoef(fit.brightness, level)[0, 1] > 0.97
    np.testing.assert_allclose(fit.V_hat, fit.W @ (fit.H * fit.brightness))


def test_bands_count_by_their_noise():
    noise = np.where(np.arange(40) % 4 == 0, 0.1, 0.002)[:, None]
    scene = np.maximum(E @ A + noise * RNG.normal(size=(40, 900)), 0)

    chosen, alike = (factorize(scene, K=3, unit_sum=True, **how) for how in ({}, {"weights": 1.0}))

    quiet = noise[:, 0] < 0.01
    assert mean_angle(chosen.W[quiet], E[quiet]) < mean_angle(alike.W[quiet], E[quiet])


def test_weights_leave_out_what_counts_nothing():
    junk = np.arange(V.shape[0]) % 8 == 3
    spoilt = V.copy()
    spoilt[junk] = RNG.random((int(junk.sum()), 900))

    fit = factorize(spoilt, K=3, unit_sum=True, weights=np.where(junk, 0, 1)[:, None])

    assert mean_angle(fit.W[~junk], E[~junk]) < mean_angle(pure_materials(V, K=3)[0]) + 0.5


def test_the_volume_pulls_materials_together():
    volumes = [
        np.linalg.det(fit.W.T @ fit.W)
        for fit in (factorize(V, K=3, unit_sum=True, volume=volume) for volume in (0, 0.1, 10))
    ]

    assert volumes[0] > volumes[1] > volumes[2]


def test_the_callback_ends_the_fit():
    shapes = []

    def once(progress):
        shapes.append(tuple(factor.shape for factor in progress.factors()))
        return True

    fit = factorize(V, K=3, unit_sum=True, callback=once)

    assert fit.n_iter == 0
    assert shapes == [((40, 3), (3, 900))]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "anmf"}, "unit_sum"),
        ({"solver": "paper"}, "unit_sum"),
        ({"volume": -1.0}, "volume=-1.0"),
        ({"unit_sum": False, "volume": 1.0}, "volume=1.0"),
    ],
)
def test_what_does_not_go_together_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        factorize(V, K=3, **({"unit_sum": True} | options))
