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
    assert np.array_equal(hold_out(SPARSE, seed=seed), held)
    assert not np.array_equal(hold_out(SPARSE, seed=seed + 1), held)


def test_a_share_of_single_entries_is_held_out_where_there_are_no_gaps():
    whole = np.ones((50, 80), dtype=bool)
    assert hold_out_entries(whole, share=0.25).mean() == pytest.approx(0.25, abs=1e-3)
    assert np.array_equal(hold_out_gaps(whole, seed=7), hold_out_entries(whole, seed=7))


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        *(
            (lambda share=share: hold_out_entries(SPARSE, share=share), "strictly between")
            for share in (0.0, 1.0, -0.1)
        ),
        (lambda: hold_out_gaps(SPARSE, Layout("cube", (5, 10))), "does not have the 60 pixels"),
        (lambda: hold_out_gaps(SPARSE, Layout("cube")), "needs"),
    ],
)
def test_a_share_or_a_layout_that_does_not_fit_is_refused(ask, said):
    with pytest.raises(InputError, match=said):
        ask()


def with_blocks() -> np.ndarray:
    stack = np.ones((20, 6, 10), dtype=bool)
    stack[4:9, 1:3, 2:6] = False
    stack[7:15, 2:4, 5:9] = False
    return CUBE.fold(stack)


@pytest.mark.parametrize("seed", range(5))
def test_pixels_with_held_out_gaps_look_like_pixels_with_real_ones(seed):
    observed = with_blocks()
    held = hold_out_gaps(observed, CUBE, seed=seed)
    real = {tuple(column) for column in observed.T if not column.all()}
    left = (observed & ~held)[:, held.any(axis=0)]
    assert held.sum() >= 0.03 * observed.sum()
    assert {tuple(column) for column in left.T} <= real


def test_gaps_that_are_the_same_in_all_pixels_are_moved_along_the_bands():
    observed = np.ones((20, 60), dtype=bool)
    observed[4:7] = False
    observed[4:7, 0] = True
    held = hold_out_gaps(observed, CUBE, seed=1)
    lengths = held.sum(axis=0)
    assert set(np.unique(lengths[lengths > 0])) <= {1, 2, 3}
    assert held[:4].any() or held[7:].any()


def test_a_few_gaps_are_held_out_more_than_once():
    observed = np.ones((50, 60), dtype=bool)
    observed[5:25, 7] = False
    held = hold_out_gaps(observed, CUBE, seed=2)
    lengths = held.sum(axis=0)
    assert (lengths > 0).sum() > 2
    assert set(np.unique(lengths)) == {0, 20}


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


@pytest.mark.parametrize("layout", [CUBE, Layout("cube", (6, 10), "C"), Layout("faces", (5, 8)), Layout()])
def test_folding_undoes_unfolding(layout):
    matrix = np.arange(40 * 60).reshape(40, 60)
    assert np.array_equal(layout.fold(layout.unfold(matrix)), matrix)
