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


@pytest.mark.parametrize("K", [16, 24, 40])
def test_what_goes_in_circles_has_its_minimum_too(K, monkeypatch):
    """The conditions of optimality, for matrices so nearly singular that correcting all coefficients at once
    does not settle.
    """
    left = []
    monkeypatch.setattr("scipy.optimize.nnls", lambda *problem, **_: left.append(1) or nnls(*problem))
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.standard_normal((200, K, K)))[0]
    grams = np.einsum("nik,k,njk->nij", Q, np.logspace(0, -6, K), Q)
    right = np.einsum("nij,nj->ni", grams, rng.standard_normal((200, K)))
    x = nonnegative_minimum(grams, right, np.ones_like(right))
    assert left
    gradient = np.einsum("nij,nj->ni", grams, x) - right
    assert x.min() == 0
    assert gradient.min() > -1e-8 * np.abs(right).max()
    assert np.abs(x * gradient).max() < 1e-7 * np.abs(right).max()


def test_matrices_that_rounding_made_indefinite_have_a_minimum(monkeypatch):
    """Rank 2 in 6 dimensions, and large: nothing that is added is more than the rounding."""
    monkeypatch.setattr(nonnegative, "ROUNDS", 1)
    rng = np.random.default_rng(454)
    for _ in range(100):
        A = 1e4 * rng.random((8, 2)) @ rng.random((2, 6))
        y = rng.random(8)
        x = nonnegative_minimum((A.T @ A)[None], (A.T @ y)[None], np.ones((1, 6)))[0]
        assert np.linalg.norm(A @ x - y) < 1.0001 * nnls(A, y)[1]


def test_a_singular_matrix_has_its_minimum_near_by():
    one_direction = np.ones((1, 3, 3))
    found = nonnegative_minimum(one_direction, np.full((1, 3), 6.0), np.zeros((1, 3)))
    assert np.allclose(found, 2.0)


def test_what_has_no_weight_is_zero():
    grams = np.diag([4.0, 0.0])[None]
    assert np.allclose(nonnegative_minimum(grams, np.array([[2.0, 0.0]]), np.array([[0.0, 5.0]])), [0.5, 0.0])
