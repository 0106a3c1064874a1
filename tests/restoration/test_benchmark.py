"""The benchmark's damage is what its words say, and what it has measured once is not measured again."""

import numpy as np
import pytest

from atnmf_core import load_dataset
from tests.benchmarks import damage
from tests.benchmarks.restoration import RIVAL_COLUMNS, Cell, Store, by_method, filled_in, mpsnr, over_seeds

SCENE = load_dataset("simulated-scene", rows=32, cols=28, bands=36)


@pytest.mark.parametrize(
    ("case", "noisy"), [(1, 20.00), (2, 19.35), (3, 13.08), (4, 12.92), (5, 13.80), (6, 13.74)]
)
def test_the_six_cases_are_as_noisy_as_published(paper_data, case, noisy):
    if not (paper_data / "sixcases").is_dir():
        pytest.skip("the six cases are not here")
    s = damage.six_cases(damage.undamaged(damage.SIX_CASES), f"case{case}", seed=0)

    assert mpsnr(s, s.data.V) == pytest.approx(noisy, abs=0.05)


@pytest.mark.parametrize("kind", damage.UNMARKED)
def test_unmarked_damage_leaves_all_else_as_it_was(kind):
    s = damage.unmarked(SCENE, kind, seed=1)

    assert not s.marked
    assert s.wrong.any()
    sound = ~s.wrong
    if damage.UNMARKED[kind].noisy:
        assert np.abs(s.data.V - SCENE.V)[sound].max() < 6 * 0.05 * SCENE.V.mean()
    else:
        assert np.allclose(s.data.V[sound], SCENE.V[sound], rtol=1e-6)


@pytest.mark.parametrize("kind", damage.BLOCKS)
def test_a_block_is_in_a_sixth_of_the_bands(kind):
    s = damage.unmarked(SCENE, f"dark10 + {kind}", seed=1)
    inside = SCENE.images(s.block)

    bands = np.flatnonzero(inside.any(axis=(1, 2)))
    assert bands.tolist() == list(range(bands[0], bands[0] + 6))
    assert inside[bands[0]].sum() == 12 * 12
    assert (s.wrong >= s.block).all()
    assert not np.isclose(s.data.V, SCENE.V)[s.block].any()


@pytest.mark.parametrize("kind", damage.GAPS)
def test_marked_gaps_are_missing_and_leave_every_band_something(kind):
    s, other = (damage.marked(SCENE, kind, seed=seed) for seed in (2, 3))

    assert s.marked
    assert np.array_equal(s.wrong, ~s.data.observed)
    assert 0.05 < s.wrong.mean() < 0.55
    assert s.data.observed.any(axis=1).all()
    assert (kind == "lost block") == (s.wrong.all(axis=0).any())
    assert not np.array_equal(s.wrong, other.wrong)


def test_what_a_method_says_nothing_about_counts_as_measured_or_as_the_mean_of_its_row():
    s = damage.marked(SCENE, "random50", seed=0)

    filled = filled_in(np.full(SCENE.shape, np.nan), s)

    assert np.array_equal(filled[~s.wrong], s.data.V[~s.wrong])
    assert filled[3][s.wrong[3]] == pytest.approx(np.nanmean(s.data.V[3]))


def test_rows_that_are_there_are_found_again_and_dropped_on_request(tmp_path):
    cell, other = Cell("unmarked", "moffet", "dark10", 0), Cell("unmarked", "moffet", "dark10", 1)
    store = Store(tmp_path / "rivals.csv", RIVAL_COLUMNS)
    for error, measured in ((0.5, cell), (1.5, other)):
        store.add({**measured.row, "method": "PCP", "error": error})

    again = Store(tmp_path / "rivals.csv", RIVAL_COLUMNS)

    assert again.has(cell, "PCP")
    assert not again.has(cell, "NMF")
    rows = by_method(again.of("unmarked", "moffet", "dark10"))["PCP"]
    assert over_seeds(rows, "error") == (1.0, 1.5)
    again.drop({cell})
    assert not Store(tmp_path / "rivals.csv", RIVAL_COLUMNS).has(cell, "PCP")
    assert Store(tmp_path / "rivals.csv", RIVAL_COLUMNS).has(other, "PCP")
