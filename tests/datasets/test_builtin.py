"""The data sets that have a name load offline with the shapes they promise."""

import numpy as np
import pytest
import scipy.stats
from scipy.io import loadmat

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


@pytest.mark.parametrize("name", PAPER_FOLDERS)
def test_the_papers_data_loads_as_the_catalogue_says(name, paper_data):
    entry = next(entry for entry in catalogue() if entry.name == name)
    data = load_dataset(name, folder=paper_data)
    assert (data.name, data.kind, data.shape) == (name, entry.kind, entry.shape)
    assert data.V.min() >= 0
    assert data.citation


def test_lfw_shows_scikit_images_faces_upright():
    from skimage.data import lfw_subset

    data = load_dataset("lfw")
    np.testing.assert_array_equal(data.images(), lfw_subset()[:100])


def test_synthetic_has_exact_rank_and_its_own_factors():
    data = load_dataset("synthetic", seed=3)
    assert np.linalg.matrix_rank(data.V) == 5
    np.testing.assert_allclose(data.truth.endmembers @ data.truth.abundances, data.V)
    np.testing.assert_array_equal(data.V, load_dataset("synthetic", seed=3).V)
    assert not np.array_equal(data.V, load_dataset("synthetic", seed=4).V)


def test_synthetic_scales_follow_the_inverse_gamma_distribution():
    """The root mean square of column k of W estimates the k-th scale."""
    scales = []
    for seed in range(60):
        W = load_dataset("synthetic", seed=seed, F=3000, N=2).truth.endmembers
        scales.extend(np.sqrt((W**2).mean(axis=0)))
    assert scipy.stats.kstest(scales, scipy.stats.invgamma(50, scale=70).cdf).pvalue > 0.01


def test_the_papers_synthetic_matrix_is_a_likely_draw_of_our_generator(paper_data):
    theirs = load_dataset("synthetic-paper", folder=paper_data).V.mean()
    ours = [load_dataset("synthetic", seed=seed).V.mean() for seed in range(300)]
    assert min(ours) < theirs < max(ours)


def test_cbcl_is_the_authors_matrix(paper_data):
    """Their run, replayed: squared error on observed entries after five steps from their start."""
    V, observed = load_dataset("cbcl", folder=paper_data).V, paper_mask("cbcl", 0.3, paper_data)
    random = np.random.RandomState(1)
    W = np.abs(random.normal(size=(361, 49)))
    H = np.abs(random.normal(size=(49, 2429)))
    X = V * observed
    for _ in range(5):
        W *= (X @ H.T) / (W @ (H @ H.T) + 2.2e-16)
        H *= (W.T @ X) / ((W.T @ W) @ H + 2.2e-16)
    assert np.sum((X - observed * (W @ H)) ** 2) == pytest.approx(22290.773, abs=0.01)


def test_cubes_are_column_major_as_matlab_stored_them(paper_data):
    data = load_dataset("moffet", folder=paper_data)
    stored = loadmat(paper_data / "moffet" / "clean_Moffet.mat")["V"]
    np.testing.assert_array_equal(data.images()[7, :, 0], stored[7, :50])


@pytest.mark.parametrize("name", PAPER_FOLDERS)
def test_masks_fit_their_data_and_hide_the_stated_share(name, paper_data):
    entry = next(entry for entry in catalogue() if entry.name == name)
    for alpha in PAPER_ALPHAS:
        observed = paper_mask(name, alpha, paper_data)
        assert observed.shape == entry.shape
        assert observed.dtype == bool
        assert 1 - observed.mean() == pytest.approx(alpha, abs=0.012)


@pytest.mark.parametrize(("name", "alpha"), [("lfw", 0.5), ("cbcl", 0.35), ("cbcl", 1.0)])
def test_masks_that_the_paper_does_not_have_are_refused(name, alpha):
    with pytest.raises(InputError, match="the paper has masks for"):
        paper_mask(name, alpha)


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(InputError, match="lfw, simulated-scene, synthetic, cbcl"):
        load_dataset("mnist")


def test_an_unknown_option_is_answered_with_the_known_ones():
    with pytest.raises(InputError, match="its options are seed, F, N, K"):
        load_dataset("synthetic", rank=3)
    with pytest.raises(InputError, match="it has none"):
        load_dataset("lfw", seed=3)


def test_data_that_is_not_here_is_said_to_be_missing_and_where_it_belongs(tmp_path, monkeypatch):
    monkeypatch.setenv("ATNMF_DATA_DIR", str(tmp_path))
    assert not any(entry.available for entry in catalogue() if not entry.bundled)
    with pytest.raises(DataUnavailable) as refusal:
        load_dataset("moffet")
    assert "data fetch moffet" in str(refusal.value)
    assert str(tmp_path / "moffet" / "clean_Moffet.mat") in str(refusal.value)


def test_a_file_of_that_name_with_other_contents_is_not_used(tmp_path):
    (tmp_path / "synthetic").mkdir()
    (tmp_path / "synthetic" / "X.mat").write_bytes(b"something else")
    with pytest.raises(DataUnavailable, match="SHA-256 differs"):
        load_dataset("synthetic-paper", folder=tmp_path)
