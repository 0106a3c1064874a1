"""A cube read in blocks is the cube read as a whole, and writing changes what it is told to alone."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from atnmf_core.datasets import UnreadableData, read_dataset
from atnmf_core.datasets.files.scene_file import Block, open_scene, rewritten
from tests.scenes import damaged_scene, write_envi, write_geotiff, write_hdf5, write_npy

FORMATS: dict[str, Callable[..., None]] = {
    "scene.npy": write_npy,
    "scene.hdr": write_envi,
    "scene.h5": write_hdf5,
    "scene.tif": write_geotiff,
}


@pytest.fixture(params=FORMATS)
def path(request, tmp_path):
    file = tmp_path / request.param
    FORMATS[request.param](damaged_scene(33, 21, 6).cube, file)
    return file


def as_read(path: Path, **options: Any) -> np.ndarray:
    """rows x cols x bands."""
    return read_dataset(path, **options).images().transpose(1, 2, 0)


def in_blocks(path: Path, entries: int) -> np.ndarray:
    scene = open_scene(path)
    whole = np.full((scene.rows, scene.cols, scene.bands), -1.0)
    for block in scene.blocks(entries):
        part = scene.read(block).reshape(scene.bands, block.bottom - block.top, -1)
        assert (whole[block.top : block.bottom, block.left : block.right] == -1).all()
        whole[block.top : block.bottom, block.left : block.right] = part.transpose(1, 2, 0)
    return whole


@pytest.mark.parametrize("entries", [60, 10_000])
def test_blocks_are_parts_of_the_whole(path, entries):
    np.testing.assert_allclose(in_blocks(path, entries), as_read(path), rtol=1e-6)


@pytest.mark.parametrize("interleave", ["bsq", "bil", "bip"])
@pytest.mark.parametrize("kind", ["<i2", ">i2", "<f4"])
def test_envi_in_every_order(tmp_path, interleave, kind):
    write_envi(damaged_scene(9, 7, 5).cube, tmp_path / "scene.hdr", interleave, kind)

    np.testing.assert_allclose(
        in_blocks(tmp_path / "scene.hdr", 80), as_read(tmp_path / "scene.hdr"), rtol=1e-6
    )


def test_single_pixels_come_in_the_order_asked_for_and_a_thinned_scene_has_every_nth_row_and_column(path):
    rows, cols = np.array([32, 0, 17, 17, 1]), np.array([20, 3, 16, 15, 0])

    scene, whole = open_scene(path), as_read(path)

    np.testing.assert_allclose(scene.pixels(rows, cols), whole[rows, cols].T, rtol=1e-6)
    np.testing.assert_allclose(scene.thinned(2, 5), whole[::5, ::5, 2], rtol=1e-6)


def test_what_is_not_written_stays(path, tmp_path):
    scene, out = open_scene(path), tmp_path / f"out{path.suffix}"
    changed = np.zeros((scene.bands, 6), bool)
    changed[2, 4] = changed[3, 0] = True

    with rewritten(scene, out) as (copy, files):
        copy.write(Block(16, 19, 15, 17), changed, scene.numbers(np.array([0.5, 0.25], np.float32)))
        assert not out.exists()

    assert all(file.exists() for file in files)
    before, after = read_dataset(path), read_dataset(out)
    expected = before.images().copy()
    expected[2, 18, 15], expected[3, 16, 15] = 0.5, 0.25
    np.testing.assert_array_equal(after.images(), expected)
    assert np.array_equal(before.wavelengths, after.wavelengths) or before.wavelengths is None
    assert before.georeference == after.georeference
    if path.suffix == ".hdr":
        assert out.read_text() == path.read_text()


def test_bands_that_the_header_calls_bad_are_missing_as_may_be_a_whole_block(tmp_path):
    path, cube = tmp_path / "scene.hdr", damaged_scene(9, 7, 5).cube
    cube[:3] = np.nan
    write_envi(cube, path)
    path.write_text(path.read_text() + "bbl = {1, 0, 1, 1, 0}\n")

    V = open_scene(path).read(Block(4, 6, 1, 5))

    assert np.isnan(V[[1, 4]]).all()
    assert not np.isnan(V[[0, 2, 3]]).all()
    assert np.isnan(open_scene(path).read(Block(0, 3, 0, 7))).all()


@pytest.mark.parametrize(("name", "shape"), [("matrix.npy", (30, 40)), ("table.csv", (3, 4))])
def test_what_cannot_be_read_in_parts_is_refused(tmp_path, name, shape):
    path = tmp_path / name
    np.save(path, np.ones(shape)) if path.suffix == ".npy" else np.savetxt(
        path, np.ones(shape), delimiter=","
    )

    with pytest.raises(UnreadableData, match="in parts"):
        open_scene(path)
