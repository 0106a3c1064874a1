"""Pictures keep their pixels."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from atnmf_core.figures.images import data_url, enlarge, mosaic, png

PICTURE = np.arange(2 * 3 * 3, dtype=np.uint8).reshape(2, 3, 3)


def test_enlarging_repeats_every_pixel_a_whole_number_of_times() -> None:
    large = np.asarray(enlarge(PICTURE, side=10))

    assert large.shape == (8, 12, 3)
    assert (large == PICTURE.repeat(4, axis=0).repeat(4, axis=1)).all()


def test_a_large_picture_is_left_as_it_is() -> None:
    assert enlarge(PICTURE, side=2).size == (3, 2)


def test_tiles_stand_in_rows_with_a_gap_between_them() -> None:
    tiles = [np.full((2, 2, 3), value, np.uint8) for value in (10, 20, 30)]

    sheet = mosaic(tiles, columns=2, gap=1, ground=99)[:, :, 0]

    assert sheet.tolist() == [
        [10, 10, 99, 20, 20],
        [10, 10, 99, 20, 20],
        [99, 99, 99, 99, 99],
        [30, 30, 99, 99, 99],
        [30, 30, 99, 99, 99],
    ]


@pytest.mark.parametrize("picture", [PICTURE, np.repeat(PICTURE[..., :1], 3, axis=2)])
def test_png_and_data_url_hold_the_same_pixels(picture: np.ndarray) -> None:
    kind, _, text = data_url(picture).partition(",")

    assert kind == "data:image/webp;base64"
    for content in (png(picture), base64.b64decode(text)):
        assert (np.asarray(Image.open(io.BytesIO(content))) == picture).all()


def test_a_picture_too_long_for_webp_is_a_png() -> None:
    long = np.zeros((1, 20_000, 3), np.uint8)

    kind, _, text = data_url(long).partition(",")

    assert kind == "data:image/png;base64"
    assert Image.open(io.BytesIO(base64.b64decode(text))).size == (20_000, 1)
