"""The simulated scene is a linear mixture whose ingredients are known."""

import numpy as np
import pytest

from atnmf_core import InputError, load_dataset


def scene(**options):
    return load_dataset("simulated-scene", **options)


@pytest.mark.parametrize("materials", [2, 5, 8])
def test_abundances_sum_to_one_are_smooth_and_somewhere_nearly_pure(materials):
    data = scene(rows=40, cols=30, materials=materials, seed=1)
    A = data.truth.abundances
    assert A.shape == (materials, 1200)
    assert A.min() >= 0
    np.testing.assert_allclose(A.sum(axis=0), 1)
    assert A.max(axis=1).min() > 0.9
    steps = np.abs(np.diff(data.images(A), axis=1))
    assert np.median(steps) < 0.05


def test_without_noise_the_scene_is_the_mixture():
    data = scene(noise=0)
    np.testing.assert_allclose(data.V, data.truth.endmembers @ data.truth.abundances)
    assert np.linalg.matrix_rank(data.V) == 5


def test_noise_has_the_asked_deviation_and_leaves_no_negative_entry():
    clean, noisy = scene(noise=0, seed=2), scene(noise=0.01, seed=2)
    bright = clean.V > 0.1
    assert np.std((noisy.V - clean.V)[bright]) == pytest.approx(0.01, rel=0.02)
    assert noisy.V.min() >= 0


def test_size_and_wavelength_axis_are_as_asked():
    data = scene(rows=20, cols=10, bands=33, materials=3)
    assert data.V.shape == (33, 200)
    assert data.image_shape == (20, 10)
    assert (data.wavelengths[0], data.wavelengths[-1]) == (400, 2500)
    assert data.truth.names == ("water", "vegetation", "soil")


def test_spectra_are_reflectances_and_distinct():
    E = scene(materials=8).truth.endmembers
    assert E.min() > 0
    assert E.max() < 1
    directions = E / np.linalg.norm(E, axis=0)
    cosines = directions.T @ directions - np.eye(8)
    assert cosines.max() < 0.995


def test_vegetation_is_green_has_a_red_edge_and_drinks_water_bands():
    data = scene(bands=211)
    green, red, infrared, water = (
        data.truth.endmembers[np.argmin(abs(data.wavelengths - nm)), 1] for nm in (550, 670, 860, 1940)
    )
    assert green > 1.5 * red
    assert infrared > 5 * red
    assert water < 0.3 * infrared


def test_the_same_seed_gives_the_same_scene():
    np.testing.assert_array_equal(scene(seed=5).V, scene(seed=5).V)
    assert not np.array_equal(scene(seed=5).V, scene(seed=6).V)


def test_the_scene_stays_what_it_was():
    """Links and stored fits are of this very scene."""
    V = scene().V

    assert [V.mean(), V[50, 2000], V[3, 7]] == pytest.approx(
        [0.279765070223487, 0.27956027965432867, 0.323692792263809], rel=1e-9
    )


def test_pure_pixels_let_the_endmembers_be_found():
    """Successive projections, a textbook method that needs a pure pixel of each material."""
    data = scene(noise=0, seed=0)
    residual, found = data.V.copy(), []
    for _ in range(5):
        pixel = np.argmax((residual**2).sum(axis=0))
        found.append(pixel)
        direction = residual[:, pixel] / np.linalg.norm(residual[:, pixel])
        residual -= np.outer(direction, direction @ residual)
    materials = data.truth.abundances[:, found].argmax(axis=0)
    assert sorted(materials) == [0, 1, 2, 3, 4]
    assert data.truth.abundances[:, found].max(axis=0).min() > 0.85


@pytest.mark.parametrize(
    "options",
    [
        {"rows": 3}, {"cols": 0}, {"bands": 1}, {"materials": 1}, {"materials": 9}, {"noise": -0.1},
        {"noise": np.nan}, {"seed": -1}, {"rows": 10_000, "cols": 10_000}, {"bands": 2.5},
    ],
)  # fmt: skip
def test_impossible_scenes_are_refused_by_name(options):
    with pytest.raises(InputError, match=next(iter(options))):
        scene(**options)
