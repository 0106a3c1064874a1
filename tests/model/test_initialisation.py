"""Start factors: the paper's draw, the caller's own, their size, and the pixels that show one material."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from atnmf_core import InputError, factorize, hide_entries, load_dataset
from atnmf_core.model.initialisation import given_start, half_normal, pure_pixel_start, rescaled
from atnmf_core.model.problem import make_problem

rng = np.random.default_rng(3)
V = rng.random((8, 6))
OBSERVED = rng.random((8, 6)) < 0.6


def posed(data=V, observed=None, K=3, missing="ignore", dtype="float64"):
    return make_problem(data, observed, K=K, method="nmf", lam=None, missing=missing, dtype=dtype)


def test_the_draw_is_the_papers_w_before_h_from_the_legacy_generator_in_either_precision():
    np_legacy = np.random.RandomState(1)
    W, H = abs(np_legacy.normal(size=(8, 3))), abs(np_legacy.normal(size=(3, 6)))
    for dtype in ("float32", "float64"):
        drawn = half_normal(posed(dtype=dtype), np.random.RandomState(1))
        assert drawn[0].dtype == dtype
        assert np.array_equal(drawn[0], W.astype(dtype))
        assert np.array_equal(drawn[1], H.astype(dtype))


def test_a_given_start_is_copied_and_brought_to_the_problems_scale():
    W, H = rng.random((8, 3)), rng.random((3, 6))
    problem = posed(V * 1000)
    start_W, start_H = given_start(problem, (W, H))
    assert np.array_equal(start_W * problem.scale, W)
    assert np.array_equal(start_H, H)
    assert start_H is not H


def best_factor_by_search(problem, W, H):
    """The c of least ||V - c WH|| where the loss looks, from a fine grid."""
    grid = np.linspace(0, 2, 20_001)
    seen = np.ones(V.shape, bool) if problem.mask is None else problem.mask
    v, p = problem.V[seen], (W @ H)[seen]
    return grid[np.argmin([((v - c * p) ** 2).sum() for c in grid])]


@pytest.mark.parametrize("missing", ["ignore", "zero"])
def test_rescaling_gives_the_size_that_fits_best_where_the_loss_looks(missing):
    problem = posed(observed=OBSERVED, missing=missing)
    W, H = half_normal(problem, np.random.RandomState(2))
    new_W, new_H = rescaled(problem, W, H)
    ratio = float((new_W @ new_H)[0, 0] / (W @ H)[0, 0])
    assert ratio == pytest.approx(best_factor_by_search(problem, W, H), abs=1e-4)
    assert np.allclose(new_W / W, new_H[0, 0] / H[0, 0])


@pytest.mark.parametrize("W", [np.zeros((8, 3)), np.vstack([np.ones((1, 3)), np.zeros((7, 3))])])
def test_a_start_that_predicts_nothing_of_the_data_keeps_its_size(W):
    data = V.copy()
    data[0] = 0
    new_W, new_H = rescaled(posed(data), W, np.ones((3, 6)))
    assert np.array_equal(new_W, W)
    assert (new_H == 1).all()


SCENE = load_dataset("simulated-scene", rows=32, cols=32, bands=60)


def angles_to(truth: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Degrees between matched columns, by the textbook formula."""
    cosines = (truth / np.linalg.norm(truth, axis=0)).T @ (W / np.linalg.norm(W, axis=0))
    angles = np.degrees(np.arccos(np.clip(cosines, -1, 1)))
    return angles[linear_sum_assignment(angles)]


def clean_scene(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Exact mixtures of four random spectra, with one pure pixel of each."""
    rng = np.random.default_rng(seed)
    E, A = rng.random((30, 4)), rng.dirichlet(np.ones(4), 300).T
    A[:, :4] = np.eye(4)
    return E @ A, E, A


@pytest.mark.parametrize("alpha", [None, 0.3, 0.6])
def test_exact_mixtures_are_taken_apart(alpha):
    V, E, _ = clean_scene(1)
    observed = None if alpha is None else hide_entries(V.shape, alpha)

    W, H = pure_pixel_start(V, observed, K=4)

    assert angles_to(E, W).max() < 0.1
    np.testing.assert_allclose(W @ H, V, atol=0.01)
    np.testing.assert_allclose(H.sum(axis=0), 1, atol=0.02)


@pytest.mark.parametrize("pattern", ["entries", "stripes", "bands"])
@pytest.mark.parametrize(("method", "lam"), [("nmf", None), ("atnmf", 2.0)])
def test_half_of_the_scene_is_enough_to_find_its_materials_but_not_from_a_random_start(pattern, method, lam):
    observed = hide_entries(SCENE.shape, 0.5, 0, pattern, SCENE.image_shape, SCENE.order)

    found, other = (
        factorize(SCENE.V, observed, K=5, method=method, lam=lam, init=init).W
        for init in ("pure-pixels", "random")
    )

    assert angles_to(SCENE.truth.endmembers, found).mean() < 0.6
    assert angles_to(SCENE.truth.endmembers, other).mean() > 5


def test_hidden_values_are_never_looked_at_and_brighter_data_gives_brighter_spectra():
    observed = hide_entries(SCENE.shape, 0.5)
    spoilt = np.where(observed, SCENE.V, 1e6)
    missing = np.where(observed, SCENE.V, np.nan)

    W, H = pure_pixel_start(SCENE.V, observed, K=3, seed=3)

    for again in (pure_pixel_start(spoilt, observed, K=3, seed=3), pure_pixel_start(missing, K=3, seed=3)):
        np.testing.assert_array_equal(again[0], W)
        np.testing.assert_array_equal(again[1], H)
    bright, same = pure_pixel_start(4096 * SCENE.V, observed, K=3, seed=3)
    np.testing.assert_allclose(bright, 4096 * W, rtol=1e-5)
    np.testing.assert_allclose(same, H, rtol=1e-5)
    assert (W >= 0).all()
    assert (H > 0).all()


def test_the_name_and_the_factors_start_the_same_fit():
    observed = hide_entries(SCENE.shape, 0.4)

    named = factorize(SCENE.V, observed, K=4, init="pure-pixels", seed=2)
    given = factorize(SCENE.V, observed, K=4, init=pure_pixel_start(SCENE.V, observed, K=4, seed=2))

    np.testing.assert_array_equal(named.W, given.W)


def test_a_pixel_of_which_nothing_is_observed_is_no_corner_and_gets_the_mean():
    V, E, A = clean_scene(2)
    observed = np.ones(V.shape, dtype=bool)
    observed[:, 10:20] = False
    V[:, 10:20] = 100.0

    W, H = pure_pixel_start(V, observed, K=4)

    assert angles_to(E, W).max() < 0.1
    np.testing.assert_allclose(H[:, 10:20], H[:, 10:11].repeat(10, axis=1), rtol=1e-6)
    np.testing.assert_allclose(E @ A[:, observed.any(axis=0)].mean(axis=1), W @ H[:, 10], atol=0.02)


def test_one_part_and_data_without_any_contrast_do_no_harm():
    for K in (1, 3):
        W, H = pure_pixel_start(np.full((6, 9), 2.0), K=K)
        np.testing.assert_allclose(W, 2.0, rtol=1e-3)
        assert np.isfinite(H).all()


def test_too_few_observed_pixels_are_refused():
    observed = np.zeros(SCENE.shape, dtype=bool)
    observed[:, :3] = True

    with pytest.raises(InputError, match=r"K=5: only 3 pixels"):
        pure_pixel_start(SCENE.V, observed, K=5)
