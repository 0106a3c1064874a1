"""What is restored is W H where something is observed to restore it from, and unknown elsewhere."""

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from atnmf_core import Dataset, InputError, factorize, hide_entries, load_dataset
from atnmf_core.analysis.recovery import (
    band_error,
    band_rmse,
    hidden_error,
    known_factors,
    pixel_spectrum,
    reach_of,
    restored_band,
    restored_cube,
    unreached_in_words,
)
from atnmf_core.export import spectra_csv

SCENE = load_dataset("simulated-scene", rows=12, cols=9, bands=20, materials=3)
OBSERVED = hide_entries(SCENE.shape, 0.5)
OBSERVED[:, [7, 30]] = False
OBSERVED[4] = False
FIT = factorize(SCENE.V, OBSERVED, K=3, init="pure-pixels")
REACH = reach_of(OBSERVED)
FACTORS = {"NMF": (FIT.W, FIT.H)}


def test_the_reach_counts_what_is_observed() -> None:
    assert np.flatnonzero(~REACH.pixels).tolist() == [7, 30]
    assert np.flatnonzero(~REACH.bands).tolist() == [4]
    np.testing.assert_array_equal(REACH.counts, OBSERVED.sum(axis=0))
    assert REACH.weak(8) == sum(1 for count in OBSERVED.sum(axis=0) if 0 < count < 8)


@pytest.mark.parametrize("keep_observed", [True, False])
def test_a_band_is_the_observed_entries_or_the_model_and_nothing_where_nothing_is_known(
    keep_observed: bool,
) -> None:
    restored = restored_band(SCENE.V, OBSERVED, REACH, FIT.W, FIT.H, 6, keep_observed=keep_observed)

    for n, value in enumerate(restored):
        if n in (7, 30):
            assert np.isnan(value)
        elif OBSERVED[6, n] and keep_observed:
            assert value == SCENE.V[6, n]
        else:
            assert value == pytest.approx(FIT.V_hat[6, n], rel=1e-5)


def test_a_band_of_which_nothing_is_observed_is_unknown() -> None:
    assert np.isnan(restored_band(SCENE.V, OBSERVED, REACH, FIT.W, FIT.H, 4)).all()


@pytest.mark.parametrize("keep_observed", [True, False])
def test_the_error_of_a_band_is_its_distance_from_the_original(keep_observed: bool) -> None:
    error = band_error(SCENE.V, OBSERVED, REACH, FIT.W, FIT.H, 6, keep_observed=keep_observed)

    expected = np.abs(SCENE.V[6] - FIT.V_hat[6])
    if keep_observed:
        expected[OBSERVED[6]] = 0
    expected[[7, 30]] = np.nan
    np.testing.assert_allclose(error, expected, atol=1e-6)


def test_the_rmse_of_a_band_is_over_its_hidden_pixels_that_have_a_prediction() -> None:
    hidden = ~OBSERVED[6]
    hidden[[7, 30]] = False

    error = band_rmse(SCENE.V, OBSERVED, REACH, FIT.W, FIT.H, 6)

    assert error == pytest.approx(np.sqrt(np.mean((SCENE.V[6] - FIT.V_hat[6])[hidden] ** 2)), rel=1e-4)


def test_the_restored_cube_has_all_bands_and_the_wavelengths() -> None:
    cube = restored_cube(SCENE, OBSERVED, FIT.W, FIT.H, method="NMF")

    expected = np.where(OBSERVED, SCENE.V, FIT.V_hat)
    expected[:, [7, 30]] = np.nan
    expected[4] = np.nan
    np.testing.assert_allclose(cube.V, expected, rtol=1e-6)
    np.testing.assert_array_equal(cube.wavelengths, SCENE.wavelengths)
    assert cube.image_shape == SCENE.image_shape
    assert "restored by NMF" in cube.title


def test_the_error_of_a_pixel_is_over_its_hidden_bands() -> None:
    V = SCENE.V.copy()
    V[2, 5] = np.nan

    errors = hidden_error(V, OBSERVED & ~np.isnan(V), FIT.W, FIT.H)

    for n in (0, 5, 7):
        hidden = ~OBSERVED[:, n] & ~np.isnan(V[:, n])
        expected = np.sqrt(np.mean((V[hidden, n] - FIT.V_hat[hidden, n]) ** 2))
        assert errors[n] == pytest.approx(expected, rel=1e-5)


def test_a_pixel_without_hidden_bands_has_no_error() -> None:
    errors = hidden_error(SCENE.V, np.ones(SCENE.shape, dtype=bool), FIT.W, FIT.H)

    assert np.isnan(errors).all()


def test_a_pixels_spectrum_is_its_column_of_the_cube() -> None:
    cube = SCENE.images().transpose(1, 2, 0)

    spectrum = pixel_spectrum(SCENE, OBSERVED, REACH, FACTORS, row=3, col=5)

    n = 5 * 12 + 3  # pixels are stored column after column
    np.testing.assert_array_equal(spectrum.original, cube[3, 5])
    np.testing.assert_array_equal(spectrum.observed, OBSERVED[:, n])
    told = np.delete(np.arange(20), 4)
    np.testing.assert_allclose(spectrum.predicted["NMF"][told], FIT.V_hat[told, n], rtol=1e-5)
    assert np.isnan(spectrum.predicted["NMF"][4])


def test_a_pixel_is_measured_over_its_hidden_bands_and_by_its_angle() -> None:
    spectrum = pixel_spectrum(SCENE, OBSERVED, REACH, FACTORS, row=3, col=5)

    both = np.delete(np.arange(20), 4)
    v, hat = cube_column(3, 5)[both], FIT.V_hat[both, 5 * 12 + 3]
    hidden = ~OBSERVED[both, 5 * 12 + 3]
    assert spectrum.error("NMF") == pytest.approx(np.sqrt(np.mean((v - hat)[hidden] ** 2)), rel=1e-5)
    cosine = v @ hat / np.linalg.norm(v) / np.linalg.norm(hat)
    assert spectrum.angle("NMF") == pytest.approx(np.degrees(np.arccos(cosine)), rel=1e-3)


def test_nothing_is_claimed_about_a_pixel_without_any_observation() -> None:
    spectrum = pixel_spectrum(SCENE, OBSERVED, REACH, FACTORS, row=7, col=0)

    assert np.isnan(spectrum.predicted["NMF"]).all()
    assert np.isnan(spectrum.error("NMF"))
    assert np.isnan(spectrum.angle("NMF"))


def test_a_pixel_outside_is_refused() -> None:
    with pytest.raises(InputError, match="12 x 9 pixels"):
        pixel_spectrum(SCENE, OBSERVED, REACH, FACTORS, row=12, col=0)


def test_spectra_are_written_line_by_line() -> None:
    spectra = [pixel_spectrum(SCENE, OBSERVED, REACH, FACTORS, row, 2) for row in (0, 1)]

    lines = list(csv.DictReader(io.StringIO(spectra_csv(SCENE, spectra))))

    assert len(lines) == 40
    line = lines[20 + 9]
    assert (line["row"], line["column"], line["band"]) == ("2", "3", "10")
    assert float(line["nm"]) == pytest.approx(SCENE.wavelengths[9], rel=1e-6)
    assert float(line["original"]) == pytest.approx(cube_column(1, 2)[9], rel=1e-6)
    assert line["observed"] == str(int(OBSERVED[9, 2 * 12 + 1]))
    assert float(line["NMF"]) == pytest.approx(FIT.V_hat[9, 2 * 12 + 1], rel=1e-5)
    assert lines[4]["NMF"] == ""


def cube_column(row: int, col: int) -> np.ndarray:
    return SCENE.images()[:, row, col]


def test_every_measured_value_can_stay_exactly_as_it_was() -> None:
    V = SCENE.V.copy()
    V[3, :5] = np.nan
    gappy = replace(SCENE, V=V)
    observed = OBSERVED & gappy.observed

    cube = restored_cube(gappy, observed, FIT.W, FIT.H, method="NMF", keep="measured")

    assert (cube.V[gappy.observed] == V[gappy.observed]).all()
    assert cube.V[3, 2] == pytest.approx(FIT.V_hat[3, 2], rel=1e-6)


def test_nothing_need_be_kept() -> None:
    cube = restored_cube(SCENE, OBSERVED, FIT.W, FIT.H, method="NMF", keep="nothing")

    told = ~np.isnan(cube.V)
    np.testing.assert_allclose(cube.V[told], FIT.V_hat[told], rtol=1e-6)


def test_factors_are_unknown_where_nothing_is_observed() -> None:
    W, H = known_factors(FIT.W, FIT.H, REACH)

    assert np.flatnonzero(np.isnan(W).any(axis=1)).tolist() == [4]
    assert np.flatnonzero(np.isnan(H).any(axis=0)).tolist() == [7, 30]


def test_what_nothing_is_observed_of_is_said_in_the_words_of_the_data() -> None:
    table = Dataset(SCENE.V, "matrix", "table")

    assert unreached_in_words(SCENE, REACH) == "2 pixels and 1 band"
    assert unreached_in_words(table, REACH) == "2 columns and 1 row"
    assert unreached_in_words(SCENE, reach_of(SCENE.observed)) == ""
