"""The measures against scikit-image and against the paper's formula, written out."""

import math

import numpy as np
import pytest
from skimage import metrics as published

from atnmf_core import InputError, psnr, rmse, ssim

rng = np.random.default_rng(7)
V, V_hat = rng.random((30, 20)), rng.random((30, 20))
WHERE = rng.random((30, 20)) < 0.4


def test_rmse_is_the_papers_formula_and_scikit_images():
    errors = [V[f, n] - V_hat[f, n] for f in range(30) for n in range(20) if WHERE[f, n]]
    expected = math.sqrt(sum(error**2 for error in errors) / len(errors))
    assert rmse(V, V_hat, WHERE) == pytest.approx(expected, rel=1e-14)
    assert rmse(V, V_hat) == pytest.approx(math.sqrt(published.mean_squared_error(V, V_hat)), rel=1e-14)
    ones = np.ones(5_000_000, np.float32)
    assert rmse(ones, ones * np.float32(1.5)) == 0.5, "summed in double precision"


def test_rmse_leaves_out_what_has_no_truth_but_no_prediction():
    holed = V.copy()
    holed[:3] = np.nan
    assert rmse(holed, V_hat) == pytest.approx(rmse(V[3:], V_hat[3:]), rel=1e-14)
    assert math.isnan(rmse(V, V_hat, np.zeros_like(WHERE)))
    assert math.isnan(rmse(np.full((2, 2), np.nan), np.ones((2, 2))))
    assert rmse([[1.0, 2.0]], [[1.0, np.inf]]) == math.inf
    assert math.isnan(rmse([[1.0, 2.0]], [[1.0, np.nan]]))


@pytest.mark.parametrize("size", [1e-200, 1e-30, 1e30, 1e200])
def test_rmse_grows_with_its_data_at_any_size(size):
    assert rmse(V * size, V_hat * size) == pytest.approx(size * rmse(V, V_hat), rel=1e-12)


def test_psnr_is_scikit_images():
    expected = published.peak_signal_noise_ratio(V, V_hat, data_range=1.0)
    assert psnr(V, V_hat) == pytest.approx(expected, rel=1e-12)
    expected = published.peak_signal_noise_ratio(V * 255, V_hat * 255, data_range=255)
    assert psnr(V * 255, V_hat * 255, data_range=255) == pytest.approx(expected, rel=1e-12)
    assert psnr(V, V_hat, WHERE) == pytest.approx(-20 * math.log10(rmse(V, V_hat, WHERE)), rel=1e-12)
    assert psnr(V, V) == math.inf


def test_ssim_is_scikit_images():
    assert ssim(V, V_hat) == pytest.approx(
        published.structural_similarity(V, V_hat, data_range=1.0), rel=1e-12
    )
    assert ssim(V, V) == pytest.approx(1.0)


@pytest.mark.parametrize("side", [3, 4, 5, 6])
def test_ssim_takes_the_largest_window_that_fits_a_small_image(side):
    window = side if side % 2 else side - 1
    a, b = V[:side, :10], V_hat[:side, :10]
    assert ssim(a, b) == pytest.approx(
        published.structural_similarity(a, b, data_range=1.0, win_size=window), rel=1e-12
    )


REFUSED = {
    "rmse, shapes": (lambda: rmse(V, V_hat[:3]), ["V_hat", "(3, 20)", "(30, 20)"]),
    "rmse, where": (lambda: rmse(V, V_hat, WHERE[:3]), ["where", "(3, 20)", "(30, 20)"]),
    "psnr, range": (lambda: psnr(V, V_hat, data_range=0.0), ["data_range=0.0", "positive"]),
    "psnr, NaN range": (lambda: psnr(V, V_hat, data_range=math.nan), ["data_range=nan", "positive"]),
    "ssim, shapes": (lambda: ssim(V, V_hat[:5]), ["(30, 20)", "(5, 20)", "one shape"]),
    "ssim, vector": (lambda: ssim(V[0], V_hat[0]), ["(20,)", "two images"]),
    "ssim, tiny": (lambda: ssim(V[:2], V_hat[:2]), ["(2, 20)", "at least 3 x 3"]),
    "ssim, range": (lambda: ssim(V, V_hat, data_range=-1.0), ["data_range=-1.0", "positive"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_names_what_was_given_and_what_is_allowed(case):
    call, fragments = REFUSED[case]
    with pytest.raises(InputError) as refusal:
        call()
    missing = [part for part in fragments if part not in str(refusal.value)]
    assert not missing, str(refusal.value)
