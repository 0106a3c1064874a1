"""The six panels and the sheets of parts show what they say."""

import numpy as np
import pytest

from atnmf_core.analysis.pictures import ComparedPicture
from atnmf_core.figures.images import (
    HIDDEN,
    columns_for,
    error_panels,
    given_panels,
    learned_panels,
    part_sheet,
)

RED = [0xE5, 0x38, 0x3B]
V = np.array([[0.2, 0.4, 0.6, 0.8], [0.8, 0.6, 0.4, 0.2], [0.1, 0.3, 0.5, 1.0]])
OBSERVED = np.array([[True, False, True, True], [True, True, False, True], [True, True, True, True]])
PICTURE = ComparedPicture(V, OBSERVED, at_hat=V + 0.1, nmf_hat=V - 0.2, lam=2.0)


def test_hidden_and_unknown_pixels_are_painted_in_the_given_panels():
    original, masked = given_panels(V, OBSERVED, HIDDEN["red"], "a face")
    assert (masked.pixels[~OBSERVED] == RED).all()
    assert (masked.pixels[OBSERVED] == original.pixels[OBSERVED]).all()
    assert (original.letter, masked.letter) == ("a", "b")

    unknown = V.copy()
    unknown[0, 0] = np.nan

    original, _ = given_panels(unknown, OBSERVED, HIDDEN["red"], "a face")
    assert original.pixels[0, 0].tolist() == RED


def test_the_reserved_colour_is_for_hidden_pixels_under_attack_and_for_what_could_not_be_predicted():
    attack, attacked, at_restored, nmf_restored = learned_panels(PICTURE, HIDDEN["red"], "a face")
    for panel in (attack, attacked):
        assert (panel.pixels[~OBSERVED] == RED).all()
    for panel in (at_restored, nmf_restored):
        assert not (panel.pixels == RED).all(axis=2).any()

    gap = np.where(np.arange(12).reshape(3, 4) == 1, np.nan, V)

    panels = learned_panels(ComparedPicture(V, OBSERVED, gap, gap, lam=2.0), HIDDEN["red"], "a face")
    for panel in panels[2:]:
        assert np.argwhere((panel.pixels == RED).all(axis=2)).tolist() == [[0, 1]]

    errors, _ = error_panels(ComparedPicture(V, OBSERVED, gap, gap, lam=2.0), "a face", hidden=HIDDEN["red"])
    for panel in errors:
        assert np.argwhere((panel.pixels == RED).all(axis=2)).tolist() == [[0, 1]]


def test_both_error_maps_share_one_scale_and_mark_walls_only_when_asked():
    (at, nmf), top = error_panels(PICTURE, "a face")
    assert top == 0.2
    assert nmf.pixels[~OBSERVED].mean() < at.pixels[~OBSERVED].mean()
    assert (at.pixels[OBSERVED] == at.pixels[0, 0]).all()

    picture = ComparedPicture(V, OBSERVED, V + 0.5, V, lam=2.0)

    plain, _ = error_panels(picture, "a face")
    (marked, nmf), _ = error_panels(picture, "a face", walls=True)
    assert plain[0].pixels.shape == nmf.pixels.shape == (3, 4, 3)
    assert marked.pixels.shape == (9, 12, 3)
    np.testing.assert_array_equal(marked.pixels[::3, ::3], plain[0].pixels)


def test_every_panel_says_in_words_what_it_shows():
    for panel in (
        *given_panels(V, OBSERVED, HIDDEN["red"], "face 3"),
        *learned_panels(PICTURE, HIDDEN["red"], "face 3"),
    ):
        assert "face 3" in panel.alt


def test_dots_in_the_attack_mark_where_the_adversary_has_given_up():
    # With V + 0.1 predicted at lambda 2, entries below 0.1 are at the wall, and unmarked hidden ones.
    v = V.copy()
    v[0, 0] = 0.05
    for missing, dots in (("ignore", [(0, 0)]), ("zero", [(0, 0), (0, 1), (1, 2)])):
        picture = ComparedPicture(v, OBSERVED, v + 0.1, v, lam=2.0, missing=missing)
        attack = learned_panels(picture, HIDDEN["red"], "a face")[0]

        assert attack.pixels.shape == (9, 12, 3)
        middles, corners = attack.pixels[1::3, 1::3], attack.pixels[::3, ::3]
        assert sorted(zip(*np.nonzero((middles != corners).any(axis=2)), strict=True)) == dots


STRONG_AND_WEAK = np.stack([np.full((2, 2), 4.0), np.full((2, 2), 1.0)])


def test_each_part_is_dark_where_it_is_strong_on_its_own_or_on_a_shared_scale():
    sheet = part_sheet(STRONG_AND_WEAK, gap=0)
    assert (sheet == 0).all()

    sheet = part_sheet(STRONG_AND_WEAK, gap=0, shared_scale=True)
    assert (sheet[:, :2] == 0).all()
    assert (sheet[:, 2:] == 191).all()

    assert (part_sheet(np.zeros((1, 2, 2))) == 255).all()


@pytest.mark.parametrize(("K", "columns"), [(1, 1), (4, 2), (5, 3), (25, 5), (49, 7)])
def test_sheets_are_about_square_but_for_upright_strips(K, columns):
    assert columns_for(np.zeros((K, 19, 19))) == columns
    assert columns_for(np.zeros((5, 200, 50))) == 5


def test_unknown_pixels_of_a_part_have_the_reserved_colour():
    parts = np.array([[[1.0, np.nan], [0.0, 0.5]]])

    sheet = part_sheet(parts, gap=0, unknown="#1F3BFF")

    assert sheet[0, 1].tolist() == [0x1F, 0x3B, 0xFF]
    assert sheet[0, 0].tolist() == [0, 0, 0]
