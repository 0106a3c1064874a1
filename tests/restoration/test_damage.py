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
def test_what_is_not_called_wrong_is_as_it_was_and_what_is_is_not(data, kind):
    found = spoiled(data, **{kind: 0.1})

    assert np.array_equal(found.V[~found.wrong], data.V[~found.wrong])
    positive = found.wrong & (data.V > 0)
    assert (found.V[positive] != data.V[positive]).all()
    assert found.wrong.mean() == pytest.approx(0.1, abs=0.035)


def test_dead_entries_are_darker_and_cosmic_rays_brighter():
    dead, bright = spoiled(CUBE, dead=0.2), spoiled(CUBE, cosmic=0.2)

    assert dead.wrong.sum() == bright.wrong.sum() == round(0.2 * CUBE.V.size)
    assert (dead.V[dead.wrong] <= 0.6 * CUBE.V[dead.wrong]).all()
    assert (bright.V - CUBE.V)[bright.wrong].min() >= 0.5 * np.percentile(CUBE.V, 99)


def test_a_streak_is_a_whole_image_column_of_one_band():
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


def test_a_block_is_one_rectangle_of_every_face():
    found = spoiled(FACES, block=0.16)

    for image in FACES.images(found.wrong):
        rows, cols = np.flatnonzero(image.any(axis=1)), np.flatnonzero(image.any(axis=0))
        assert (rows.size, cols.size) == (10, 10)
        assert image[np.ix_(rows, cols)].all()
        assert rows[-1] - rows[0] == cols[-1] - cols[0] == 9


def test_a_larger_share_and_another_kind_leave_the_damage_where_it_is_but_not_another_seed():
    few, many, other = (
        spoiled(CUBE, dead=0.1),
        spoiled(CUBE, dead=0.2, cosmic=0.05),
        spoiled(CUBE, dead=0.1, seed=4),
    )
    both = few.wrong & ~spoiled(CUBE, cosmic=0.05).wrong

    assert (few.wrong <= many.wrong).all()
    assert np.array_equal(few.V[both], many.V[both])
    assert not np.array_equal(few.V, other.V)
    with pytest.raises(InputError, match="dead"):
        Damage(dead=1.5)


def test_missing_entries_stay_missing_and_marked_damage_becomes_it():
    V = CUBE.V.copy()
    V[3] = np.nan

    found = damaged(replace(CUBE, V=V), Damage(dead=0.3, noise=0.01))
    marked = damaged(CUBE, Damage(dead=0.5), marked=True)

    assert np.isnan(found.V[3]).all()
    assert not found.wrong[3].any()
    assert np.array_equal(np.isnan(marked.V), marked.wrong)


def test_dead_columns_read_zero_over_their_whole_length_in_a_quarter_of_the_bands():
    found = spoiled(CUBE, dead_columns=0.2)
    stack, wrong = CUBE.images(found.V), CUBE.images(found.wrong)

    assert np.array_equal(wrong.all(axis=1), wrong.any(axis=1))
    assert (stack[wrong] == 0).all()
    per_band = wrong.any(axis=1).sum(axis=1)
    assert sorted(per_band[per_band > 0]) == [2] * round(30 / 4)
    assert np.array_equal(found.V[~found.wrong], CUBE.V[~found.wrong])


def test_a_stripe_is_one_offset_along_an_image_column():
    found = damaged(CUBE, Damage(stripes=0.3), negative=True)
    added = CUBE.images(found.V - CUBE.V)
    top = np.percentile(CUBE.V, 99)

    assert np.abs(np.diff(added, axis=1)).max() < 1e-12
    assert np.abs(added).max() <= 0.25 * top
    assert added.min() < -0.1 * top < 0.1 * top < added.max()
    striped = CUBE.images(found.wrong).all(axis=1).sum(axis=1)
    assert sorted(striped[striped > 0]) == [3] * 10


def test_salt_and_pepper_are_the_ends_of_the_range_half_each():
    found = spoiled(CUBE, salt=0.2)

    hit = found.V[found.wrong]
    assert hit.size == round(0.2 * CUBE.V.size)
    assert set(np.unique(hit)) == {0.0, CUBE.V.max()}
    assert (hit == 0).mean() == pytest.approx(0.5, abs=0.06)
    assert np.array_equal(found.V[~found.wrong], CUBE.V[~found.wrong])


@pytest.mark.parametrize("data", [CUBE, FACES], ids=["bands", "faces"])
def test_noise_that_differs_by_band_is_between_a_fifth_and_all_of_the_worst(data):
    found = damaged(data, Damage(band_noise=0.1), negative=True)

    noise = data.images(found.V - data.V)
    deviations = noise.std(axis=(1, 2)) / (0.1 * data.V.mean())
    assert not found.wrong.any()
    assert 0.15 < deviations.min() < 0.4 < 0.8 < deviations.max() < 1.2
    # Without a difference it has the deviation asked for.
    plain = damaged(np.full((200, 300), 2.0), Damage(noise=0.1))
    assert not plain.wrong.any()
    assert (plain.V - 2).std() == pytest.approx(0.2, rel=0.02)
    # Offsets and noise stop at zero unless negative values are wanted.
    free, stopped = (
        damaged(data, Damage(stripes=0.5, band_noise=0.5), negative=wanted) for wanted in (True, False)
    )
    assert (free.V < 0).any()
    assert np.array_equal(stopped.V, np.maximum(free.V, 0))


def test_a_shadow_is_a_disc_that_darkens_all_bands_alike():
    found = spoiled(CUBE, shadow=0.2)
    factor = CUBE.images(found.V / CUBE.V)
    inside = CUBE.images(found.wrong)

    assert (inside == inside[0]).all()
    assert inside[0].sum() == round(0.2 * 120)
    assert np.allclose(factor[inside], factor[inside][0])
    assert 0.3 <= factor[inside][0] <= 0.6
    rows, cols = np.nonzero(inside[0])
    assert max(np.ptp(rows), np.ptp(cols)) <= 9  # a disc of 24 pixels is about 6 wide, wider at the border


def test_a_lost_block_is_missing_in_all_bands_even_where_damage_is_not_marked():
    found = spoiled(CUBE, lost=0.1, dead=0.1)
    gone = CUBE.images(np.isnan(found.V))

    assert (gone == gone[0]).all()
    rows, cols = np.flatnonzero(gone[0].any(axis=1)), np.flatnonzero(gone[0].any(axis=0))
    assert gone[0][np.ix_(rows, cols)].all()
    assert gone[0].sum() == rows.size * cols.size == pytest.approx(12, abs=2)
    assert (rows[-1] - rows[0] + 1, cols[-1] - cols[0] + 1) == (rows.size, cols.size)
    assert found.wrong[np.isnan(found.V)].all()


def test_each_face_has_a_shadow_and_a_lost_block_of_its_own():
    found = spoiled(FACES, shadow=0.1, lost=0.1)
    gone = FACES.images(np.isnan(found.V))

    assert gone.any(axis=(1, 2)).all()
    assert len({image.tobytes() for image in gone}) > 10
    assert len({image.tobytes() for image in FACES.images(found.wrong)}) > 90
