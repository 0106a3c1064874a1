"""Other methods on the same data: each does what its authors say, and is told what people know who use it."""

import numpy as np
import pytest
from scipy.ndimage import generic_filter
from scipy.optimize import minimize

from atnmf_core import Dataset, factorize, load_dataset, rmse
from atnmf_core.restoration import Layout
from atnmf_core.restoration.rivals import (
    L1,
    NMF,
    RIVALS,
    complete_subspace,
    fit_to_basis,
    inpaint,
    median,
    pcp,
    robust_nmf,
    run_rivals,
    shrink_singular_values,
    soft_impute,
    soft_impute_at,
)

ROWS, COLS = 7, 9
PLAIN = Layout()


def low_rank(rank: int, shape: tuple[int, int] = (50, 70), seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(shape[0], rank)) @ rng.normal(size=(rank, shape[1]))


def pcp_objective(L: np.ndarray, S: np.ndarray) -> float:
    return float(np.linalg.svd(L, compute_uv=False).sum() + np.abs(S).sum() / np.sqrt(max(L.shape)))


@pytest.mark.parametrize("shape", [(50, 70), (70, 50)])
def test_pcp_separates_a_matrix_of_low_rank_from_sparse_errors_of_any_size(shape):
    sound, rng = low_rank(3, shape), np.random.default_rng(1)
    wrong = rng.random(shape) < 0.05
    V = sound + wrong * rng.normal(0, 100, shape)

    L = pcp(V, np.ones(shape, dtype=bool), PLAIN)

    assert rmse(sound, L) < 1e-5
    # Singular values are shrunk as a full decomposition does.
    U, sizes, Vt = np.linalg.svd(V, full_matrices=False)
    assert np.allclose(shrink_singular_values(V, 2.0), (U * np.maximum(sizes - 2, 0)) @ Vt)


def test_pcp_ends_at_the_minimum_that_a_plain_and_slow_method_finds():
    """Where nothing is exactly of low rank: alternating directions with a fixed penalty and full SVDs."""
    V = low_rank(4, (12, 15)) + np.random.default_rng(1).normal(size=(12, 15))
    weight, mu = 1 / np.sqrt(15), 0.5
    L, dual = np.zeros_like(V), np.zeros_like(V)
    for _ in range(2000):
        rest = V - L + dual
        S = np.sign(rest) * np.maximum(np.abs(rest) - weight / mu, 0)
        U, sizes, Vt = np.linalg.svd(V - S + dual, full_matrices=False)
        L = (U * np.maximum(sizes - 1 / mu, 0)) @ Vt
        dual += V - L - S

    found = pcp(V, np.ones(V.shape, dtype=bool), PLAIN)

    # The authors' fast growing penalty ends slightly above it.
    assert pcp_objective(found, V - found) == pytest.approx(pcp_objective(L, V - L), rel=0.01)


def test_soft_impute_ends_where_no_matrix_is_better():
    """The residual's singular values are the price along the answer, and at most that across it."""
    rng, price = np.random.default_rng(3), 3.0
    V, seen = low_rank(3, (20, 30)) + rng.normal(0, 0.3, (20, 30)), rng.random((20, 30)) < 0.8
    Z = np.zeros_like(V)
    for _ in range(5):
        Z = soft_impute_at(np.where(seen, V, 0), seen, price, Z)

    U, sizes, Vt = np.linalg.svd(Z)
    rank = int((sizes > 1e-8).sum())
    residual = U.T @ np.where(seen, V - Z, 0) @ Vt.T
    assert 0 < rank < 20
    assert np.allclose(residual[:rank, :rank], price * np.eye(rank), atol=1e-2)
    assert np.abs(residual[:rank, rank:]).max() < 1e-2
    assert np.linalg.norm(residual[rank:, rank:], 2) <= price


def test_soft_impute_chooses_a_price_at_which_what_is_missing_is_predicted():
    V, seen = low_rank(2), np.random.default_rng(1).random((50, 70)) < 0.7

    Z = soft_impute(np.where(seen, V, 0), seen, PLAIN)

    assert rmse(V, Z, ~seen) < 0.01 * np.sqrt(np.mean(V**2))


@pytest.mark.parametrize(
    "data",
    [load_dataset("lfw"), load_dataset("simulated-scene", rows=9, cols=8, bands=7)],
    ids=["faces", "cube"],
)
def test_the_median_is_that_of_the_three_by_three_pixels_around(data):
    found = data.images(median(data.V, data.observed, data.layout))

    for image, filtered in zip(data.images()[:3], found, strict=False):
        assert np.allclose(filtered, generic_filter(image, np.median, 3))


def test_the_median_leaves_out_what_is_missing():
    rng, layout = np.random.default_rng(0), Layout("cube", (ROWS, COLS), "C")
    V, seen = rng.random((2, ROWS * COLS)), rng.random((2, ROWS * COLS)) < 0.5
    seen.reshape(2, ROWS, COLS)[0, :4, :4] = False

    found = median(np.where(seen, V, 99), seen, layout).reshape(2, ROWS, COLS)

    images = np.where(seen, V, np.nan).reshape(2, ROWS, COLS)
    for band in range(2):
        expected = generic_filter(images[band], lambda w: np.nanmedian(w) if (w == w).any() else np.nan, 3)
        assert np.allclose(found[band], expected, equal_nan=True)
    assert np.isnan(found[0, 1, 1])


def test_a_fit_to_a_basis_is_the_shortest_of_least_squares():
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.normal(size=(12, 3)))[0]
    V, seen = rng.normal(size=(12, 6)), rng.random((12, 6)) < 0.6
    seen[:, 4] = False
    seen[:2, 4] = True  # two entries for three unknowns
    seen[:, 5] = False

    found = fit_to_basis(basis, V, seen)

    for n in range(6):
        assert np.allclose(found[:, n], np.linalg.lstsq(basis[seen[:, n]], V[seen[:, n], n])[0], atol=1e-5)


def test_a_span_of_complete_columns_predicts_the_others_and_there_is_none_without():
    sound, seen = low_rank(3) + 5, np.ones((50, 70), dtype=bool)
    seen[10:30, 40:] = False

    found = complete_subspace(np.where(seen, sound, np.nan), seen, PLAIN)

    assert rmse(sound, found, ~seen) < 1e-6
    seen = np.eye(30) == 0
    assert np.isnan(complete_subspace(np.ones((30, 30)), seen, PLAIN)[~seen]).all()


@pytest.mark.parametrize("name", RIVALS)
def test_no_rival_looks_at_what_is_missing(name):
    data = load_dataset("simulated-scene", rows=20, cols=18, bands=12)
    seen = np.random.default_rng(2).random(data.shape) < 0.9
    seen[:, :60] = True

    shown, other = (
        RIVALS[name].run(np.where(seen, data.V, value), seen, data.layout) for value in (0.0, 77.0)
    )

    assert np.array_equal(shown, other)
    assert rmse(data.V, shown) < 0.5 * data.V.std()


def cube(*, missing: bool) -> Dataset:
    rng = np.random.default_rng(5)
    V = (rng.random((12, 2)) + 0.1) @ (rng.random((2, ROWS * COLS)) + 0.1)
    if missing:
        V[rng.random(V.shape) < 0.2] = np.nan
    return Dataset(V, "cube", "small", image_shape=(ROWS, COLS))


def test_one_lost_pixel_is_what_the_biharmonic_stencil_says():
    """The bilaplacian is zero there: 20 u = 8 (next) - 2 (diagonal) - (second next)."""
    image, layout = np.random.default_rng(0).random((ROWS, COLS)), Layout("cube", (ROWS, COLS), "C")
    known = np.ones((2, ROWS, COLS), dtype=bool)
    known[0, 3, 4] = known[1] = False

    filled = layout.unfold(inpaint(np.stack([image] * 2).reshape(2, -1), known.reshape(2, -1), layout))

    near = image[2, 4] + image[4, 4] + image[3, 3] + image[3, 5]
    diagonal = image[2, 3] + image[2, 5] + image[4, 3] + image[4, 5]
    second = image[1, 4] + image[5, 4] + image[3, 2] + image[3, 6]
    # scikit-image keeps predictions within the range of what is known.
    inside = image[known[0]]
    expected = np.clip((8 * near - 2 * diagonal - second) / 20, inside.min(), inside.max())
    assert filled[0, 3, 4] == pytest.approx(expected)
    assert np.array_equal(filled[0][known[0]], inside)
    assert np.isnan(filled[1]).all(), "of that band nothing is known"


@pytest.mark.parametrize("losses", ["marked", "unmarked"])
def test_every_method_for_these_losses_returns_the_data_and_is_named_in_its_turn(losses):
    data, told = cube(missing=losses == "marked"), []

    found = run_rivals(told.append, data, losses, K=2)

    assert set(found.made) == set(found.seconds) == {name for name in RIVALS if losses in RIVALS[name].losses}
    assert [progress.name for progress in told] == list(found.made)
    assert [progress.done for progress in told] == list(range(told[0].total))
    expected = {NMF: factorize(np.nan_to_num(data.V), data.observed, K=2).V_hat}
    expected[L1] = np.matmul(*robust_nmf(np.nan_to_num(data.V), data.observed, K=2))
    for name, V in found.made.items():
        kept = data.observed & (losses == "marked")
        np.testing.assert_allclose(V[kept], data.V[kept], rtol=1e-6)
        if name in expected:
            np.testing.assert_allclose(V[~kept], expected[name][~kept], rtol=1e-4)
    # Data without images has no neighbours.
    matrix = run_rivals(lambda progress: None, Dataset(data.V, "matrix", "small"), losses, K=2).made
    assert "3 x 3 median" not in matrix
    assert NMF in matrix


def weighted_median(values: np.ndarray, weights: np.ndarray) -> float:
    order = np.argsort(values)
    reached = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(reached, reached[-1] / 2)])


def spoiled(rank: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rank-one or rank-two data with a little noise, a tenth of it far off, and which entries those are."""
    rng = np.random.default_rng(3)
    sound = (rng.random((30, rank)) + 0.2) @ (rng.random((rank, 40)) + 0.2) + rng.normal(0, 0.002, (30, 40))
    wrong = rng.random(sound.shape) < 0.1
    return sound, np.where(wrong, 5 * sound, sound), wrong


def test_l1_with_one_part_ends_at_the_weighted_medians():
    """For given W the best h_n is the median of v_fn / w_f, each weighted with w_f."""
    _, V, _ = spoiled(rank=1)

    W, H = robust_nmf(V, K=1)

    medians = [weighted_median(V[:, n] / W[:, 0], W[:, 0]) for n in range(V.shape[1])]
    assert np.allclose(H[0], medians, rtol=0.01)


def test_cauchy_ends_where_a_general_optimiser_does():
    _, V, _ = spoiled(rank=1)
    W, H = robust_nmf(V, K=1, loss="Cauchy")
    scale = 1.4826 * np.median(np.abs(V - W @ H))

    def loss(h, n):
        return float(np.log1p(((V[:, n] - W[:, 0] * h) / scale) ** 2).sum())

    for n in (0, 7, 21):
        best = minimize(lambda h: loss(h[0], n), H[0, n], method="Nelder-Mead").x[0]  # noqa: B023
        assert H[0, n] == pytest.approx(best, rel=0.01)


@pytest.mark.parametrize("loss", ["L1", "Cauchy", "L2,1"])
def test_scattered_wrong_entries_do_little_harm_and_hidden_ones_none(loss):
    sound, V, wrong = spoiled(rank=1)

    if loss != "L2,1":
        error = rmse(sound, np.matmul(*robust_nmf(V, K=1, loss=loss)))
        assert error < 0.1 * rmse(sound, factorize(V, K=1).V_hat)
    shown, other = (robust_nmf(np.where(wrong, value, V), ~wrong, K=2, loss=loss) for value in (0.0, 77.0))
    assert np.array_equal(shown[0], other[0])
    assert np.array_equal(shown[1], other[1])
