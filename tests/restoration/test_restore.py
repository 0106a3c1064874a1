"""Damaged data made whole, from the front door."""

from dataclasses import replace

import numpy as np
import pytest

from atnmf_core import Dataset, InputError, factorize, load_dataset, restore, rmse
from atnmf_core.restoration import Layout
from atnmf_core.restoration.lines import bad_lines
from atnmf_core.restoration.uncertainty import calibration

rng = np.random.default_rng(4)
SOUND = rng.random((40, 3)) @ rng.random((3, 120)) + 0.05
SOUND *= 1 + 0.01 * rng.normal(size=SOUND.shape)
DARK = rng.random(SOUND.shape) < 0.2
DAMAGED = np.where(DARK, SOUND * rng.uniform(0, 0.6, SOUND.shape), SOUND)
GAPS = np.zeros(SOUND.shape, dtype=bool)
GAPS[10:20, 30:50] = True


@pytest.fixture(scope="module")
def unmarked():
    return restore(DAMAGED, losses="unmarked")


@pytest.fixture(scope="module")
def marked():
    return restore(np.where(GAPS, np.nan, SOUND))


def test_defects_that_nobody_marked_are_found_and_nothing_else_is_changed(unmarked):
    found = unmarked.defects
    assert (found & DARK).sum() > 0.9 * DARK.sum()
    assert (found & ~DARK).sum() < 0.02 * DARK.sum()
    assert np.array_equal(found, unmarked.suspicion >= 1)
    assert np.array_equal(unmarked.V[~found], DAMAGED[~found])


def test_without_the_mask_it_comes_close_to_knowing_the_mask(unmarked):
    known = min(rmse(SOUND, factorize(SOUND, ~DARK, K=K).V_hat) for K in (2, 3, 4))
    assert rmse(SOUND, unmarked.denoised) < 1.5 * known
    assert rmse(SOUND, unmarked.denoised) < 0.3 * rmse(SOUND, factorize(DAMAGED, K=3).V_hat)


def test_nothing_is_called_wrong_in_sound_data():
    r = restore(SOUND, losses="unmarked")
    assert r.defects.mean() < 0.005
    best = min(rmse(SOUND, factorize(SOUND, K=K).V_hat) for K in (3, 4))
    assert rmse(SOUND, r.denoised) < 1.06 * best
    assert r.choice.chosen.treatment.lam is None


def test_gaps_are_filled_with_the_error_that_is_expected_and_everything_else_is_kept(marked):
    assert marked.choice.chosen.K in (3, 4), "the true number of parts"
    assert np.array_equal(marked.V[~GAPS], SOUND[~GAPS])
    assert rmse(SOUND, marked.V, GAPS) < 0.03
    assert rmse(SOUND, marked.V, GAPS) / 1.5 < marked.choice.error < 1.5 * rmse(SOUND, marked.V, GAPS)
    assert not marked.defects.any()


def test_the_deviation_is_honest(marked):
    off = np.abs(SOUND - marked.V)[GAPS] / marked.deviation[GAPS]
    assert 0.5 < (off < 1).mean() < 0.85
    assert (off < 2).mean() > 0.88


def test_entries_of_which_nothing_is_known_are_nan_and_said_to_be(marked):
    holed = np.where(GAPS, np.nan, SOUND)
    holed[5], holed[:, 7] = np.nan, np.nan
    r = restore(holed, K=3, lam=np.inf)
    assert np.isnan(r.V[5]).all()
    assert np.isnan(r.V[:, 7]).all()
    assert np.array_equal(np.isnan(r.V), r.unrestorable)
    assert f"Could not be restored, and NaN: {int(r.unrestorable.sum())}." in r.summary


def test_no_prediction_lies_far_beyond_what_its_row_has_elsewhere():
    thin = np.where(rng.random(SOUND.shape) < 0.12, SOUND, np.nan)
    r = restore(thin, K=6, lam=np.inf)
    top = np.nanmax(thin, axis=1, keepdims=True)
    predicted = np.isnan(thin) & ~np.isnan(r.V)
    assert (1.25 * top + 1e-6 >= r.V)[predicted].all()
    assert (r.unrestorable | predicted | ~np.isnan(thin)).all()


def test_a_seed_repeats_its_result(unmarked):
    again = restore(DAMAGED, losses="unmarked")
    assert np.array_equal(again.V, unmarked.V, equal_nan=True)
    assert again.choice.chosen == unmarked.choice.chosen


def test_given_settings_are_used_and_nothing_is_chosen():
    r = restore(DAMAGED, losses="unmarked", K=3, lam=1.1, leash=1.0, seed=2**32 - 1)
    assert r.choice is None
    assert (r.fit.W.shape[1], r.fit.lam, r.fit.leash) == (3, 1.1, 1.0)
    # An adversary that is given is used where plain NMF would do.
    assert restore(SOUND, "unmarked", K=(2, 3), lam=1.1).choice.chosen.treatment.lam == 1.1


def test_progress_tells_the_best_so_far_and_can_end_the_choice():
    heard = []

    def stop(progress):
        heard.append(progress)
        return True

    r = restore(DAMAGED, losses="unmarked", callback=stop)
    assert not r.choice.complete
    assert r.choice.chosen == heard[0].best
    assert [progress.stage for progress in heard] == ["choice", "fit"]


def test_a_dataset_brings_its_layout_along():
    data = Dataset(V=np.where(GAPS, np.nan, SOUND), kind="cube", name="test", image_shape=(10, 12))
    given = {"K": 3, "lam": np.inf}
    same = restore(data.V, kind="cube", image_shape=(10, 12), **given)
    assert np.array_equal(restore(data, **given).V, same.V)
    with pytest.raises(InputError, match="brings its own"):
        restore(data, kind="cube", image_shape=(10, 12))


INFINITE = np.where(np.arange(SOUND.size).reshape(SOUND.shape) < 2, np.inf, SOUND)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"losses": "lost"}, "losses='lost'"),
        ({"leash": 1.0}, "give lam too"),
        ({"kind": "cube", "image_shape": (7, 7)}, "does not have the 120 pixels"),
        ({"kind": "cube"}, "needs"),
        ({"observed": np.ones((len(SOUND), 1), bool)}, r"observed has shape \(40, 1\), V has \(40, 120\)"),
        ({"seed": 2**32}, "seed=4294967296"),
        ({"V": INFINITE[:, 1:]}, "1 observed entry is infinite"),
        ({"V": INFINITE}, "2 observed entries are"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(arguments, said):
    with pytest.raises(InputError, match=said):
        restore(**{"V": SOUND} | arguments)


@pytest.mark.parametrize("V", [SOUND.mean() < SOUND, (1e30 * SOUND).astype(np.float32)], ids=["bool", "1e30"])
def test_truth_values_and_huge_numbers_are_restored_without_a_warning(V):
    """A warning is an error in these tests."""
    r = restore(V, "unmarked", K=2, lam=1.2)
    assert np.isfinite(r.V[~r.unrestorable]).all()
    assert r.unrestorable.mean() < 0.01


CUBE = Layout("cube", (6, 10), "F")


@pytest.mark.parametrize(
    ("where", "names"),
    [
        ((slice(3, 7), slice(None), slice(None)), ["bands 4 to 7"]),
        ((slice(None), slice(None), 4), ["image column 5"]),
        ((slice(None), 2, slice(None)), ["image row 3"]),
        ((slice(8, 12), slice(None), 6), ["image column 7 in bands 9 to 12"]),
        ((3, 2, slice(1, 3)), []),
    ],
)
def test_lines_that_are_bad_as_a_whole_are_named(where, names):
    stack = np.zeros((20, 6, 10), dtype=bool)
    stack[where] = True
    defects = CUBE.fold(stack)
    assert [str(line) for line in bad_lines(defects, np.ones_like(defects), CUBE)] == names


@pytest.mark.parametrize("draw", [rng.normal, rng.laplace])
def test_after_calibration_the_right_shares_lie_within_one_and_two_deviations(draw):
    factor = calibration(np.abs(draw(size=20_000)))
    fresh = np.abs(draw(size=20_000)) / factor
    assert 0.6 < (fresh < 1).mean() < 0.76
    assert 0.9 < (fresh < 2).mean() < 0.98


def test_as_many_parts_as_rows_leave_nothing_to_share():
    rng = np.random.default_rng(0)
    V = rng.random((4, 4)) @ rng.random((4, 60)) + 0.05
    V[rng.random(V.shape) < 0.05] *= 0.2
    for lam in (1.1, np.inf):
        assert restore(V, losses="unmarked", K=np.int64(4), lam=lam).V.shape == V.shape


def test_data_that_is_fitted_exactly_but_for_its_defects_is_restored():
    V = np.full((30, 40), 5e9)
    wrong = np.random.default_rng(0).random(V.shape) < 0.1
    r = restore(np.where(wrong, 0, V), losses="unmarked")
    np.testing.assert_allclose(r.V, V, rtol=1e-3)


def test_data_without_any_noise_is_restored_almost_exactly():
    data = load_dataset("synthetic")
    draw = np.random.default_rng(0)
    V = np.where(draw.random(data.V.shape) < 0.2, data.V * draw.uniform(0, 0.6, data.V.shape), data.V)
    assert rmse(data.V, restore(V, "unmarked").V) < 0.02 * rmse(data.V, V)


@pytest.mark.parametrize("inside", [lambda V: 0.2 * V, lambda V: V + 0.2 * np.percentile(V, 99)])
def test_a_block_that_parts_would_learn_as_a_material_is_restored(inside):
    scene = load_dataset("simulated-scene")
    block = scene.layout.unfold(np.zeros(scene.shape, dtype=bool)).copy()
    block[30:46, 8:20, 40:52] = True
    block = scene.layout.fold(block)
    damaged = replace(scene, V=np.where(block, inside(scene.V), scene.V).astype(np.float32))

    r = restore(damaged, "unmarked")

    assert r.defects[block].mean() > 0.95
    assert (r.defects & ~block).sum() < 0.05 * block.sum()
    made = rmse(scene.V, r.V, block)
    assert made < 0.1 * rmse(scene.V, damaged.V, block)
    assert 0.5 < r.expected_error / made < 2
