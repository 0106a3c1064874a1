"""The data sets that have a name load offline as promised; the simulated scene is a linear mixture."""

import numpy as np
import pytest
import scipy.stats
from scipy.io import loadmat
from skimage.data import lfw_subset

from atnmf_core import InputError, load_dataset, paper_mask
from atnmf_core.datasets import PAPER_ALPHAS, PAPER_FOLDERS, DataUnavailable, catalogue

BUNDLED = [entry.name for entry in catalogue() if entry.bundled]


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_data_loads_as_the_catalogue_says(name):
    entry = next(entry for entry in catalogue() if entry.name == name)
    data = load_dataset(name)
    assert (data.name, data.kind, data.shape) == (name, entry.kind, entry.shape)
    assert data.V.dtype == np.float64
    assert data.V.min() >= 0
    assert data.citation
    assert data.terms
    assert entry.available
    assert entry.download_bytes == 0
    if name == "lfw":
        np.testing.assert_array_equal(data.images(), lfw_subset()[:100])


@pytest.mark.parametrize("name", PAPER_FOLDERS)
def test_the_papers_data_and_masks_load_as_the_catalogue_says(name, paper_data):
    entry = next(entry for entry in catalogue() if entry.name == name)
    data = load_dataset(name, folder=paper_data)
    assert (data.name, data.kind, data.shape) == (name, entry.kind, entry.shape)
    assert data.V.min() >= 0
    assert data.citation
    if name == "moffet":
        stored = loadmat(paper_data / "moffet" / "clean_Moffet.mat")["V"]
        np.testing.assert_array_equal(
            data.images()[7, :, 0], stored[7, :50], "column-major, as MATLAB stored it"
        )
    for alpha in PAPER_ALPHAS:
        observed = paper_mask(name, alpha, paper_data)
        assert observed.shape == entry.shape
        assert observed.dtype == bool
        assert 1 - observed.mean() == pytest.approx(alpha, abs=0.012)


def test_synthetic_has_exact_rank_its_own_factors_and_scales_of_the_inverse_gamma_distribution():
    data = load_dataset("synthetic", seed=3)
    assert np.linalg.matrix_rank(data.V) == 5
    np.testing.assert_allclose(data.truth.endmembers @ data.truth.abundances, data.V)
    np.testing.assert_array_equal(data.V, load_dataset("synthetic", seed=3).V)
    assert not np.array_equal(data.V, load_dataset("synthetic", seed=4).V)
    scales = []
    for seed in range(60):
        W = load_dataset("synthetic", seed=seed, F=3000, N=2).truth.endmembers
        # The root mean square of column k of W estimates the k-th scale.
        scales.extend(np.sqrt((W**2).mean(axis=0)))
    assert scipy.stats.kstest(scales, scipy.stats.invgamma(50, scale=70).cdf).pvalue > 0.01


def test_the_papers_synthetic_matrix_is_a_likely_draw_of_our_generator(paper_data):
    theirs = load_dataset("synthetic-paper", folder=paper_data).V.mean()
    ours = [load_dataset("synthetic", seed=seed).V.mean() for seed in range(300)]
    assert min(ours) < theirs < max(ours)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: load_dataset("mnist"), "lfw, simulated-scene, synthetic, cbcl"),
        (lambda: load_dataset("synthetic", rank=3), "its options are seed, F, N, K"),
        (lambda: load_dataset("lfw", seed=3), "it has none"),
        (lambda: paper_mask("lfw", 0.5), "the paper has masks for"),
        (lambda: paper_mask("cbcl", 0.35), "the paper has masks for"),
        (lambda: paper_mask("cbcl", 1.0), "the paper has masks for"),
    ],
)
def test_what_is_unknown_is_answered_with_what_is_known(ask, words):
    with pytest.raises(InputError, match=words):
        ask()


@pytest.mark.parametrize("name", PAPER_FOLDERS)
def test_data_that_is_not_here_is_said_to_be_missing_and_how_to_get_it(name, tmp_path, monkeypatch):
    monkeypatch.setenv("ATNMF_DATA_DIR", str(tmp_path))
    assert not any(entry.available for entry in catalogue() if not entry.bundled)
    for load in (load_dataset, lambda name: paper_mask(name, 0.5)):
        with pytest.raises(DataUnavailable, match=f"`python -m atnmf_core data fetch {name}`") as refusal:
            load(name)
        assert str(tmp_path / PAPER_FOLDERS[name]) in str(refusal.value)


def test_a_file_of_that_name_with_other_contents_is_not_used(tmp_path):
    (tmp_path / "synthetic").mkdir()
    (tmp_path / "synthetic" / "X.mat").write_bytes(b"something else")
    with pytest.raises(DataUnavailable, match="SHA-256 differs"):
        load_dataset("synthetic-paper", folder=tmp_path)


def scene(**options):
    return load_dataset("simulated-scene", **options)


@pytest.mark.parametrize("materials", [2, 5, 8])
def test_abundances_sum_to_one_are_smooth_and_somewhere_nearly_pure(materials):
    data = scene(rows=40, cols=30, bands=33, materials=materials, seed=1)
    assert data.V.shape == (33, 1200)
    assert data.image_shape == (40, 30)
    assert (data.wavelengths[0], data.wavelengths[-1]) == (400, 2500)
    assert data.truth.names[:2] == ("water", "vegetation")
    A = data.truth.abundances
    assert A.shape == (materials, 1200)
    assert A.min() >= 0
    np.testing.assert_allclose(A.sum(axis=0), 1)
    assert A.max(axis=1).min() > 0.9
    steps = np.abs(np.diff(data.images(A), axis=1))
    assert np.median(steps) < 0.05


def test_without_noise_the_scene_is_the_mixture_and_noise_has_the_asked_deviation():
    data, noisy = scene(noise=0, seed=2), scene(noise=0.01, seed=2)
    np.testing.assert_allclose(data.V, data.truth.endmembers @ data.truth.abundances)
    assert np.linalg.matrix_rank(data.V) == 5
    assert np.std((noisy.V - data.V)[data.V > 0.1]) == pytest.approx(0.01, rel=0.02)
    assert noisy.V.min() >= 0


def test_spectra_are_reflectances_and_distinct_and_vegetation_looks_like_it():
    data = scene(bands=211, materials=8)
    E = data.truth.endmembers
    assert E.min() > 0
    assert E.max() < 1
    directions = E / np.linalg.norm(E, axis=0)
    cosines = directions.T @ directions - np.eye(8)
    assert cosines.max() < 0.995
    # It is green, has a red edge and drinks water bands.
    bands = [np.argmin(abs(data.wavelengths - nm)) for nm in (550, 670, 860, 1940)]
    green, red, infrared, water = E[bands, 1]
    assert green > 1.5 * red
    assert infrared > 5 * red
    assert water < 0.3 * infrared


def test_the_scene_stays_what_it_was_and_another_seed_gives_another():
    """Links and stored fits are of this very scene."""
    V = scene().V

    assert [V.mean(), V[50, 2000], V[3, 7]] == pytest.approx(
        [0.279765070223487, 0.27956027965432867, 0.323692792263809], rel=1e-9
    )
    assert not np.array_equal(scene(seed=6).V, V)


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
