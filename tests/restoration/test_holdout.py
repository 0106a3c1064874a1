"""What is held out, and what never is."""

import numpy as np
import pytest

from atnmf_core import InputError
from atnmf_core.restoration import Layout, hold_out_entries, hold_out_gaps

rng = np.random.default_rng(0)
SPARSE = rng.random((40, 60)) < 0.08
CUBE = Layout("cube", (6, 10), "F")


@pytest.mark.parametrize("hold_out", [hold_out_entries, hold_out_gaps])
@pytest.mark.parametrize("seed", range(5))
def test_only_observed_entries_are_held_out_and_no_row_or_column_is_emptied(hold_out, seed):
    held = hold_out(SPARSE, seed=seed)
    left = SPARSE & ~held
    assert held.any()
    assert not (held & ~SPARSE).any()
    for axis in (0, 1):
        assert (left.any(axis=axis) == SPARSE.any(axis=axis)).all()


@pytest.mark.parametrize("hold_out", [hold_out_entries, hold_out_gaps])
def test_a_seed_repeats_its_draw_and_other_seeds_are_other_draws(hold_out):
    assert np.array_equal(hold_out(SPARSE, seed=3), hold_out(SPARSE, seed=3))
    assert not np.array_equal(hold_out(SPARSE, seed=3), hold_out(SPARSE, seed=4))


def test_a_share_of_the_observed_entries_is_held_out():
    held = hold_out_entries(np.ones((50, 80), dtype=bool), share=0.25)
    assert held.mean() == pytest.approx(0.25, abs=1e-3)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, 1.5])
def test_a_share_that_holds_out_nothing_or_everything_is_refused(share):
    with pytest.raises(InputError, match="strictly between"):
        hold_out_entries(SPARSE, share=share)


def test_a_block_is_moved_as_a_block():
    observed = np.ones((20, 60), dtype=bool)
    stack = CUBE.unfold(observed).copy()
    stack[4:9, 1:3, 2:6] = False
    observed = CUBE.fold(stack)
    for seed in range(5):
        held = CUBE.unfold(hold_out_gaps(observed, CUBE, share=0.5, seed=seed))
        bands = np.flatnonzero(held.any(axis=(1, 2)))
        rows = np.flatnonzero(held.any(axis=(0, 2)))
        columns = np.flatnonzero(held.any(axis=(0, 1)))
        # Some pixels of it, each in all its bands.
        assert 0.4 * 5 * 2 * 4 < held.sum() <= 5 * 2 * 4
        assert bands.size == 5
        assert rows.size <= 2
        assert columns.size <= 4
        assert set(np.unique(held.sum(axis=0))) == {0, 5}
        assert not (held & ~stack).any()


def test_gaps_are_held_out_where_the_data_is_soundest():
    observed = np.ones((20, 60), dtype=bool)
    observed[5:12, :20] = False
    held = hold_out_gaps(observed, share=0.5, seed=1)
    assert held[:, 20:].sum() > 0.9 * held.sum()
    lengths = held.sum(axis=0)
    assert set(np.unique(lengths[lengths > 0])) == {7}


def test_many_gaps_are_held_out_in_some_columns_only():
    observed = rng.random((30, 200)) < 0.5
    held = hold_out_gaps(observed, share=0.1)
    assert 0.05 <= held.sum() / observed.sum() <= 0.1


def test_without_gaps_single_entries_are_held_out():
    observed = np.ones((30, 40), dtype=bool)
    assert np.array_equal(hold_out_gaps(observed, seed=7), hold_out_entries(observed, seed=7))


def test_a_layout_that_does_not_hold_the_matrix_is_refused():
    with pytest.raises(InputError, match="does not have the 60 pixels"):
        hold_out_gaps(SPARSE, Layout("cube", (5, 10)))
    with pytest.raises(InputError, match="needs"):
        hold_out_gaps(SPARSE, Layout("cube"))


@pytest.mark.parametrize("layout", [CUBE, Layout("cube", (6, 10), "C"), Layout("faces", (5, 8)), Layout()])
def test_folding_undoes_unfolding(layout):
    matrix = np.arange(40 * 60).reshape(40, 60)
    assert np.array_equal(layout.fold(layout.unfold(matrix)), matrix)
