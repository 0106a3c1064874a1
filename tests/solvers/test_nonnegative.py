"""Nonnegative minima of many small quadratics at once, against SciPy's solver for one."""

import numpy as np
import pytest
from scipy.optimize import nnls

from atnmf_core.solvers import nonnegative
from atnmf_core.solvers.nonnegative import nonnegative_minimum


@pytest.mark.parametrize("start", ["nothing", "everything", "at random"])
@pytest.mark.parametrize("K", [1, 2, 7, 40])
def test_each_is_what_scipy_finds(K, start):
    rng = np.random.default_rng(K)
    A, b = rng.standard_normal((50, 60, K)) + 0.5, rng.standard_normal((50, 60))
    near = {
        "nothing": np.zeros((50, K)),
        "everything": np.ones((50, K)),
        "at random": rng.random((50, K)) > 0.5,
    }
    found = nonnegative_minimum(
        np.einsum("nfi,nfj->nij", A, A), np.einsum("nfi,nf->ni", A, b), near[start].astype(float)
    )
    assert np.allclose(found, [nnls(*problem)[0] for problem in zip(A, b, strict=True)], atol=1e-9)


@pytest.mark.parametrize("rounds", [0, 1, 8, 1000])
def test_each_is_a_minimum_however_long_all_are_corrected_together(rounds, monkeypatch):
    """The conditions of optimality, for parts so alike that corrections of all at once go in circles."""
    monkeypatch.setattr(nonnegative, "ROUNDS", rounds)
    rng = np.random.default_rng(1)
    A, b = 1 + 0.05 * rng.standard_normal((30, 40, 12)), rng.standard_normal((30, 40)) + 1
    grams, right = np.einsum("nfi,nfj->nij", A, A), np.einsum("nfi,nf->ni", A, b)
    x = nonnegative.nonnegative_minimum(grams, right, np.ones_like(right))
    gradient = np.einsum("nij,nj->ni", grams, x) - right
    assert x.min() == 0
    assert (gradient > -1e-8 * np.abs(right).max()).all()
    assert np.abs(x * gradient).max() < 1e-8 * np.abs(right).max()


def test_a_singular_matrix_has_its_minimum_near_by():
    one_direction = np.ones((1, 3, 3))
    found = nonnegative_minimum(one_direction, np.full((1, 3), 6.0), np.zeros((1, 3)))
    assert np.allclose(found, 2.0)


def test_what_has_no_weight_is_zero():
    grams = np.diag([4.0, 0.0])[None]
    assert np.allclose(nonnegative_minimum(grams, np.array([[2.0, 0.0]]), np.array([[0.0, 5.0]])), [0.5, 0.0])
