"""Pictures keep their pixels, panels and sheets show what they say, and colours can be told apart."""

import base64
import io

import numpy as np
import pytest
from PIL import Image
from skimage.color import deltaE_ciede2000, rgb2lab

from atnmf_core.analysis.pictures import ComparedPicture
from atnmf_core.figures.images import (
    HIDDEN,
    columns_for,
    data_url,
    diverging,
    enlarge,
    error_panels,
    given_panels,
    grey,
    learned_panels,
    mosaic,
    nice_limit,
    paint,
    part_sheet,
    png,
    sequential,
)

PICTURE = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)


def test_enlarging_repeats_every_pixel_a_whole_number_of_times_if_at_all():
    large = np.asarray(enlarge(PICTURE, side=10))

    assert large.shape == (8, 12, 3)
    assert (large == PICTURE.repeat(4, axis=0).repeat(4, axis=1)).all()

    assert enlarge(PICTURE, side=2).size == (3, 2)


def test_tiles_stand_in_rows_with_a_gap_between_them():
    tiles = [np.full((2, 2, 3), value, np.uint8) for value in (10, 20, 30)]

    sheet = mosaic(tiles, columns=2, gap=1, background=99)[:, :, 0]

    assert sheet.tolist() == [
        [10, 10, 99, 20, 20],
        [10, 10, 99, 20, 20],
        [99, 99, 99, 99, 99],
        [30, 30, 99, 99, 99],
        [30, 30, 99, 99, 99],
    ]


@pytest.mark.parametrize("picture", [PICTURE, np.repeat(PICTURE[..., :1], 3, axis=2)])
def test_png_and_data_url_hold_the_same_pixels(picture):
    kind, _, text = data_url(picture).partition(",")

    assert kind == "data:image/webp;base64"
    for content in (png(picture), base64.b64decode(text)):
        assert (np.asarray(Image.open(io.BytesIO(content))) == picture).all()


def test_a_picture_too_long_for_webp_is_a_png():
    long = np.zeros((1, 20_000, 3), np.uint8)

    kind, _, text = data_url(long).partition(",")

    assert kind == "data:image/png;base64"
    assert Image.open(io.BytesIO(base64.b64decode(text))).size == (20_000, 1)


# How colours look to people without one kind of cone, in linear RGB (Machado, Oliveira, Fernandes 2009).
SIGHT = {
    "normal": np.eye(3),
    "no red cones": [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]],
    "no green cones": [[0.3673, 0.8606, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]],
    "no blue cones": [[1.2555, -0.0767, -0.1788], [-0.0784, 0.9308, 0.1476], [0.0047, 0.6914, 0.3039]],
}


def test_grey_and_errors_go_from_end_to_end_and_stay_there():
    picture = grey(np.array([[0.0, 1.0, 2.0, 9.0]]), top=2.0)
    assert picture[0].tolist() == [[0, 0, 0], [128, 128, 128], [255, 255, 255], [255, 255, 255]]

    lightness = rgb2lab(sequential(np.linspace(0, 1, 20)[None, :], 1.0))[0, :, 0]
    assert (np.diff(lightness) < 0).all()


def test_the_diverging_scale_is_white_at_zero_brown_below_teal_above_and_equally_light():
    below, zero, above = diverging(np.array([[-1.0, 0.0, 1.0]]), limit=1.0)[0].astype(int)
    assert zero.min() >= 254
    assert below[0] > below[2]
    assert above[1] > above[0]

    values = np.linspace(0.1, 1, 10)[None, :]

    up, down = (rgb2lab(diverging(sign * values, 1.0))[0, :, 0] for sign in (1, -1))
    assert np.abs(up - down).max() < 6


@pytest.mark.parametrize("sight", SIGHT)
def test_blue_hidden_pixels_stand_out_from_every_scale_for_every_eye(sight):
    assert distance_to_scales(HIDDEN["blue"], sight) > 15


def test_red_hidden_pixels_stand_out_for_most_but_not_for_all():
    assert distance_to_scales(HIDDEN["red"], "normal") > 25
    assert distance_to_scales(HIDDEN["red"], "no green cones") < 5


def test_painting_leaves_the_given_picture_alone():
    picture = grey(np.zeros((2, 2)), 1.0)

    painted = paint(picture, np.array([[True, False], [False, False]]), "#E5383B")

    assert painted[0, 0].tolist() == [0xE5, 0x38, 0x3B]
    assert (picture == 0).all()


@pytest.mark.parametrize(
    ("value", "limit"), [(0.23, 0.3), (0.3, 0.3), (0.31, 0.5), (7.1, 10.0), (120.0, 200.0), (0.0, 1.0)]
)
def test_a_scale_ends_at_a_round_number(value, limit):
    assert nice_limit(value) == limit


def distance_to_scales(colour: str, sight: str) -> float:
    """The smallest perceived difference (CIEDE2000) between a colour and any grey or attack colour."""
    values = np.linspace(-1, 1, 511)[None, :]
    scales = np.concatenate([grey(values, 1.0)[0], diverging(values, 1.0)[0]])
    own = np.array([list(bytes.fromhex(colour.removeprefix("#")))])
    return float(deltaE_ciede2000(seen(own, sight), seen(scales, sight)).min())


def seen(colours: np.ndarray, sight: str) -> np.ndarray:
    share = colours / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    mixed = np.clip(linear @ np.array(SIGHT[sight]).T, 0, 1)
    encoded = np.where(mixed <= 0.0031308, 12.92 * mixed, 1.055 * mixed ** (1 / 2.4) - 0.055)
    return rgb2lab(encoded[None])[0]


RED = [0xE5, 0x38, 0x3B]
V = np.array([[0.2, 0.4, 0.6, 0.8], [0.8, 0.6, 0.4, 0.2], [0.1, 0.3, 0.5, 1.0]])
OBSERVED = np.array([[True, False, True, True], [True, True, False, True], [True, True, True, True]])
COMPARED = ComparedPicture(V, OBSERVED, at_hat=V + 0.1, nmf_hat=V - 0.2, lam=2.0)


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
    attack, attacked, at_restored, nmf_restored = learned_panels(COMPARED, HIDDEN["red"], "a face")
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
    (at, nmf), top = error_panels(COMPARED, "a face")
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
        *learned_panels(COMPARED, HIDDEN["red"], "face 3"),
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
