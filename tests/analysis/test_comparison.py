"""Restorations as pictures, bands, pixels and cubes: W H where something is observed, unknown elsewhere."""

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from atnmf_core import Dataset, InputError, factorize, hide_entries, load_dataset, rmse, ssim
from atnmf_core.analysis import pictures
from atnmf_core.analysis.pictures import (
    ComparedPicture,
    band_error,
    band_rmse,
    compare_picture,
    hidden_error,
    known_factors,
    reach_of,
    restored_band,
    restored_cube,
    unreached_in_words,
)
from atnmf_core.analysis.unmixing import pixel_spectrum
from atnmf_core.export import spectra_csv

V = np.array([[0.2, 0.4, 0.6, 0.8], [0.8, 0.6, 0.4, 0.2], [0.1, 0.3, 0.5, 1.0]])
OBSERVED = np.array([[True, False, True, True], [True, True, False, True], [True, True, True, True]])
PICTURE = ComparedPicture(V, OBSERVED, at_hat=V + 0.1, nmf_hat=V - 0.2, lam=2.0)


def test_a_picture_of_a_data_set_is_compared_under_both_fits():
    data = load_dataset("lfw")
    observed = hide_entries(data.shape, 0.3)
    at, nmf = (factorize(data.V, observed, K=2, max_outer=2, seed=seed) for seed in (0, 1))

    picture = compare_picture(data, observed, (at.W, at.H), (nmf.W, nmf.H), 6, lam=2.0)

    assert (picture.v == data.image(data.V[:, 6])).all()
    assert (picture.observed == data.image(observed[:, 6])).all()
    assert picture.at_hat == pytest.approx(data.image(at.V_hat[:, 6]), rel=1e-5)
    assert picture.nmf_hat == pytest.approx(data.image(nmf.V_hat[:, 6]), rel=1e-5)


def test_a_restoration_keeps_observed_pixels_and_is_measured_by_rmse_where_hidden_by_psnr_and_ssim():
    model = ComparedPicture(V, OBSERVED, PICTURE.at_hat, PICTURE.nmf_hat, lam=2.0, keep_observed=False)
    assert (model.at_restored == PICTURE.at_hat).all()
    assert (PICTURE.at_restored == np.where(OBSERVED, V, PICTURE.at_hat)).all()
    # The attack follows the paper's formula on observed pixels.
    by_hand = np.maximum((V - PICTURE.at_hat) / (2.0 - 1.0), -V)
    assert PICTURE.r == pytest.approx(np.where(OBSERVED, by_hand, 0))

    at, nmf = PICTURE.measures()
    assert at.rmse == pytest.approx(0.1)
    assert nmf.rmse == pytest.approx(0.2)
    assert at.psnr == pytest.approx(-10 * np.log10(2 * 0.1**2 / V.size))
    assert at.ssim == pytest.approx(ssim(V, PICTURE.at_restored))
    assert 1 > at.ssim > nmf.ssim
    assert PICTURE.closer_shares() == (1.0, 0.0)


def test_what_cannot_be_measured_is_left_out():
    holed = np.where(np.arange(12).reshape(3, 4) == 1, np.nan, V)

    at, _ = ComparedPicture(holed, OBSERVED & ~np.isnan(holed), V + 0.1, V, lam=2.0).measures()
    assert at.rmse == pytest.approx(0.1)
    assert at.psnr == pytest.approx(-10 * np.log10(0.1**2 / (V.size - 1)))

    at, _ = ComparedPicture(V[:2], OBSERVED[:2], V[:2], V[:2], lam=2.0).measures()
    assert np.isnan(at.ssim)

    at, _ = ComparedPicture(V, np.ones_like(OBSERVED), V + 0.1, V, lam=2.0).measures()
    assert np.isnan(at.rmse)


@pytest.mark.parametrize("keep_observed", [True, False])
def test_what_nothing_observes_is_not_predicted(keep_observed):
    data = load_dataset("simulated-scene", rows=6, cols=7, bands=12)
    observed = hide_entries(data.shape, 0.3)
    observed[3] = False
    observed[:, 10] = False
    fit = factorize(data.V, observed, K=3, max_outer=2)
    factors = (fit.W, fit.H)

    unseen = compare_picture(data, observed, factors, factors, 3, lam=2.0, keep_observed=keep_observed)
    assert np.isnan(unseen.at_restored).all()
    assert (unseen.r == 0).all()
    assert np.isnan(unseen.measures()[0].rmse)

    other = compare_picture(data, observed, factors, factors, 4, lam=2.0, keep_observed=keep_observed)
    assert np.isnan(other.nmf_restored).sum() == 1
    assert np.isnan(other.nmf_restored[10 % 6, 10 // 6])
    assert np.isfinite(other.measures()[1].rmse)
    assert sum(other.closer_shares()) == 0


@pytest.mark.parametrize("missing", ["ignore", "zero"])
@pytest.mark.parametrize("kind", ["faces", "cube", "matrix"])
def test_what_nothing_observes_is_the_same_entries_for_every_kind_of_data(kind, missing):
    values = np.random.default_rng(0).uniform(0.1, 1, (12, 12))
    data = Dataset(values, kind, "data", image_shape=None if kind == "matrix" else (3, 4))
    observed = np.ones((12, 12), dtype=bool)
    observed[5] = observed[:, 2] = False
    W, H = np.ones((12, 2)), np.ones((2, 12))
    expected = np.where(observed, values, np.nan)

    for index in range(pictures.count(data)):
        picture = compare_picture(data, observed, (W, H), (W, H), index, lam=2.0, missing=missing)
        np.testing.assert_array_equal(picture.at_restored, pictures.picture(data, expected, index))


SCENE = load_dataset("simulated-scene", rows=12, cols=9, bands=20, materials=3)
HALF = hide_entries(SCENE.shape, 0.5)
HALF[:, [7, 30]] = False
HALF[4] = False
FIT = factorize(SCENE.V, HALF, K=3, init="pure-pixels")
REACH = reach_of(HALF)
FACTORS = {"NMF": (FIT.W, FIT.H)}
PREDICTED = np.where(REACH.bands[:, None] & REACH.pixels, FIT.V_hat, np.nan)


def test_the_reach_counts_what_is_observed_and_says_what_is_not():
    assert np.flatnonzero(~REACH.pixels).tolist() == [7, 30]
    assert np.flatnonzero(~REACH.bands).tolist() == [4]
    np.testing.assert_array_equal(REACH.counts, HALF.sum(axis=0))
    assert REACH.weak(8) == sum(1 for count in HALF.sum(axis=0) if 0 < count < 8)

    W, H = known_factors(FIT.W, FIT.H, REACH)
    assert np.flatnonzero(np.isnan(W).any(axis=1)).tolist() == [4]
    assert np.flatnonzero(np.isnan(H).any(axis=0)).tolist() == [7, 30]

    table = Dataset(SCENE.V, "matrix", "table")
    assert unreached_in_words(SCENE, REACH) == "2 pixels and 1 band"
    assert unreached_in_words(table, REACH) == "2 columns and 1 row"
    assert unreached_in_words(SCENE, reach_of(SCENE.observed)) == ""


@pytest.mark.parametrize("keep_observed", [True, False])
def test_a_band_and_its_error_are_those_of_the_model_but_for_what_is_observed_or_unknown(keep_observed):
    fit = (SCENE.V, HALF, REACH, FIT.W, FIT.H)
    expected = np.where(HALF & keep_observed, SCENE.V, PREDICTED)
    for band in (4, 6):
        restored = restored_band(*fit, band, keep_observed=keep_observed)
        error = band_error(*fit, band, keep_observed=keep_observed)
        np.testing.assert_allclose(restored, expected[band], rtol=1e-5)
        np.testing.assert_allclose(error, np.abs(SCENE.V - expected)[band], atol=1e-6)
    hidden = ~HALF[6] & REACH.pixels
    assert band_rmse(*fit, 6) == pytest.approx(rmse(SCENE.V[6], FIT.V_hat[6], hidden), rel=1e-4)


@pytest.mark.parametrize("keep", ["observed", "measured", "nothing"])
def test_the_restored_cube_has_all_bands_and_keeps_what_it_is_told_to(keep):
    gappy = replace(SCENE, V=np.where((np.arange(108) < 5) & (np.arange(20) == 3)[:, None], np.nan, SCENE.V))
    observed = HALF & gappy.observed
    kept = {"observed": observed, "measured": gappy.observed, "nothing": np.zeros_like(observed)}[keep]

    cube = restored_cube(gappy, observed, FIT.W, FIT.H, method="NMF", keep=keep)

    np.testing.assert_allclose(cube.V, np.where(kept, gappy.V, PREDICTED), rtol=1e-6)
    np.testing.assert_array_equal(cube.wavelengths, SCENE.wavelengths)
    assert cube.image_shape == SCENE.image_shape
    assert "restored by NMF" in cube.title


def test_the_error_of_a_pixel_is_over_its_hidden_bands_if_it_has_any():
    V = SCENE.V.copy()
    V[2, 5] = np.nan

    errors = hidden_error(V, HALF & ~np.isnan(V), FIT.W, FIT.H)

    for n in (0, 5, 7):
        assert errors[n] == pytest.approx(rmse(V[:, n], FIT.V_hat[:, n], ~HALF[:, n]), rel=1e-5)
    assert np.isnan(hidden_error(SCENE.V, np.ones(SCENE.shape, dtype=bool), FIT.W, FIT.H)).all()


def test_a_pixels_spectrum_is_its_column_measured_over_its_hidden_bands_and_by_its_angle():
    spectrum = pixel_spectrum(SCENE, HALF, REACH, FACTORS, row=3, col=5)

    n, both = 5 * 12 + 3, REACH.bands  # pixels are stored column after column
    v, hat = SCENE.images()[:, 3, 5], FIT.V_hat[:, n]
    np.testing.assert_array_equal(spectrum.original, v)
    np.testing.assert_array_equal(spectrum.observed, HALF[:, n])
    np.testing.assert_allclose(spectrum.predicted["NMF"], PREDICTED[:, n], rtol=1e-5)
    assert spectrum.error("NMF") == pytest.approx(rmse(v, hat, ~HALF[:, n] & both), rel=1e-5)
    cosine = v[both] @ hat[both] / np.linalg.norm(v[both]) / np.linalg.norm(hat[both])
    assert spectrum.angle("NMF") == pytest.approx(np.degrees(np.arccos(cosine)), rel=1e-3)

    unseen = pixel_spectrum(SCENE, HALF, REACH, FACTORS, row=7, col=0)
    assert np.isnan([*unseen.predicted["NMF"], unseen.error("NMF"), unseen.angle("NMF")]).all()
    with pytest.raises(InputError, match="12 x 9 pixels"):
        pixel_spectrum(SCENE, HALF, REACH, FACTORS, row=12, col=0)


def test_spectra_are_written_line_by_line():
    spectra = [pixel_spectrum(SCENE, HALF, REACH, FACTORS, row, 2) for row in (0, 1)]

    lines = list(csv.DictReader(io.StringIO(spectra_csv(SCENE, spectra))))

    assert len(lines) == 40
    line, n = lines[20 + 9], 2 * 12 + 1
    assert (line["row"], line["column"], line["band"]) == ("2", "3", "10")
    expected = [SCENE.wavelengths[9], SCENE.images()[9, 1, 2], int(HALF[9, n]), FIT.V_hat[9, n]]
    assert [float(line[name]) for name in ("nm", "original", "observed", "NMF")] == pytest.approx(
        expected, rel=1e-5
    )
    assert lines[4]["NMF"] == ""
