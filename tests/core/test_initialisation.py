"""Start factors: the paper's draw, the caller's own, and their size."""

import numpy as np
import pytest

from atnmf_core.initialisation import given_start, half_normal, rescaled
from atnmf_core.problem import pose

rng = np.random.default_rng(3)
V = rng.random((8, 6))
OBSERVED = rng.random((8, 6)) < 0.6


def posed(data=V, observed=None, K=3, missing="ignore", dtype="float64"):
    return pose(data, observed, K=K, method="nmf", lam=None, missing=missing, dtype=dtype)


def test_the_draw_is_the_papers_w_before_h_from_the_legacy_generator():
    np_legacy = np.random.RandomState(1)
    W, H = abs(np_legacy.normal(size=(8, 3))), abs(np_legacy.normal(size=(3, 6)))
    drawn = half_normal(posed(), np.random.RandomState(1))
    assert np.array_equal(drawn[0], W)
    assert np.array_equal(drawn[1], H)


def test_the_same_draw_serves_both_precisions():
    single = half_normal(posed(dtype="float32"), np.random.RandomState(1))
    double = half_normal(posed(dtype="float64"), np.random.RandomState(1))
    assert single[0].dtype == np.float32
    assert np.array_equal(single[1], double[1].astype(np.float32))


def test_a_given_start_is_copied_and_brought_to_the_problems_scale():
    W, H = rng.random((8, 3)), rng.random((3, 6))
    problem = posed(V * 1000)
    start_W, start_H = given_start(problem, (W, H))
    assert np.array_equal(start_W * problem.scale, W)
    assert np.array_equal(start_H, H)
    assert start_H is not H


def best_factor_by_search(problem, W, H):
    """The c of least ||V - c WH|| where the loss looks, from a fine grid."""
    grid = np.linspace(0, 2, 20_001)
    seen = np.ones(V.shape, bool) if problem.mask is None else problem.mask
    v, p = problem.V[seen], (W @ H)[seen]
    return grid[np.argmin([((v - c * p) ** 2).sum() for c in grid])]


@pytest.mark.parametrize("missing", ["ignore", "zero"])
def test_rescaling_gives_the_size_that_fits_best_where_the_loss_looks(missing):
    problem = posed(observed=OBSERVED, missing=missing)
    W, H = half_normal(problem, np.random.RandomState(2))
    new_W, new_H = rescaled(problem, W, H)
    ratio = float((new_W @ new_H)[0, 0] / (W @ H)[0, 0])
    assert ratio == pytest.approx(best_factor_by_search(problem, W, H), abs=1e-4)
    assert np.allclose(new_W / W, new_H[0, 0] / H[0, 0])


@pytest.mark.parametrize("W", [np.zeros((8, 3)), np.vstack([np.ones((1, 3)), np.zeros((7, 3))])])
def test_a_start_that_predicts_nothing_of_the_data_keeps_its_size(W):
    data = V.copy()
    data[0] = 0
    new_W, new_H = rescaled(posed(data), W, np.ones((3, 6)))
    assert np.array_equal(new_W, W)
    assert (new_H == 1).all()
