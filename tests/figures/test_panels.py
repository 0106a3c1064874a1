"""The six panels show what they say."""

import numpy as np

from atnmf_core.analysis.comparison import ComparedPicture
from atnmf_core.figures.palette import HIDDEN
from atnmf_core.figures.panels import error_panels, figure, given_panels, learned_panels

RED = [0xE5, 0x38, 0x3B]
V = np.array([[0.2, 0.4, 0.6, 0.8], [0.8, 0.6, 0.4, 0.2], [0.1, 0.3, 0.5, 1.0]])
OBSERVED = np.array([[True, False, True, True], [True, True, False, True], [True, True, True, True]])
PICTURE = ComparedPicture(V, OBSERVED, at_hat=V + 0.1, nmf_hat=V - 0.2, lam=2.0)


def test_the_masked_panel_is_the_original_with_hidden_pixels_painted() -> None:
    original, masked = given_panels(V, OBSERVED, HIDDEN["red"], "a face")

    assert (masked.pixels[~OBSERVED] == RED).all()
    assert (masked.pixels[OBSERVED] == original.pixels[OBSERVED]).all()
    assert (original.letter, masked.letter) == ("a", "b")


def test_what_nobody_knows_is_painted_in_the_original_too() -> None:
    unknown = V.copy()
    unknown[0, 0] = np.nan

    original, _ = given_panels(unknown, OBSERVED, HIDDEN["red"], "a face")

    assert original.pixels[0, 0].tolist() == RED


def test_hidden_pixels_carry_the_reserved_colour_in_attack_and_attacked_panel_only() -> None:
    attack, attacked, at_restored, nmf_restored = learned_panels(PICTURE, HIDDEN["red"], "a face")

    for panel in (attack, attacked):
        assert (panel.pixels[~OBSERVED] == RED).all()
    for panel in (at_restored, nmf_restored):
        assert not (panel.pixels == RED).all(axis=2).any()


def test_what_could_not_be_predicted_stays_in_the_reserved_colour() -> None:
    gap = np.where(np.arange(12).reshape(3, 4) == 1, np.nan, V)

    panels = learned_panels(ComparedPicture(V, OBSERVED, gap, gap, lam=2.0), HIDDEN["red"], "a face")

    for panel in panels[2:]:
        assert np.argwhere((panel.pixels == RED).all(axis=2)).tolist() == [[0, 1]]


def test_both_error_maps_share_one_scale() -> None:
    (at, nmf), top = error_panels(PICTURE, "a face")

    assert top == 0.2
    assert nmf.pixels[~OBSERVED].mean() < at.pixels[~OBSERVED].mean()
    assert (at.pixels[OBSERVED] == at.pixels[0, 0]).all()


def test_every_panel_says_in_words_what_it_shows() -> None:
    for panel in (
        *given_panels(V, OBSERVED, HIDDEN["red"], "face 3"),
        *learned_panels(PICTURE, HIDDEN["red"], "face 3"),
    ):
        assert "face 3" in panel.alt


def test_the_whole_figure_holds_every_panel_enlarged() -> None:
    panels = (*given_panels(V, OBSERVED, HIDDEN["red"], ""), *learned_panels(PICTURE, HIDDEN["red"], ""))

    sheet = np.asarray(figure(panels, side=100))

    assert sheet.shape[1] > 6 * 100
    assert (sheet == RED).all(axis=2).sum() == 3 * 2 * 25**2


def test_dots_in_the_attack_mark_where_the_adversary_has_given_up() -> None:
    # With V + 0.1 predicted at lambda 2, entries below 0.1 are at the wall, and unmarked hidden ones.
    v = V.copy()
    v[0, 0] = 0.05
    for missing, dots in (("ignore", [(0, 0)]), ("zero", [(0, 0), (0, 1), (1, 2)])):
        picture = ComparedPicture(v, OBSERVED, v + 0.1, v, lam=2.0, missing=missing)
        attack = learned_panels(picture, HIDDEN["red"], "a face")[0]

        assert attack.pixels.shape == (9, 12, 3)
        middles, corners = attack.pixels[1::3, 1::3], attack.pixels[::3, ::3]
        assert sorted(zip(*np.nonzero((middles != corners).any(axis=2)), strict=True)) == dots


def test_the_error_map_marks_walls_only_when_asked() -> None:
    picture = ComparedPicture(V, OBSERVED, V + 0.5, V, lam=2.0)

    plain, _ = error_panels(picture, "a face")
    (marked, nmf), _ = error_panels(picture, "a face", walls=True)

    assert plain[0].pixels.shape == nmf.pixels.shape == (3, 4, 3)
    assert marked.pixels.shape == (9, 12, 3)
    np.testing.assert_array_equal(marked.pixels[::3, ::3], plain[0].pixels)


def test_pixels_without_a_prediction_are_painted_in_the_error_maps() -> None:
    gap = np.where(np.arange(12).reshape(3, 4) == 1, np.nan, V)

    errors, _ = error_panels(ComparedPicture(V, OBSERVED, gap, gap, lam=2.0), "a face", hidden=HIDDEN["red"])

    for panel in errors:
        assert np.argwhere((panel.pixels == RED).all(axis=2)).tolist() == [[0, 1]]
