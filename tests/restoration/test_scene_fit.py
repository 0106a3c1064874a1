"""Scenes that are fitted block by block: W from a sample, H that of `transform`."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from atnmf_core import factorize, read_dataset, rmse, transform
from atnmf_core.datasets.files.scene_file import open_scene
from atnmf_core.model.problem import InputError
from atnmf_core.restoration.scenes import fit_scene
from atnmf_core.restoration.scenes.scene_model import sample_size, two_samples
from tests.scenes import BANDS, COLS, ROWS, Damaged, damaged_scene, write_envi, write_geotiff

MODELS: list[dict[str, Any]] = [
    {"K": 4},
    {"K": 4, "method": "atnmf", "lam": 1.2},
    {"K": 3, "method": "atnmf", "lam": 1.1, "leash": 0.5},
]


@pytest.fixture(scope="module")
def scene() -> Damaged:
    """One pixel has no entry at all."""
    scene = damaged_scene()
    scene.cube[7, 9] = np.nan
    return scene


@pytest.fixture
def path(scene: Damaged, tmp_path: Path) -> Path:
    np.save(tmp_path / "scene.npy", scene.cube)
    return tmp_path / "scene.npy"


def as_matrix(cube: np.ndarray) -> np.ndarray:
    return cube.reshape(-1, cube.shape[2]).T


@pytest.mark.parametrize("model", MODELS, ids=["nmf", "atnmf", "leash"])
@pytest.mark.parametrize("entries", [1200, 10**9])
def test_H_is_that_of_the_whole_for_the_same_W(
    scene: Damaged, path: Path, model: dict[str, Any], entries: int
) -> None:
    done = fit_scene(path, path.with_name("H.npy"), **model, block_entries=entries, n_jobs=1)

    lam, leash = model.get("lam"), model.get("leash")
    H = transform(as_matrix(scene.cube), done.W, lam=lam, leash=leash)
    np.testing.assert_allclose(as_matrix(done.H), H, rtol=1e-5, atol=1e-6)
    assert np.isnan(done.H[7, 9]).all()
    assert np.isnan(done.H).sum() == model["K"]
    V_hat, seen = done.W @ np.nan_to_num(H), ~np.isnan(as_matrix(scene.cube))
    assert done.rmse == pytest.approx(rmse(as_matrix(scene.cube), V_hat, seen), rel=1e-5)


@pytest.mark.parametrize("model", MODELS, ids=["nmf", "atnmf", "leash"])
def test_the_error_is_that_of_a_fit_in_memory(scene: Damaged, path: Path, model: dict[str, Any]) -> None:
    done = fit_scene(path, path.with_name("H.npy"), **model, n_jobs=1)
    whole = factorize(as_matrix(scene.cube), **model)

    sound = as_matrix(~scene.wrong & ~scene.missing & ~np.isnan(scene.cube))
    V_hat = done.W @ as_matrix(np.nan_to_num(done.H))
    by_blocks, in_memory = (rmse(as_matrix(scene.sound), V, sound) for V in (V_hat, whole.V_hat))
    assert by_blocks < 1.05 * in_memory


def test_the_files_are_W_and_H(path: Path) -> None:
    done = fit_scene(path, path.with_name("H.npy"), K=4, n_jobs=1)

    assert {file.name for file in path.parent.iterdir()} == {"scene.npy", "H.npy", "H-W.npy"}
    assert done.files == (path.with_name("H.npy"), path.with_name("H-W.npy"))
    np.testing.assert_array_equal(np.load(path.with_name("H.npy")), done.H)
    np.testing.assert_array_equal(np.load(path.with_name("H-W.npy")), done.W)
    assert done.H.shape == (ROWS, COLS, 4)
    assert done.W.shape == (BANDS, 4)


@pytest.mark.parametrize("write", [write_envi, write_geotiff])
def test_envi_maps_lie_where_the_scene_lies(tmp_path: Path, write: Any) -> None:
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


def test_a_material_that_the_sample_misses_is_named(
    scene: Damaged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_pixels_outside_of_the_sample_that_it_is_unlike_are_learned_from(
    scene: Damaged, tmp_path: Path
) -> None:
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


def test_W_does_not_replace_the_scene(path: Path) -> None:
    source = path.rename(path.with_name("H-W.npy"))

    with pytest.raises(InputError, match="replace"):
        fit_scene(source, path.with_name("H.npy"), K=4, n_jobs=1)


def test_a_disk_that_is_too_full_is_told_before(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 1000}))

    with pytest.raises(InputError, match="disk space"):
        fit_scene(path, path.with_name("H.npy"), K=4)


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
def test_what_cannot_be_done_is_refused(path: Path, name: str, options: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        fit_scene(path, path.with_name(name), **{"K": 4, **options}, n_jobs=1)
    assert [file.name for file in path.parent.iterdir()] == ["scene.npy"]
