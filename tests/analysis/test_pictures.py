"""Every kind of data is looked at as pictures; parts are ordered by use and matched to each other."""

from itertools import permutations

import numpy as np
import pytest

from atnmf_core import Dataset, InputError, factorize, load_dataset
from atnmf_core.analysis import pictures

RNG = np.random.default_rng(2)
FACES = Dataset(RNG.random((6, 4)), "faces", "faces", image_shape=(2, 3))
CUBE = Dataset(RNG.random((4, 6)), "cube", "cube", image_shape=(2, 3), wavelengths=np.arange(4) * 100.0)
MATRIX = Dataset(RNG.random((4, 6)), "matrix", "matrix")
W4, W6 = RNG.random((4, 2)), RNG.random((6, 2))
H4, H6 = RNG.random((2, 4)), RNG.random((2, 6))
FACTORS = [(FACES, W6, H4), (CUBE, W4, H6), (MATRIX, W4, H6)]


def test_a_face_is_a_column_a_band_is_a_row_and_a_matrix_is_one_picture():
    assert (pictures.picture(FACES, FACES.V, 1) == FACES.V[:, 1].reshape(3, 2).T).all()
    assert (pictures.picture(CUBE, CUBE.V, 1) == CUBE.V[1].reshape(3, 2).T).all()
    assert (pictures.picture(MATRIX, MATRIX.V, 0) == MATRIX.V).all()
    assert [pictures.count(data) for data in (FACES, CUBE, MATRIX)] == [4, 4, 1]


@pytest.mark.parametrize(("data", "W", "H"), FACTORS, ids=lambda value: getattr(value, "kind", ""))
def test_a_predicted_picture_is_that_of_the_whole_prediction_and_each_part_has_one(data, W, H):
    for index in range(pictures.count(data)):
        whole = pictures.picture(data, W @ H, index)
        assert pictures.predicted_picture(data, W, H, index) == pytest.approx(whole)

    assert len(pictures.part_pictures(data, W, H)) == 2


def test_names_count_from_one_and_say_where_a_sample_stands():
    assert pictures.picture_name(FACES, 0) == "face 1"
    assert pictures.picture_name(CUBE, 2) == "band 3, 200 nm"
    assert pictures.picture_name(MATRIX, 0) == "the matrix"

    assert pictures.sample_name(FACES, 2) == "face 3"
    assert pictures.sample_name(CUBE, 3) == "row 2, column 2"  # pixels are stored column after column
    assert pictures.sample_name(MATRIX, 3) == "column 4"


def test_a_picture_that_is_not_there_is_refused_with_those_that_are():
    with pytest.raises(InputError, match="pictures 0 to 99"):
        pictures.picture(load_dataset("lfw"), load_dataset("lfw").V, 100)


def test_the_brightest_known_value_is_white():
    assert pictures.white_level(np.array([[0.5, np.nan, 3.0]])) == 3.0
    assert pictures.white_level(np.zeros((2, 2))) == 1.0
    assert pictures.white_level(np.full((2, 2), np.nan)) == 1.0


def test_the_strips_of_a_long_matrix_are_thinned():
    long = Dataset(np.ones((4000, 6)), "matrix", "long")

    assert max(pictures.part_pictures(long, np.ones((4000, 2)), H6).shape) <= 512


W, H = RNG.random((12, 4)), RNG.random((4, 9))


def test_use_is_each_parts_share_of_the_product_however_its_size_is_split():
    totals = [np.outer(W[:, k], H[k]).sum() for k in range(4)]
    assert pictures.usage_shares(W, H) == pytest.approx(np.array(totals) / sum(totals))

    scale = np.array([1.0, 10.0, 0.1, 3.0])
    assert pictures.usage_shares(W * scale, H / scale[:, None]) == pytest.approx(pictures.usage_shares(W, H))

    assert (pictures.usage_shares(np.zeros((3, 2)), np.zeros((2, 3))) == 0).all()

    ordered = pictures.usage_shares(W, H)[pictures.order_by_usage(W, H)]
    assert (np.diff(ordered) <= 0).all()


def test_shuffled_parts_are_matched_by_the_greatest_sum_of_cosines():
    places = np.array([2, 0, 3, 1])

    partner = pictures.match(W, (W * [1, 5, 2, 9])[:, places])
    assert (places[partner] == np.arange(4)).all()

    other = RNG.random((12, 4))
    cosines = (W / np.linalg.norm(W, axis=0)).T @ (other / np.linalg.norm(other, axis=0))
    best = max(sum(cosines[i, j] for i, j in enumerate(order)) for order in permutations(range(4)))

    partner = pictures.match(W, other)
    assert cosines[np.arange(4), partner].sum() == pytest.approx(best)


def test_side_by_side_a_fit_stands_beside_itself():
    fit = factorize(W @ H, K=3)

    order = pictures.side_by_side(fit, fit)

    assert (order.first == order.second).all()
    assert order.similarity == pytest.approx(np.ones(3))


def test_users_of_a_part_come_by_their_coefficient_and_shares_in_a_sample_add_up_to_one():
    coefficients = np.array([[0.0, 3.0, 1.0, 0.0, 2.0]])
    assert pictures.top_users(coefficients, 0, count=9).tolist() == [1, 4, 2]

    shares = [pictures.share_in_sample(W, H, part, sample=5) for part in range(4)]
    assert sum(shares) == pytest.approx(1)
    assert shares[1] == pytest.approx((W[:, 1] * H[1, 5]).sum() / (W @ H[:, 5]).sum())
