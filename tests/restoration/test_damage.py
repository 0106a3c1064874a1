"""Damage spoils the entries that it says, as it says, and nothing else."""

from dataclasses import replace

import numpy as np
import pytest

from atnmf_core import Dataset, InputError, load_dataset
from atnmf_core.restoration.damage import Damage, Damaged, damaged

CUBE, FACES = load_dataset("simulated-scene", rows=12, cols=10, bands=30), load_dataset("lfw")


def spoiled(data: Dataset, **kinds: float) -> Damaged:
    return damaged(data, Damage(**kinds))


@pytest.mark.parametrize("data", [CUBE, FACES], ids=["cube", "faces"])
@pytest.mark.parametrize("kind", ["dead", "streaks", "block", "cosmic"])
def test_what_is_not_called_wrong_is_as_it_was_and_what_is_is_not(data, kind: str) -> None:
    found = spoiled(data, **{kind: 0.1})

    assert np.array_equal(found.V[~found.wrong], data.V[~found.wrong])
    positive = found.wrong & (data.V > 0)
    assert (found.V[positive] != data.V[positive]).all()
    assert found.wrong.mean() == pytest.approx(0.1, abs=0.035)


def test_dead_entries_are_darker_and_cosmic_rays_brighter() -> None:
    dead, bright = spoiled(CUBE, dead=0.2), spoiled(CUBE, cosmic=0.2)

    assert dead.wrong.sum() == bright.wrong.sum() == round(0.2 * CUBE.V.size)
    assert (dead.V[dead.wrong] <= 0.6 * CUBE.V[dead.wrong]).all()
    assert (bright.V - CUBE.V)[bright.wrong].min() >= 0.5 * np.percentile(CUBE.V, 99)


def test_a_streak_is_a_whole_image_column_of_one_band() -> None:
    """Found pixel by pixel, without the program's own unfolding."""
    found = spoiled(CUBE, streaks=0.1)
    rows, cols = CUBE.image_shape
    whole = 0
    for f in range(CUBE.shape[0]):
        for col in range(cols):
            column = [found.wrong[f, col * rows + row] for row in range(rows)]  # stored column after column
            assert all(column) or not any(column)
            whole += all(column)
    assert whole == round(0.1 * CUBE.shape[0] * cols)


def test_a_block_is_one_rectangle_of_every_face() -> None:
    found = spoiled(FACES, block=0.16)

    for image in FACES.images(found.wrong):
        rows, cols = np.flatnonzero(image.any(axis=1)), np.flatnonzero(image.any(axis=0))
        assert (rows.size, cols.size) == (10, 10)
        assert image[np.ix_(rows, cols)].all()
        assert rows[-1] - rows[0] == cols[-1] - cols[0] == 9


def test_noise_has_the_deviation_asked_for_and_makes_no_defects() -> None:
    V = np.full((200, 300), 2.0)

    found = damaged(V, Damage(noise=0.1))

    assert not found.wrong.any()
    assert (found.V - V).std() == pytest.approx(0.2, rel=0.02)


def test_marked_damage_is_missing() -> None:
    found = damaged(CUBE, Damage(dead=0.5), marked=True)

    assert np.array_equal(np.isnan(found.V), found.wrong)


def test_a_larger_share_and_another_kind_leave_the_damage_where_it_is() -> None:
    few, many = spoiled(CUBE, dead=0.1), spoiled(CUBE, dead=0.2, cosmic=0.05)
    both = few.wrong & ~spoiled(CUBE, cosmic=0.05).wrong

    assert (few.wrong <= many.wrong).all()
    assert np.array_equal(few.V[both], many.V[both])


def test_missing_entries_stay_missing_and_are_not_wrong() -> None:
    V = CUBE.V.copy()
    V[3] = np.nan

    found = damaged(replace(CUBE, V=V), Damage(dead=0.3, noise=0.01))

    assert np.isnan(found.V[3]).all()
    assert not found.wrong[3].any()


def test_the_same_seed_gives_the_same_damage() -> None:
    assert np.array_equal(spoiled(CUBE, dead=0.1, seed=3).V, spoiled(CUBE, dead=0.1, seed=3).V)
    assert not np.array_equal(spoiled(CUBE, dead=0.1, seed=3).V, spoiled(CUBE, dead=0.1, seed=4).V)


def test_a_share_beyond_one_is_refused() -> None:
    with pytest.raises(InputError, match="dead"):
        Damage(dead=1.5)
