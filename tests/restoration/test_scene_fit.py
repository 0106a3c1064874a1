"""Scenes that are fitted block by block: W from a sample, H that of `transform`."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from atnmf_core import factorize, read_dataset, rmse, transform
from atnmf_core.datasets.files.scene_file import open_scene
from atnmf_core.model.problem import InputError
from atnmf_core.restoration.scenes import fit_scene
from atnmf_core.restoration.scenes.scene_model import sample_size, two_samples
from tests.scenes import BANDS, COLS, ROWS, damaged_scene, write_envi, write_geotiff

MODELS: list[dict[str, Any]] = [
    {"K": 4},
    {"K": 4, "method": "atnmf", "lam": 1.2},
    {"K": 3, "method": "atnmf", "lam": 1.1, "leash": 0.5},
]


@pytest.fixture(scope="module")
def scene():
    """One pixel has no entry at all."""
    scene = damaged_scene()
    scene.cube[7, 9] = np.nan
    return scene


@pytest.fixture
def path(scene, tmp_path):
    np.save(tmp_path / "scene.npy", scene.cube)
    return tmp_path / "scene.npy"


def as_matrix(cube: np.ndarray) -> np.ndarray:
    return cube.reshape(-1, cube.shape[2]).T


@pytest.mark.parametrize("model", MODELS, ids=["nmf", "atnmf", "leash"])
@pytest.mark.parametrize("entries", [12_000, 10**9])
def test_H_is_that_of_the_whole_for_the_same_W_and_the_error_that_of_a_fit_in_memory(
    scene, path, model, entries
):
    done = fit_scene(path, path.with_name("H.npy"), **model, block_entries=entries, n_jobs=1)

    lam, leash, V = model.get("lam"), model.get("leash"), as_matrix(scene.cube)
    H, seen = transform(V, done.W, lam=lam, leash=leash), ~np.isnan(V)
    np.testing.assert_allclose(as_matrix(done.H), H, rtol=1e-5, atol=1e-6)
    assert np.isnan(done.H[7, 9]).all()
    assert np.isnan(done.H).sum() == model["K"]
    V_hat = done.W @ np.nan_to_num(H)
    assert done.rmse == pytest.approx(rmse(V, V_hat, seen), rel=1e-5)
    sound = seen & as_matrix(~scene.wrong & ~scene.missing)
    by_blocks, in_memory = (
        rmse(as_matrix(scene.sound), P, sound) for P in (V_hat, factorize(V, **model).V_hat)
    )
    assert by_blocks < 1.05 * in_memory


def test_the_files_are_W_and_H(path):
    done = fit_scene(path, path.with_name("H.npy"), K=4, n_jobs=1)

    assert {file.name for file in path.parent.iterdir()} == {"scene.npy", "H.npy", "H-W.npy"}
    assert done.files == (path.with_name("H.npy"), path.with_name("H-W.npy"))
    np.testing.assert_array_equal(np.load(path.with_name("H.npy")), done.H)
    np.testing.assert_array_equal(np.load(path.with_name("H-W.npy")), done.W)
    assert done.H.shape == (ROWS, COLS, 4)
    assert done.W.shape == (BANDS, 4)


@pytest.mark.parametrize("write", [write_envi, write_geotiff])
def test_envi_maps_lie_where_the_scene_lies(tmp_path, write):
    source = tmp_path / ("scene.hdr" if write is write_envi else "scene.tif")
    write(damaged_scene(40, 30, 12).cube, source)
    place = "{UTM, 1, 1, 500000, 4000000, 30, 30, 10, North}"
    if write is write_envi:
        source.write_text(source.read_text() + f"map info = {place}\n")

    done = fit_scene(source, tmp_path / "H.hdr", K=3, n_jobs=1)

    maps = read_dataset(tmp_path / "H.hdr")
    np.testing.assert_array_equal(maps.images().transpose(1, 2, 0), done.H)
    assert maps.band_names == ("part 1", "part 2", "part 3")
    assert maps.georeference is not None
    assert "500000" in maps.georeference.map_info
    assert [file.name for file in done.files] == ["H.hdr", "H.img", "H-W.npy"]


def test_a_material_that_the_sample_misses_is_named(scene, tmp_path, monkeypatch):
    monkeypatch.setattr("atnmf_core.restoration.scenes.scene_model.SAMPLE_ENTRIES", 1)
    monkeypatch.setattr("atnmf_core.restoration.scenes.scene_model.LEAST_PIXELS", 100)
    cube = scene.sound.copy()
    unseen = np.ones(cube.shape[:2], bool)
    for sample in two_samples(cube.shape[:2], 100, seed=0):
        unseen[sample] = False
    unseen[:40] = False
    cube[unseen] = np.where(np.arange(BANDS) % 2, 0.9, 0.1)
    np.save(tmp_path / "scene.npy", cube)

    done = fit_scene(tmp_path / "scene.npy", tmp_path / "H.npy", K=4, n_jobs=1)

    assert sum(pixels for *_, pixels in done.far) == unseen.sum()
    assert min(first for first, *_ in done.far) == 41
    assert "image rows 41" in done.summary


def test_pixels_outside_of_the_sample_that_it_is_unlike_are_learned_from(scene, tmp_path):
    cube = scene.sound.copy()
    np.save(tmp_path / "scene.npy", cube)
    count = sample_size(open_scene(tmp_path / "scene.npy"))
    _, (rows, cols) = two_samples(cube.shape[:2], count, seed=0)
    spectrum = np.where(np.arange(BANDS) % 2, 0.9, 0.1)
    cube[rows[:100], cols[:100]] = spectrum * np.linspace(0.5, 1, 100)[:, None]
    np.save(tmp_path / "scene.npy", cube)

    done = fit_scene(tmp_path / "scene.npy", tmp_path / "H.npy", K=5, n_jobs=1)

    assert "100 pixels outside of the sample were unlike it" in done.summary
    H = transform(spectrum[:, None], done.W)
    assert rmse(spectrum[:, None], done.W @ H, np.ones((BANDS, 1), bool)) < 0.02


@pytest.mark.parametrize(
    ("name", "options", "why"),
    [
        ("H.npz", {}, ".npy"),
        ("scene.npy", {}, "replace"),
        ("H.npy", {"method": "anmf"}, "method"),
        ("H.npy", {"K": 21}, "K=21"),
        ("H.npy", {"lam": 2.0}, "lam"),
    ],
)
def test_what_cannot_be_done_is_refused(path, name, options, why, monkeypatch):
    with pytest.raises(InputError, match=why):
        fit_scene(path, path.with_name(name), **{"K": 4, **options}, n_jobs=1)
    assert [file.name for file in path.parent.iterdir()] == ["scene.npy"]
    # Neither is the scene replaced by W, nor a disk filled that is too full.
    with pytest.raises(InputError, match="replace"):
        fit_scene(path.rename(path.with_name("H-W.npy")), path.with_name("H.npy"), K=4, n_jobs=1)
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=1000))
    with pytest.raises(InputError, match="disk space"):
        fit_scene(path.with_name("H-W.npy").rename(path), path.with_name("H.npy"), K=4)
