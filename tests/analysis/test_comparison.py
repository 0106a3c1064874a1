"""A picture and its two restorations, and what is measured on them."""

import numpy as np
import pytest

from atnmf_core import Dataset, factorize, hide_entries, load_dataset, ssim
from atnmf_core.analysis import pictures
from atnmf_core.analysis.comparison import ComparedPicture, compare_picture

V = np.array([[0.2, 0.4, 0.6, 0.8], [0.8, 0.6, 0.4, 0.2], [0.1, 0.3, 0.5, 1.0]])
OBSERVED = np.array([[True, False, True, True], [True, True, False, True], [True, True, True, True]])
PICTURE = ComparedPicture(V, OBSERVED, at_hat=V + 0.1, nmf_hat=V - 0.2, lam=2.0)


def test_a_picture_of_a_data_set_is_compared_under_both_fits() -> None:
    data = load_dataset("lfw")
    observed = hide_entries(data.shape, 0.3)
    at, nmf = (factorize(data.V, observed, K=2, max_outer=2, seed=seed) for seed in (0, 1))

    picture = compare_picture(data, observed, (at.W, at.H), (nmf.W, nmf.H), 6, lam=2.0)

    assert (picture.v == data.image(data.V[:, 6])).all()
    assert (picture.observed == data.image(observed[:, 6])).all()
    assert picture.at_hat == pytest.approx(data.image(at.V_hat[:, 6]), rel=1e-5)
    assert picture.nmf_hat == pytest.approx(data.image(nmf.V_hat[:, 6]), rel=1e-5)


def test_the_attack_follows_the_papers_formula_on_observed_pixels() -> None:
    by_hand = np.maximum((V - PICTURE.at_hat) / (2.0 - 1.0), -V)

    assert PICTURE.r[OBSERVED] == pytest.approx(by_hand[OBSERVED])
    assert (PICTURE.r[~OBSERVED] == 0).all()


def test_restorations_keep_observed_pixels_or_show_the_model_alone() -> None:
    model = ComparedPicture(V, OBSERVED, PICTURE.at_hat, PICTURE.nmf_hat, lam=2.0, keep_observed=False)

    assert (PICTURE.at_restored[OBSERVED] == V[OBSERVED]).all()
    assert (PICTURE.at_restored[~OBSERVED] == PICTURE.at_hat[~OBSERVED]).all()
    assert (model.at_restored == PICTURE.at_hat).all()


def test_a_restoration_is_measured_by_rmse_where_hidden_and_psnr_and_ssim_of_the_whole() -> None:
    at, nmf = PICTURE.measures()

    assert at.rmse == pytest.approx(0.1)
    assert nmf.rmse == pytest.approx(0.2)
    assert at.psnr == pytest.approx(-10 * np.log10(2 * 0.1**2 / V.size))
    assert at.ssim == pytest.approx(ssim(V, PICTURE.at_restored))
    assert 1 > at.ssim > nmf.ssim


def test_a_missing_pixel_is_left_out_of_the_measures() -> None:
    holed = np.where(np.arange(12).reshape(3, 4) == 1, np.nan, V)

    at, _ = ComparedPicture(holed, OBSERVED & ~np.isnan(holed), V + 0.1, V, lam=2.0).measures()

    assert at.rmse == pytest.approx(0.1)
    assert at.psnr == pytest.approx(-10 * np.log10(0.1**2 / (V.size - 1)))


def test_a_picture_too_small_for_ssim_has_none() -> None:
    at, _ = ComparedPicture(V[:2], OBSERVED[:2], V[:2], V[:2], lam=2.0).measures()

    assert np.isnan(at.ssim)


def test_the_method_that_is_closer_everywhere_is_said_to_be() -> None:
    assert PICTURE.closer_shares() == (1.0, 0.0)


@pytest.mark.parametrize("keep_observed", [True, False])
def test_what_nothing_observes_is_not_predicted(keep_observed: bool) -> None:
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
def test_what_nothing_observes_is_the_same_entries_for_every_kind_of_data(kind: str, missing: str) -> None:
    values = np.random.default_rng(0).uniform(0.1, 1, (12, 12))
    data = Dataset(values, kind, "data", image_shape=None if kind == "matrix" else (3, 4))
    observed = np.ones((12, 12), dtype=bool)
    observed[5] = observed[:, 2] = False
    W, H = np.ones((12, 2)), np.ones((2, 12))
    expected = np.where(observed, values, np.nan)

    for index in range(pictures.count(data)):
        picture = compare_picture(data, observed, (W, H), (W, H), index, lam=2.0, missing=missing)
        np.testing.assert_array_equal(picture.at_restored, pictures.picture(data, expected, index))


def test_nothing_hidden_is_nothing_measured() -> None:
    at, _ = ComparedPicture(V, np.ones_like(OBSERVED), V + 0.1, V, lam=2.0).measures()

    assert np.isnan(at.rmse)
