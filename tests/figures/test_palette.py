"""Colours mean one thing each, and can be told apart."""

import numpy as np
import pytest
from skimage.color import deltaE_ciede2000, rgb2lab

from atnmf_core.figures.palette import HIDDEN, diverging, grey, nice_limit, paint, sequential

# How colours look to people without one kind of cone, in linear RGB (Machado, Oliveira, Fernandes 2009).
SIGHT = {
    "normal": np.eye(3),
    "no red cones": [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]],
    "no green cones": [[0.3673, 0.8606, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]],
    "no blue cones": [[1.2555, -0.0767, -0.1788], [-0.0784, 0.9308, 0.1476], [0.0047, 0.6914, 0.3039]],
}


def test_grey_goes_from_black_at_zero_to_white_at_the_top_and_stays_there() -> None:
    picture = grey(np.array([[0.0, 1.0, 2.0, 9.0]]), top=2.0)

    assert picture[0].tolist() == [[0, 0, 0], [128, 128, 128], [255, 255, 255], [255, 255, 255]]


def test_the_diverging_scale_is_white_at_zero_brown_below_and_teal_above() -> None:
    below, zero, above = diverging(np.array([[-1.0, 0.0, 1.0]]), limit=1.0)[0].astype(int)

    assert zero.min() >= 254
    assert below[0] > below[2]
    assert above[1] > above[0]


def test_opposite_values_are_equally_light() -> None:
    values = np.linspace(0.1, 1, 10)[None, :]

    up, down = (rgb2lab(diverging(sign * values, 1.0))[0, :, 0] for sign in (1, -1))

    assert np.abs(up - down).max() < 6


def test_errors_get_darker_as_they_grow() -> None:
    lightness = rgb2lab(sequential(np.linspace(0, 1, 20)[None, :], 1.0))[0, :, 0]

    assert (np.diff(lightness) < 0).all()


@pytest.mark.parametrize("sight", SIGHT)
def test_blue_hidden_pixels_stand_out_from_every_scale_for_every_eye(sight: str) -> None:
    assert distance_to_scales(HIDDEN["blue"], sight) > 15


def test_red_hidden_pixels_stand_out_for_most_but_not_for_all() -> None:
    assert distance_to_scales(HIDDEN["red"], "normal") > 25
    assert distance_to_scales(HIDDEN["red"], "no green cones") < 5


def test_painting_leaves_the_given_picture_alone() -> None:
    picture = grey(np.zeros((2, 2)), 1.0)

    painted = paint(picture, np.array([[True, False], [False, False]]), "#E5383B")

    assert painted[0, 0].tolist() == [0xE5, 0x38, 0x3B]
    assert (picture == 0).all()


@pytest.mark.parametrize(
    ("value", "limit"), [(0.23, 0.3), (0.3, 0.3), (0.31, 0.5), (7.1, 10.0), (120.0, 200.0), (0.0, 1.0)]
)
def test_a_scale_ends_at_a_round_number(value: float, limit: float) -> None:
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
