"""`restore` and `fit` of files that are too large for memory go block by block."""

from pathlib import Path

import numpy as np
import pytest

from atnmf_core.__main__ import main
from atnmf_core.restoration.scenes import fit_scene
from tests.scenes import damaged_scene, write_geotiff

MODEL = ("--unmarked", "--K", "4", "--lam", "1.1", "--jobs", "1")
BLOCKS = "elsewhere"
"""Only a restoration by blocks compares its sample with pixels elsewhere."""


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    np.save(tmp_path / "scene.npy", damaged_scene(40, 40, 12).cube)
    return tmp_path / "scene.npy"


def test_a_file_above_the_limit_on_entries_is_restored_by_blocks(
    scene: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["restore", str(scene), "--out", str(scene.with_name("out.npy")), *MODEL]
    monkeypatch.setattr("atnmf_core.commands.by_blocks.SMALL", 0)
    assert main(words) == 0
    assert BLOCKS not in capsys.readouterr().out

    monkeypatch.setenv("ATNMF_MAX_ENTRIES", "10000")

    assert main(words) == 0
    assert BLOCKS in capsys.readouterr().out


def test_a_file_that_needs_more_memory_than_is_free_is_restored_by_blocks(
    scene: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("atnmf_core.commands.by_blocks.SMALL", 0)
    monkeypatch.setattr("psutil.virtual_memory", lambda: type("Memory", (), {"available": 1 << 20}))

    assert main(["restore", str(scene), "--out", str(scene.with_name("out.npy")), *MODEL]) == 0

    assert BLOCKS in capsys.readouterr().out


def test_a_mask_of_the_defects_is_written_too(scene: Path) -> None:
    out, defects = scene.with_name("out.npy"), scene.with_name("defects.npy")

    words = ["restore", str(scene), "--out", str(out), "--blocks", *MODEL, "--defects", str(defects)]
    assert main(words) == 0

    before, after, wrong = (np.load(file) for file in (scene, out, defects))
    observed = ~np.isnan(before)
    assert np.array_equal((before != after)[observed], wrong[observed].astype(bool))


def test_the_report_shows_the_scene_and_how_the_model_was_chosen(
    scene: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, report = scene.with_name("out.npy"), scene.with_name("report.html")

    words = ["restore", str(scene), "--out", str(out), "--blocks", "--unmarked", "--K", "3,4", "--lam", "1.1"]
    assert main([*words, "--jobs", "1", "--report", str(report)]) == 0

    page, said = report.read_text("utf-8"), capsys.readouterr().out
    assert page.count("<img") == 3
    assert "How it was chosen" in page
    assert "40 x 40 pixels, 12 bands" in page
    assert "--lam 1.1" in page
    assert said.split(". ")[0] in page
    assert str(report) in said


def test_a_geotiff_stays_one(tmp_path: Path) -> None:
    scene = damaged_scene(40, 40, 12)
    write_geotiff(scene.cube, tmp_path / "scene.tif")
    out = tmp_path / "out.tif"

    assert main(["restore", str(tmp_path / "scene.tif"), "--out", str(out), "--blocks", *MODEL]) == 0

    import rasterio

    with rasterio.open(out) as file, rasterio.open(tmp_path / "scene.tif") as source:
        assert file.profile == source.profile
        assert file.tags() == source.tags()
        error = file.read().transpose(1, 2, 0) - scene.sound
    assert np.sqrt((error**2).mean()) < 0.01


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--deviation", "d.npy"), "--deviation"),
        (("--defects", "d.hdr"), ".npy"),
    ],
)
def test_what_needs_all_of_a_scene_at_once_is_refused(
    scene: Path, words: tuple[str, ...], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(scene.with_name("out.npy"))

    assert main(["restore", str(scene), "--out", out, "--blocks", *MODEL, *words]) == 2

    assert why in capsys.readouterr().err


def test_a_format_that_cannot_be_read_in_parts_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savetxt(tmp_path / "table.csv", np.ones((4, 5)), delimiter=",")

    words = ["restore", str(tmp_path / "table.csv"), "--out", str(tmp_path / "out.csv"), "--blocks", *MODEL]
    assert main(words) == 1

    assert "in parts" in capsys.readouterr().err


def fit(scene: Path, *words: str) -> int:
    return main(["fit", "--data", str(scene), "--K", "4", *words])


def test_a_fit_by_blocks_is_that_of_the_python_call(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = fit_scene(scene, scene.with_name("python.npy"), K=4, method="atnmf", lam=1.2, n_jobs=1)

    words = ("--method", "atnmf", "--lam", "1.2", "--blocks", "--jobs", "1")
    assert fit(scene, *words, "--out", str(scene.with_name("H.npy"))) == 0

    assert done.summary in capsys.readouterr().out
    for one in ("", "-W"):
        ours, python = (np.load(scene.with_name(f"{name}{one}.npy")) for name in ("H", "python"))
        assert np.array_equal(ours, python)


def test_a_file_above_the_limit_on_entries_is_fitted_by_blocks(
    scene: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("atnmf_core.commands.by_blocks.SMALL", 0)
    monkeypatch.setenv("ATNMF_MAX_ENTRIES", "10000")

    assert fit(scene, "--jobs", "1", "--out", str(scene.with_name("H.npy"))) == 0

    assert np.load(scene.with_name("H.npy")).shape == (40, 40, 4)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--blocks",), "--out FILE.npy"),
        (("--blocks", "--out", "H.npz"), ".npy"),
        (("--blocks", "--out", "H.npy", "--alpha", "0.5"), "leave --alpha out"),
        (("--blocks", "--out", "H.npy", "--png", "H.png"), "leave --png out"),
        (("--jobs", "2"), "leave --jobs out"),
    ],
)
def test_options_of_a_fit_that_cannot_be_meant_are_refused(
    scene: Path,
    words: tuple[str, ...],
    why: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(scene.parent)

    assert fit(scene, *words) == 2

    assert why in capsys.readouterr().err
    assert [file.name for file in scene.parent.iterdir()] == [scene.name]
