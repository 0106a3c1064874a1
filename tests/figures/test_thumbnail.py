"""The thumbnail shows the data upright, and its gaps."""

import numpy as np
import pytest

from atnmf_core import Dataset, load_dataset
from atnmf_core.figures.thumbnail import thumbnail

RED = [0xE5, 0x38, 0x3B]


@pytest.mark.parametrize("order", ["F", "C"])
def test_a_cube_is_upright(order: str) -> None:
    image = np.arange(1.0, 13).reshape(3, 4)
    V = np.stack([image.reshape(-1, order=order)] * 5)

    picture = thumbnail(Dataset(V, "cube", "ramp", image_shape=(3, 4), order=order))

    assert picture.shape == (3, 4, 3)
    assert (np.diff(picture[..., 0].astype(int).reshape(-1)) >= 0).all()
    assert picture[0, 0, 0] < picture[-1, -1, 0]


def test_a_band_without_values_is_not_shown() -> None:
    scene = load_dataset("simulated-scene", rows=6, cols=5, bands=9, materials=2)
    V = scene.V.copy()
    V[3:] = np.nan
    V[:, 7] = np.nan

    picture = thumbnail(Dataset(V, "cube", "scene", image_shape=(6, 5)))

    assert (picture == RED).all(axis=2).sum() == 1


def test_large_pictures_are_made_smaller() -> None:
    assert max(thumbnail(Dataset(np.ones((900, 300)), "matrix", "big"), longest=100).shape) == 100


def test_the_first_few_faces_are_shown() -> None:
    lfw = load_dataset("lfw")

    assert thumbnail(lfw).shape == (2 * 25 + 1, 4 * 25 + 3, 3)


@pytest.mark.parametrize("shape", [(4000, 3), (3, 4000)])
def test_a_matrix_of_a_few_long_columns_or_rows_is_no_hair(shape: tuple[int, int]) -> None:
    picture = thumbnail(Dataset(np.ones(shape), "matrix", "long"), longest=200)

    short, long = sorted(picture.shape[:2])
    assert long <= 200
    assert short >= long / 5
