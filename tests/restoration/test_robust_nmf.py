"""Robust NMF minimises the losses that it is named after, over the observed entries only."""

import numpy as np
import pytest
from scipy.optimize import minimize

from atnmf_core import factorize, rmse
from atnmf_core.restoration.robust_nmf import robust_nmf


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


def test_l1_with_one_part_ends_at_the_weighted_medians() -> None:
    """For given W the best h_n is the median of v_fn / w_f, each weighted with w_f."""
    _, V, _ = spoiled(rank=1)

    W, H = robust_nmf(V, K=1)

    medians = [weighted_median(V[:, n] / W[:, 0], W[:, 0]) for n in range(V.shape[1])]
    assert np.allclose(H[0], medians, rtol=0.01)


def test_cauchy_ends_where_a_general_optimiser_does() -> None:
    _, V, _ = spoiled(rank=1)
    W, H = robust_nmf(V, K=1, loss="Cauchy")
    scale = 1.4826 * np.median(np.abs(V - W @ H))

    def loss(h: float, n: int) -> float:
        return float(np.log1p(((V[:, n] - W[:, 0] * h) / scale) ** 2).sum())

    for n in (0, 7, 21):
        best = minimize(lambda h: loss(h[0], n), H[0, n], method="Nelder-Mead").x[0]  # noqa: B023
        assert H[0, n] == pytest.approx(best, rel=0.01)


@pytest.mark.parametrize("loss", ["L1", "Cauchy"])
def test_scattered_wrong_entries_do_little_harm(loss: str) -> None:
    sound, V, _ = spoiled(rank=1)

    error = rmse(sound, np.matmul(*robust_nmf(V, K=1, loss=loss)))

    assert error < 0.1 * rmse(sound, factorize(V, K=1).V_hat)


@pytest.mark.parametrize("loss", ["L1", "Cauchy", "L2,1"])
def test_what_is_not_observed_is_not_looked_at(loss: str) -> None:
    _, V, wrong = spoiled(rank=2)

    shown, other = (robust_nmf(np.where(wrong, value, V), ~wrong, K=2, loss=loss) for value in (0.0, 77.0))

    assert np.array_equal(shown[0], other[0])
    assert np.array_equal(shown[1], other[1])
