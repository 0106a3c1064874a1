"""Bands become colours: the right ones, by the right limits, and never a colour where nothing is known."""

import numpy as np
import pytest

from atnmf_core import Dataset, InputError, factorize, hide_entries, load_dataset
from atnmf_core.figures.images import tint
from atnmf_core.figures.views import (
    INFRARED,
    NATURAL,
    CubeView,
    composite,
    error_top,
    nearest_bands,
    smaller,
    stretch_limits,
    thumbnail,
)

RED = "#E5383B"
SCENE = load_dataset("simulated-scene", rows=10, cols=14, bands=40)


def test_triplets_are_the_bands_of_visible_light_or_show_infrared_as_red():
    natural, infrared = (
        [SCENE.wavelengths[band] for band in nearest_bands(SCENE.wavelengths, 40, bands)]
        for bands in (NATURAL, INFRARED)
    )

    step = SCENE.wavelengths[1] - SCENE.wavelengths[0]
    assert natural == pytest.approx([640, 550, 460], abs=step / 2)
    red, green, blue = infrared
    assert red > 800 > 700 > green > blue


@pytest.mark.parametrize("bands", [1, 2, 3, 165])
def test_without_wavelengths_bands_are_spread_and_in_the_cube(bands):
    triplet = nearest_bands(None, bands, NATURAL)

    assert all(0 <= band < bands for band in triplet)
    assert triplet.red >= triplet.green >= triplet.blue
    assert bands < 165 or len(set(triplet)) == 3


def test_the_stretch_leaves_out_the_same_percentage_at_either_end():
    one, other = np.arange(101.0), np.append(np.arange(1000.0, 1100.0), np.nan)

    limits, joint = (stretch_limits([one, other], clip=5, joint=joint) for joint in (False, True))

    assert (limits.low[0], limits.high[0]) == pytest.approx((5, 95))
    assert limits.low[1] == pytest.approx(np.percentile(other[:-1], 5))
    assert joint.low[0] == joint.low[1] == pytest.approx(np.nanpercentile([*one, *other], 5))
    with pytest.raises(InputError, match="clip=50"):
        stretch_limits([np.arange(3.0)], clip=50)


def test_values_become_brightness_and_unknown_or_empty_channels_the_reserved_colour():
    channels = [
        np.array([[0.0, 1.0, np.nan, 9.0]]),
        np.array([[0.5, 1.0, np.nan, 0.25]]),
        np.array([[1.0, np.nan, np.nan, 0]]),
    ]
    picture = composite(channels, stretch_limits([np.array([0.0, 1.0])] * 3, clip=0), RED)
    assert picture[0].tolist() == [[0, 128, 255], [255, 255, 0x3B], [0xE5, 0x38, 0x3B], [255, 64, 0]]

    flat, empty = np.full((2, 2), 3.0), np.full((2, 2), np.nan)
    picture = composite([flat, flat, empty], stretch_limits([flat, flat, empty]), RED)
    assert picture[0, 0].tolist() == [0, 0, 0x3B]


def test_a_large_picture_is_thinned_out_for_the_screen():
    image = np.arange(1000 * 600).reshape(1000, 600)

    assert smaller(image, 1000) is not None
    assert smaller(image, 1000).shape == (1000, 600)
    np.testing.assert_array_equal(smaller(image, 512), image[::2, ::2])


def test_a_tint_goes_from_white_to_the_colour():
    tinted = tint(np.array([[0.0, 1.0, 2.0]]), "#102030")

    assert tinted.tolist() == [[[255, 255, 255], [16, 32, 48], [16, 32, 48]]]


OBSERVED = hide_entries(SCENE.shape, 0.4)
OBSERVED[:, 3] = False
BANDS = (5, 3, 1)


def test_all_pictures_share_the_stretch_of_the_original():
    """Computed here band by band, without the module's own functions."""
    V_hat = factorize(SCENE.V, OBSERVED, K=4, init="pure-pixels").V_hat
    predicted = np.where(OBSERVED, SCENE.V, V_hat)
    predicted[:, 3] = np.nan
    original, masked, restored = np.empty((3, 10, 14, 3), np.uint8)
    for c, (band, unknown) in enumerate(zip(BANDS, RGB, strict=True)):
        low, high = np.percentile(SCENE.V[band], 2), np.percentile(SCENE.V[band], 98)
        for shown, values in (
            (original, SCENE.V),
            (masked, np.where(OBSERVED, SCENE.V, np.nan)),
            (restored, predicted),
        ):
            shade = np.rint(255 * np.clip((values[band] - low) / (high - low), 0, 1))
            shown[..., c] = SCENE.image(np.where(np.isnan(shade), unknown, shade))

    view = CubeView(SCENE, bands=BANDS)

    np.testing.assert_array_equal(view.original(), original)
    np.testing.assert_array_equal(view.masked(OBSERVED), masked)
    np.testing.assert_array_equal(view.picture(predicted[list(BANDS)]), restored)


def test_one_band_is_grey_and_hidden_pixels_have_the_reserved_colour():
    view = CubeView(SCENE, bands=(7, 7, 7), unknown="#1F3BFF")

    masked = view.masked(OBSERVED)

    hidden = ~SCENE.image(OBSERVED[7])
    assert view.is_single
    assert ((masked == (0x1F, 0x3B, 0xFF)).all(axis=2) == hidden).all()
    assert (masked[~hidden] == masked[~hidden][:, :1]).all()


def test_errors_are_dark_where_large_on_a_scale_that_a_few_wild_pixels_do_not_set():
    errors = np.linspace(0, 1, 140)
    errors[50] = np.nan

    picture = CubeView(SCENE, bands=BANDS).error_picture(errors, top=1.0, lost=~OBSERVED.any(axis=0))

    flat = [SCENE.vector(picture[..., c]) for c in range(3)]
    assert [int(channel[3]) for channel in flat] == RGB
    brightness = np.delete(sum(channel.astype(int) for channel in flat), [3, 50])
    assert (np.diff(brightness) <= 0).all()
    wild = np.append(50.0, np.full(999, 0.1))
    assert error_top([wild, wild]) == pytest.approx(0.1)
    assert error_top([np.full(3, np.nan)]) == 1.0


RGB = [0xE5, 0x38, 0x3B]


@pytest.mark.parametrize("order", ["F", "C"])
def test_a_cube_is_upright(order):
    image = np.arange(1.0, 13).reshape(3, 4)
    V = np.stack([image.reshape(-1, order=order)] * 5)

    picture = thumbnail(Dataset(V, "cube", "ramp", image_shape=(3, 4), order=order))

    assert picture.shape == (3, 4, 3)
    assert (np.diff(picture[..., 0].astype(int).reshape(-1)) >= 0).all()
    assert picture[0, 0, 0] < picture[-1, -1, 0]


def test_a_band_without_values_is_not_shown():
    scene = load_dataset("simulated-scene", rows=6, cols=5, bands=9, materials=2)
    V = scene.V.copy()
    V[3:] = np.nan
    V[:, 7] = np.nan

    picture = thumbnail(Dataset(V, "cube", "scene", image_shape=(6, 5)))

    assert (picture == RGB).all(axis=2).sum() == 1


@pytest.mark.parametrize("shape", [(4000, 3), (3, 4000)])
def test_a_thumbnail_is_small_and_no_hair_and_shows_the_first_few_faces(shape):
    picture = thumbnail(Dataset(np.ones(shape), "matrix", "long"), longest=200)

    short, long = sorted(picture.shape[:2])
    assert long <= 200
    assert short >= long / 5
    assert max(thumbnail(Dataset(np.ones((900, 300)), "matrix", "big"), longest=100).shape) == 100
    assert thumbnail(load_dataset("lfw")).shape == (2 * 25 + 1, 4 * 25 + 3, 3)
