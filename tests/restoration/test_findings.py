"""What was wrong is told in kinds, each with the entries it concerns."""

from dataclasses import replace

import numpy as np
import pytest

from atnmf_core import Dataset, restore
from atnmf_core.restoration.findings import doubtful_regions, findings, lines_mask, noisy_rows, questions
from atnmf_core.restoration.lines import BadLine

ROWS, COLS, BANDS = 20, 16, 24


@pytest.fixture(scope="module")
def case():
    """A cube with single dark and bright entries, a dead column, a stripe, a gap and lost pixels."""
    rng = np.random.default_rng(0)
    n = ROWS * COLS
    V = (rng.random((BANDS, 3)) + 0.2) @ rng.random((3, n)) + 0.1
    V += rng.normal(0, 0.002, V.shape)
    kinds = {name: np.zeros(V.shape, dtype=bool) for name in ("dark", "bright", "lines", "stripes")}
    column = slice(5 * ROWS, 6 * ROWS)
    kinds["lines"][10, column] = True
    kinds["stripes"][6, 9 * ROWS : 10 * ROWS] = True
    free = rng.permutation(np.flatnonzero(~(kinds["lines"] | kinds["stripes"])))
    kinds["dark"].flat[free[:200]] = True
    kinds["bright"].flat[free[200:260]] = True
    V = np.where(kinds["dark"], 0.3 * V, np.where(kinds["bright"], V + 2, V))
    V = np.where(kinds["lines"], rng.uniform(0, 0.02, V.shape), V) + 0.03 * kinds["stripes"]
    V[3, 40:50] = np.nan
    V[:, 100:103] = np.nan
    data = Dataset(V, "cube", "scene", image_shape=(ROWS, COLS))
    return data, kinds, restore(data, "unmarked")


def test_each_kind_of_damage_is_found_where_it_was_done(case):
    data, kinds, restoration = case

    found = {finding.kind: finding for finding in findings(data, restoration)}

    assert {"dark", "bright", "lines", "stripes", "missing", "lost"} == set(found)
    for name, done in kinds.items():
        assert (found[name].mask & done & data.observed).sum() > 0.9 * (done & data.observed).sum(), name
    assert found["missing"].count == 10
    assert found["lost"].count == 3 * BANDS
    assert "image column 6 in band 11" in str(found["lines"])
    assert "were taken off image column 10 in band 7" in str(found["stripes"])


def test_no_entry_is_wrong_in_two_ways(case):
    data, _, restoration = case

    masks = [finding.mask for finding in findings(data, restoration) if finding.kind != "stripes"]

    assert np.array_equal(sum(mask.astype(int) for mask in masks) == 1, restoration.defects | ~data.observed)


def test_a_line_covers_its_entries():
    data = Dataset(np.zeros((4, 6)), "cube", "small", image_shape=(2, 3))

    column = lines_mask(data, (BadLine("image column", 2, 2, 1.0, (3, 4)),))
    band = lines_mask(data, (BadLine("band", 1, 1, 1.0),))

    assert np.argwhere(column).tolist() == [[2, 2], [2, 3], [3, 2], [3, 3]]
    assert band[0].all()
    assert band.sum() == 6


def test_pixels_that_are_mostly_wrong_are_regions(case):
    data, _, restoration = case
    defects = np.zeros(data.shape, dtype=bool)
    for row, col in ((2, 3), (3, 3), (9, 9)):
        defects[: BANDS * 3 // 4, col * ROWS + row] = True

    regions = doubtful_regions(data, replace(restoration, defects=defects))

    assert list(map(str, regions)) == ["rows 3 to 4, column 4", "row 10, column 10"]


def test_a_block_is_told_apart_from_single_entries(case):
    """Some of it may not have been noticed."""
    data, _, restoration = case
    rng = np.random.default_rng(1)
    defects = data.layout.unfold(rng.random(data.shape) < 0.1)
    defects[4:12, 3:12, 2:9] = rng.random((8, 9, 7)) < 0.95
    asked = replace(restoration, defects=data.layout.fold(defects) & data.observed, lines=())

    (found,) = [finding for finding in findings(data, asked) if finding.kind == "blocks"]

    (block,) = found.regions
    assert str(block) == "rows 4 to 12, columns 3 to 9 in bands 5 to 12"
    assert np.array_equal(found.mask, block.mask)
    assert "in blocks" in str(found)
    assert block.band in range(5, 13)


def test_bands_with_far_more_noise_than_others_are_named():
    assert noisy_rows(np.array([1.0, 1.2, 9.0, 0.8, 1.1, 3.5])) == (3, 6)


def test_values_that_repeat_are_asked_about():
    V = np.random.default_rng(0).uniform(1, 2, (20, 500))
    V[3, :100], V[5, :40], V[7, :30] = 2.5, 0, -9999

    asked = questions(Dataset(V, "matrix", "mine"))

    assert [(one.value, one.entries) for one in asked] == [(-9999, 30), (0, 40), (2.5, 100)]
    assert asked[2].words == "100 entries are at 2.5 and none is above: saturated?"
