"""Each pattern hides the asked share, the same for the same seed, in the shape that its name says."""

import numpy as np
import pytest

from atnmf_core import InputError, hide_entries
from atnmf_core.model.hiding import PATTERNS

SHAPES = {
    "entries": {"shape": (60, 70)},
    "block": {"shape": (24 * 20, 30), "image_shape": (24, 20)},
    "stripes": {"shape": (40, 25 * 30), "image_shape": (25, 30)},
    "bands": {"shape": (50, 400)},
}
GRAIN = {"entries": 1 / 4200, "block": 1 / 24, "stripes": 1 / 1200, "bands": 1 / 50}
"""What one entry, one row of a rectangle, one dead line or one band is of the whole."""


@pytest.mark.parametrize("alpha", [0, 0.05, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_each_pattern_hides_the_asked_share(pattern, alpha):
    observed = hide_entries(alpha=alpha, pattern=pattern, **SHAPES[pattern])
    assert observed.shape == SHAPES[pattern]["shape"]
    assert observed.dtype == bool
    assert 1 - observed.mean() == pytest.approx(alpha, abs=GRAIN[pattern] if alpha else 0)
    # A matrix of one entry can be asked for, too.
    assert hide_entries((1, 1), alpha).all() == (alpha < 0.6)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_seed_repeats_its_draw_and_another_seed_draws_anew(pattern):
    draw = lambda seed: hide_entries(alpha=0.4, seed=seed, pattern=pattern, **SHAPES[pattern])  # noqa: E731
    assert np.array_equal(draw(3), draw(3))
    assert not np.array_equal(draw(3), draw(4))


@pytest.mark.parametrize("pattern", ["entries", "stripes"])
def test_what_is_hidden_at_a_small_alpha_is_hidden_at_a_larger_one(pattern):
    draw = lambda alpha: hide_entries(alpha=alpha, seed=5, pattern=pattern, **SHAPES[pattern])  # noqa: E731
    assert not (draw(0.6) & ~draw(0.2)).any()


def test_entries_are_hidden_one_by_one():
    observed = hide_entries((300, 200), 0.3, seed=1)
    hidden = ~observed
    # Were they drawn independently, neighbours would both be hidden about 0.09 of the time.
    both = (hidden[:, 1:] & hidden[:, :-1]).mean()
    assert both == pytest.approx(0.09, abs=0.01)
    assert abs(hidden.mean(axis=0) - 0.3).max() < 0.15
    assert abs(hidden.mean(axis=1) - 0.3).max() < 0.15


@pytest.mark.parametrize("order", ["F", "C"])
def test_a_block_is_one_rectangle_in_each_image(order):
    observed = hide_entries((12 * 10, 40), 0.3, pattern="block", image_shape=(12, 10), order=order)
    corners = set()
    for column in observed.T:
        rows, cols = np.nonzero(~column.reshape((12, 10), order=order))
        box = (slice(rows.min(), rows.max() + 1), slice(cols.min(), cols.max() + 1))
        assert not column.reshape((12, 10), order=order)[box].any()
        corners.add((rows.min(), cols.min()))
    assert len(corners) > 10


@pytest.mark.parametrize("order", ["F", "C"])
def test_stripes_are_whole_image_columns_of_single_bands(order):
    observed = hide_entries((20, 8 * 9), 0.4, pattern="stripes", image_shape=(8, 9), order=order)
    dead = np.array([~band.reshape((8, 9), order=order) for band in observed])
    assert np.array_equal(dead.any(axis=1), dead.all(axis=1))
    assert len({tuple(lines) for lines in dead.all(axis=1)}) > 10


def test_noisy_bands_lose_entries_and_the_others_none():
    observed = hide_entries((100, 500), 0.25, pattern="bands")
    share = 1 - observed.mean(axis=1)
    assert ((share == 0) | (abs(share - 0.5) < 0.01)).all()
    assert (share > 0).sum() == 50


REFUSED = {
    "alpha of 1": ({"alpha": 1.0}, ["alpha=1.0", "from 0 to below 1"]),
    "alpha negative": ({"alpha": -0.2}, ["alpha=-0.2", "from 0 to below 1"]),
    "alpha as percent": ({"alpha": 30}, ["alpha=30", "from 0 to below 1"]),
    "alpha NaN": ({"alpha": float("nan")}, ["alpha=nan", "from 0 to below 1"]),
    "alpha a word": ({"alpha": "half"}, ["alpha='half'", "from 0 to below 1"]),
    "shape of a vector": ({"shape": (7,)}, ["shape=(7,)", "(F, N)"]),
    "shape of nothing": ({"shape": (0, 4)}, ["shape=(0, 4)", "at least 1 x 1"]),
    "shape of floats": ({"shape": (6.0, 8)}, ["shape=(6.0, 8)", "(F, N)"]),
    "shape of one number": ({"shape": 48}, ["shape=48", "(F, N)"]),
    "order": ({"order": "X"}, ["order='X'", "'F', 'C'"]),
    "images of negative size": (
        {"pattern": "block", "image_shape": (-2, -3)},
        ["image_shape=(-2, -3)", "'block'", "= 6"],
    ),
    "images of one size": ({"pattern": "stripes", "image_shape": 8}, ["image_shape=8", "'stripes'", "= 8"]),
    "pattern": ({"pattern": "stars"}, ["pattern='stars'", "entries", "block", "stripes", "bands"]),
    "seed": ({"seed": -4}, ["seed=-4", "whole number"]),
    "block without images": ({"pattern": "block"}, ["image_shape=None", "'block'", "= 6"]),
    "block of another size": (
        {"pattern": "block", "image_shape": (2, 2)},
        ["image_shape=(2, 2)", "product is F", "= 6"],
    ),
    "stripes of another size": (
        {"pattern": "stripes", "image_shape": (2, 2)},
        ["image_shape=(2, 2)", "product is N", "= 8"],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_names_the_argument_the_value_and_what_is_allowed(case):
    changes, fragments = REFUSED[case]
    with pytest.raises(InputError) as refusal:
        hide_entries(**{"shape": (6, 8), "alpha": 0.5, **changes})
    missing = [part for part in fragments if part not in str(refusal.value)]
    assert not missing, str(refusal.value)
