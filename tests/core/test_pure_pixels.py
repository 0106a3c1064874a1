"""The pure-pixel start finds the materials of a scene, from what is observed of it alone."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from atnmf_core import InputError, factorize, hide_entries, load_dataset
from atnmf_core.pure_pixels import pure_pixel_start

SCENE = load_dataset("simulated-scene")


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
def test_exact_mixtures_are_taken_apart(alpha: float | None) -> None:
    V, E, _ = clean_scene(1)
    observed = None if alpha is None else hide_entries(V.shape, alpha)

    W, H = pure_pixel_start(V, observed, K=4)

    assert angles_to(E, W).max() < 0.1
    np.testing.assert_allclose(W @ H, V, atol=0.01)
    np.testing.assert_allclose(H.sum(axis=0), 1, atol=0.02)


@pytest.mark.parametrize("pattern", ["entries", "stripes", "bands"])
@pytest.mark.parametrize(("method", "lam"), [("nmf", None), ("atnmf", 2.0)])
def test_half_of_the_scene_is_enough_to_find_its_materials(
    pattern: str, method: str, lam: float | None
) -> None:
    observed = hide_entries(SCENE.shape, 0.5, 0, pattern, SCENE.image_shape, SCENE.order)

    fit = factorize(SCENE.V, observed, K=5, method=method, lam=lam, init="pure-pixels")

    assert angles_to(SCENE.truth.endmembers, fit.W).mean() < 0.5


def test_a_random_start_does_not_find_them() -> None:
    observed = hide_entries(SCENE.shape, 0.5)

    fit = factorize(SCENE.V, observed, K=5)

    assert angles_to(SCENE.truth.endmembers, fit.W).mean() > 5


def test_hidden_values_are_never_looked_at() -> None:
    observed = hide_entries(SCENE.shape, 0.5)
    spoilt = np.where(observed, SCENE.V, 1e6)
    missing = np.where(observed, SCENE.V, np.nan)

    starts = [pure_pixel_start(V, observed, K=3) for V in (SCENE.V, spoilt)]
    starts.append(pure_pixel_start(missing, K=3))

    for W, H in starts[1:]:
        np.testing.assert_array_equal(W, starts[0][0])
        np.testing.assert_array_equal(H, starts[0][1])


def test_a_seed_decides_the_start() -> None:
    W, H = pure_pixel_start(SCENE.V, K=5, seed=3)
    again, _ = pure_pixel_start(SCENE.V, K=5, seed=3)

    np.testing.assert_array_equal(W, again)
    assert W.shape == (100, 5)
    assert H.shape == (5, 4096)
    assert (W >= 0).all()
    assert (H > 0).all()


def test_brighter_data_gives_brighter_spectra_and_the_same_abundances() -> None:
    W, H = pure_pixel_start(SCENE.V, K=5)
    bright, same = pure_pixel_start(4096 * SCENE.V, K=5)

    np.testing.assert_allclose(bright, 4096 * W, rtol=1e-5)
    np.testing.assert_allclose(same, H, rtol=1e-5)


def test_the_name_and_the_factors_start_the_same_fit() -> None:
    observed = hide_entries(SCENE.shape, 0.4)

    named = factorize(SCENE.V, observed, K=4, init="pure-pixels", seed=2)
    given = factorize(SCENE.V, observed, K=4, init=pure_pixel_start(SCENE.V, observed, K=4, seed=2))

    np.testing.assert_array_equal(named.W, given.W)


def test_a_pixel_of_which_nothing_is_observed_is_no_corner_and_gets_the_mean() -> None:
    V, E, A = clean_scene(2)
    observed = np.ones(V.shape, dtype=bool)
    observed[:, 10:20] = False
    V[:, 10:20] = 100.0

    W, H = pure_pixel_start(V, observed, K=4)

    assert angles_to(E, W).max() < 0.1
    np.testing.assert_allclose(H[:, 10:20], H[:, 10:11].repeat(10, axis=1), rtol=1e-6)
    np.testing.assert_allclose(E @ A[:, observed.any(axis=0)].mean(axis=1), W @ H[:, 10], atol=0.02)


def test_one_part_and_data_without_any_contrast_do_no_harm() -> None:
    for K in (1, 3):
        W, H = pure_pixel_start(np.full((6, 9), 2.0), K=K)
        np.testing.assert_allclose(W, 2.0, rtol=1e-3)
        assert np.isfinite(H).all()


def test_too_few_observed_pixels_are_refused() -> None:
    observed = np.zeros(SCENE.shape, dtype=bool)
    observed[:, :3] = True

    with pytest.raises(InputError, match=r"K=5: only 3 pixels"):
        pure_pixel_start(SCENE.V, observed, K=5)


def test_a_start_that_nobody_knows_is_refused() -> None:
    with pytest.raises(InputError, match=r"init='pure': choose one of .*'pure-pixels'"):
        factorize(SCENE.V, K=2, init="pure")
