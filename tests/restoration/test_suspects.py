"""The threshold decides which suspects are replaced, and nothing else changes."""

from dataclasses import replace

import numpy as np
import pytest

from atnmf_core import Dataset, restore
from atnmf_core.restoration.damage import Damage, damaged
from atnmf_core.restoration.restore import mostly_bad, restored_at, shares_along, suspects_at


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    sound = rng.random((20, 2)) @ rng.random((2, 30)) + 0.2
    V = damaged(sound, Damage(dead=0.05, cosmic=0.03)).V
    V[0, 0] = np.nan
    return Dataset(V, "cube", "small", image_shape=(5, 6))


@pytest.fixture(scope="module")
def restored(data):
    return restore(data, "unmarked", K=2, lam=1.1, leash=1.0)


@pytest.mark.parametrize("threshold", [0.5, 1.0, 2.0])
def test_what_is_not_suspect_stays_as_it_was_measured(data, restored, threshold):
    suspects = suspects_at(data, restored, threshold)

    V = restored_at(data, restored, suspects).V

    assert np.array_equal(suspects, restored.suspicion >= threshold)
    assert np.array_equal(V[data.observed & ~suspects], data.V[data.observed & ~suspects])
    assert not np.isnan(V[0, 0])
    if threshold == 1:
        assert np.array_equal(suspects, restored.defects)
        assert np.array_equal(V, restored.V, equal_nan=True)
    # Both sides together are all.
    dark, bright = (suspects_at(data, restored, threshold, side=side) for side in ("dark", "bright"))
    assert dark.any()
    assert bright.any()
    assert np.array_equal(dark ^ bright, suspects)
    assert (data.V[dark] < restored.denoised[dark]).all()


def test_added_suspects_are_held_to_the_same_limits_as_those_the_restoration_named(restored):
    """All that was measured is 1; rows 0 to 3 are predicted as 0.9, 1.2, 1.5 and 2.5."""
    V = np.ones((6, 8))
    V[1:, 7] = np.nan
    data = Dataset(V, "matrix", "ones")
    rows = np.array([0.9, 1.2, 1.5, 2.5, 1, 1])
    denoised = np.repeat(rows[:, None], 8, axis=1)
    none = np.zeros(V.shape, bool)
    named = replace(
        restored,
        V=np.where(data.observed, V, denoised),
        denoised=denoised,
        **dict.fromkeys(("defects", "unrestorable", "bounded"), none),
    )
    added = none.copy()
    added[:4, 2] = True

    at = restored_at(data, named, added)

    np.testing.assert_allclose(at.V[:4, 2], [0.9, 1.2, 1.25, np.nan])
    assert np.argwhere(at.unrestorable).tolist() == [[3, 2]]
    assert np.argwhere(at.bounded).tolist() == [[2, 2]]
    assert np.array_equal(at.defects, added)
    assert np.array_equal(at.V[1:, 7], named.V[1:, 7])


def test_shares_are_counted_along_bands_rows_and_columns():
    mask = np.random.default_rng(0).random((4, 6)) < 0.4
    data = Dataset(np.ones((4, 6)), "cube", "small", image_shape=(2, 3))

    shares = shares_along(mask, data)

    for band in range(4):
        assert shares["band"][band] == sum(mask[band]) / 6
    for row in range(2):
        expected = [mask[f, n] for f in range(4) for n in range(6) if n % 2 == row]
        assert shares["image row"][row] == pytest.approx(np.mean(expected))
    for col in range(3):
        expected = [mask[f, n] for f in range(4) for n in range(6) if n // 2 == col]
        assert shares["image column"][col] == pytest.approx(np.mean(expected))


def test_rows_and_columns_count_as_mostly_bad_by_what_is_observed_of_them():
    observed = np.ones((4, 5), dtype=bool)
    observed[1, :3] = False
    wrong = np.zeros_like(observed)
    wrong[1, 3:] = True
    wrong[:2, 4] = True

    assert mostly_bad(wrong, observed) == (1, 0)
    wrong[2, 4] = True
    assert mostly_bad(wrong, observed) == (1, 1)
