"""Lines are named where they are bad as a whole, and not where chance or a poor model gathers defects."""

import numpy as np
import pytest

from atnmf_core import load_dataset
from atnmf_core.restoration import Layout
from atnmf_core.restoration.lines import BadLine, bad_lines, in_short, sharp_edged

LAYOUTS = {"cube": Layout("cube", (24, 18), "F"), "faces": Layout("faces", (16, 20), "C"), "matrix": Layout()}
SHAPES = {"cube": (30, 24 * 18), "faces": (16 * 20, 40), "matrix": (25, 60)}


@pytest.mark.parametrize("kind", LAYOUTS)
def test_scattered_defects_make_no_line(kind):
    """From none to half of all entries, some entries missing: 201 cases over the three kinds."""
    rng = np.random.default_rng(0)
    for case in range(67):
        wrong = rng.random(SHAPES[kind]) < rng.uniform(0, 0.5) * (case > 0)
        observed = rng.random(SHAPES[kind]) > rng.uniform(0, 0.3)
        assert bad_lines(wrong & observed, observed, LAYOUTS[kind]) == ()


@pytest.mark.parametrize(
    ("kind", "axis", "name"),
    [
        ("cube", 0, "band"),
        ("cube", 1, "image row"),
        ("cube", 2, "image column"),
        ("faces", 0, "image"),
        ("faces", 1, "image row"),
        ("faces", 2, "image column"),
        ("matrix", 0, "row"),
        ("matrix", 1, "column"),
    ],
)
def test_a_dead_line_is_always_found(kind, axis, name):
    """Among up to 30 % of scattered defects, and with one in twenty of its own entries not noticed."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        wrong = LAYOUTS[kind].unfold(rng.random(SHAPES[kind]) < rng.uniform(0, 0.3))
        number = int(rng.integers(wrong.shape[axis]))
        line = tuple(number if one == axis else slice(None) for one in range(3))
        wrong[line] = rng.random(wrong[line].shape) < 0.95
        defects = LAYOUTS[kind].fold(wrong)

        found = bad_lines(defects, np.ones_like(defects), LAYOUTS[kind])

        assert [str(one) for one in found] == [f"{name} {number + 1}"]


def test_columns_that_are_dead_in_some_bands_are_found_side_by_side_too():
    layout, rng = LAYOUTS["cube"], np.random.default_rng(2)
    wrong = layout.unfold(rng.random(SHAPES["cube"]) < 0.1)
    wrong[4:7, :, 9] = wrong[5, :, 10] = wrong[20, :, 0] = True

    found = bad_lines(layout.fold(wrong), np.ones(SHAPES["cube"], dtype=bool), layout)

    assert [str(line) for line in found] == [
        "image column 1 in band 21",
        "image column 10 in bands 5 to 7",
        "image column 11 in band 6",
    ]


def test_false_suspects_that_gather_in_one_place_are_no_line():
    """Where the model is poor their share rises and falls over several columns, here to 60 % in one."""
    layout, rng = LAYOUTS["cube"], np.random.default_rng(3)
    wrong = layout.unfold(rng.random(SHAPES["cube"]) < 0.1)
    share = 0.6 - 0.1 * np.abs(np.arange(18) - 12)
    wrong[0] = np.arange(24)[:, None] / 24 < share

    assert (wrong[0].mean(axis=0) > 0.5).sum() == 1
    assert bad_lines(layout.fold(wrong), np.ones(SHAPES["cube"], dtype=bool), layout) == ()


def test_many_places_are_counted_and_few_are_named():
    whole = [BadLine("band", 3, 5, 0.9), BadLine("image row", 8, 8, 0.9)]
    assert in_short(whole) == "bands 3 to 5, image row 8"
    assert in_short([BadLine("band", at, at + 1, 0.9) for at in range(1, 31, 3)]) == "20 bands"
    stripes = [
        BadLine("image column", at, at, 0.9, (first, first + at)) for at in range(1, 7) for first in (10, 30)
    ]
    assert in_short(stripes) == "6 image columns in 4 to 14 bands each"
    assert in_short(stripes[:4]) == "image column 1 in 4 bands, image column 2 in 6 bands"


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_a_block_is_seen_by_its_edges_in_the_spectrum(share):
    """Even if half of all entries are dark besides; sound data has none."""
    scene, rng = load_dataset("simulated-scene"), np.random.default_rng(3)
    dark = np.where(rng.random(scene.shape) < share, rng.uniform(0, 0.6, scene.shape), 1)
    V = scene.V * dark
    V[50] = V[50].mean()
    assert not sharp_edged(V, scene.observed, scene.layout).any()

    block = scene.layout.unfold(np.zeros(scene.shape, dtype=bool)).copy()
    block[40:56, 20:32, 30:42] = True
    block = scene.layout.fold(block)
    found = sharp_edged(np.where(block, 0.2, 1) * scene.V * dark, scene.observed, scene.layout)

    assert found[block].mean() > 0.8
    assert found.mean() < 8 * block.mean()
