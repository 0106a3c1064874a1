"""Parts are ordered by use and matched to each other."""

from itertools import permutations

import numpy as np
import pytest

from atnmf_core import factorize
from atnmf_core.analysis.pictures import (
    match,
    order_by_usage,
    share_in_sample,
    side_by_side,
    top_users,
    usage_shares,
)

RNG = np.random.default_rng(4)
W, H = RNG.random((12, 4)), RNG.random((4, 9))


def test_use_is_each_parts_share_of_the_product_however_its_size_is_split():
    totals = [np.outer(W[:, k], H[k]).sum() for k in range(4)]
    assert usage_shares(W, H) == pytest.approx(np.array(totals) / sum(totals))

    scale = np.array([1.0, 10.0, 0.1, 3.0])
    assert usage_shares(W * scale, H / scale[:, None]) == pytest.approx(usage_shares(W, H))

    assert (usage_shares(np.zeros((3, 2)), np.zeros((2, 3))) == 0).all()

    ordered = usage_shares(W, H)[order_by_usage(W, H)]
    assert (np.diff(ordered) <= 0).all()


def test_shuffled_parts_are_matched_by_the_greatest_sum_of_cosines():
    places = np.array([2, 0, 3, 1])

    partner = match(W, (W * [1, 5, 2, 9])[:, places])
    assert (places[partner] == np.arange(4)).all()

    other = RNG.random((12, 4))
    cosines = (W / np.linalg.norm(W, axis=0)).T @ (other / np.linalg.norm(other, axis=0))
    best = max(sum(cosines[i, j] for i, j in enumerate(order)) for order in permutations(range(4)))

    partner = match(W, other)
    assert cosines[np.arange(4), partner].sum() == pytest.approx(best)


def test_side_by_side_a_fit_stands_beside_itself():
    fit = factorize(W @ H, K=3)

    order = side_by_side(fit, fit)

    assert (order.first == order.second).all()
    assert order.similarity == pytest.approx(np.ones(3))


def test_users_of_a_part_come_by_their_coefficient_and_shares_in_a_sample_add_up_to_one():
    coefficients = np.array([[0.0, 3.0, 1.0, 0.0, 2.0]])
    assert top_users(coefficients, 0, count=9).tolist() == [1, 4, 2]

    shares = [share_in_sample(W, H, part, sample=5) for part in range(4)]
    assert sum(shares) == pytest.approx(1)
    assert shares[1] == pytest.approx((W[:, 1] * H[1, 5]).sum() / (W @ H[:, 5]).sum())
