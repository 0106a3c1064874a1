"""`restore` makes a damaged file whole, in its own format, and leaves everything else in it alone."""

import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import spectral.io.envi

from atnmf_core import read_dataset, restore
from atnmf_core.__main__ import main
from atnmf_core.commands.arguments import numbers_of_parts
from atnmf_core.commands.restored_files import write_restored
from atnmf_core.datasets import ReadingOptions
from atnmf_core.recipe import RestoreRecipe

ROWS, COLS, BANDS = 8, 9, 20
QUICK = ["--K", "2", "--lam", "1.1"]


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    """A cube of two materials with 5 % dark entries and a gap, which NaN marks."""
    rng = np.random.default_rng(0)
    cube = ((rng.random((ROWS * COLS, 2)) + 0.2) @ (rng.random((2, BANDS)) + 0.1)).reshape(ROWS, COLS, BANDS)
    cube *= rng.normal(1, 0.01, cube.shape)
    dark = rng.random(cube.shape) < 0.05
    cube[dark] *= 0.2
    cube[2, 3, 4:7] = np.nan
    np.save(tmp_path / "scene.npy", cube.astype(np.float32))
    np.save(tmp_path / "dark.npy", dark)
    return tmp_path / "scene.npy"


def test_marked_gaps_are_filled_and_nothing_else_changes(scene: Path) -> None:
    out = scene.with_name("restored.npy")

    assert main(["restore", str(scene), "--out", str(out), *QUICK]) == 0

    before, after = np.load(scene), np.load(out)
    measured = ~np.isnan(before)
    np.testing.assert_array_equal(after[measured], before[measured])
    assert np.isfinite(after[~measured]).all()
    assert after.dtype == before.dtype


def test_it_writes_what_the_python_call_gives(scene: Path) -> None:
    expected = restore(read_dataset(scene), losses="unmarked", K=2, lam=1.1, seed=3)
    out, defects, deviation = (scene.with_name(name) for name in ("out.npy", "defects.npy", "deviation.npy"))

    words = ["restore", str(scene), "--out", str(out), "--unmarked", *QUICK, "--seed", "3"]
    assert main([*words, "--defects", str(defects), "--deviation", str(deviation)]) == 0

    np.testing.assert_array_equal(read_dataset(out).V, expected.V.astype(np.float32))
    np.testing.assert_array_equal(np.load(defects).reshape(-1, BANDS).T, as_rows(scene, expected.defects))
    np.testing.assert_array_equal(np.load(deviation).reshape(-1, BANDS).T, as_rows(scene, expected.deviation))
    found, dark = np.load(defects), np.load(scene.with_name("dark.npy"))
    assert (found & dark).sum() > 0.9 * dark.sum()


@pytest.mark.parametrize("suffix", [".hdr", ".mat", ".npz"])
def test_the_defects_of_a_cube_open_in_other_tools(scene: Path, suffix: str) -> None:
    words = ["restore", str(scene), "--out", str(scene.with_name("o.npy")), "--unmarked", *QUICK, "--defects"]
    assert main([*words, str(scene.with_name("d.npy"))]) == 0
    assert main([*words, str(scene.with_name(f"d{suffix}"))]) == 0

    again = read_dataset(scene.with_name(f"d{suffix}"))
    np.testing.assert_array_equal(again.images().transpose(1, 2, 0), np.load(scene.with_name("d.npy")))


def test_k_is_chosen_from_what_is_given(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, report = scene.with_name("out.npy"), scene.with_name("report.html")
    words = ["restore", str(scene), "--out", str(out), "--unmarked", "--K", "1:3", "--lam", "1.1"]

    assert main([*words, "--jobs", "1", "--report", str(report)]) == 0

    assert "K = 2" in capsys.readouterr().out
    page = report.read_text("utf-8")
    assert "2, chosen" in page
    assert "λ = 1.1, given" in page


def test_a_bundled_data_set_is_written_for_other_commands(tmp_path: Path) -> None:
    out = tmp_path / "restored.npz"

    assert main(["restore", "synthetic", "--out", str(out), "--unmarked", *QUICK]) == 0

    assert main(["fit", "--data", str(out), "--K", "2"]) == 0
    assert main(["restore", str(out), "--out", str(tmp_path / "again.npz"), *QUICK]) == 0


def test_what_is_lost_stays_as_it_was_in_a_format_without_a_value_for_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = tmp_path / "whole.npy", tmp_path / "out.npy"
    values = np.arange(12, dtype=np.uint16).reshape(3, 4)
    np.save(source, values)
    data = read_dataset(source, kind="matrix")
    restored = restore(data, K=1, lam=2.0)
    V = np.array(data.V)
    V[0, 1], V[2, 3] = np.nan, 40

    write_restored(str(source), data, replace(restored, V=V), out, own_format=True, kind="matrix")

    values[2, 3] = 40
    np.testing.assert_array_equal(np.load(out), values)
    assert "1 entry looks wrong and cannot be restored" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (["--out", "scene.npy"], 2, "would replace the file that is read"),
        (["--out", "out.mat"], 2, "choose a name with .npy"),
        (["--out", "out.npy", "--defects", "d.npy"], 2, "only with --unmarked"),
        (["--out", "out.npy", "--deviation", "d.tif"], 2, "choose a name that ends with .npy"),
        (["--out", "out.npy", "--leash", "0.5"], 2, "give lam too"),
        (["--out", "out.npy", "--unmarked", "--keep-suspects"], 2, "give lam too"),
        (["--out", "out.npy", "--lam", "inf", "--keep-suspects", "--blocks"], 2, "not for a scene"),
        (["--out", "out.npy", "--bands-axis", "7"], 1, "no axis 7"),
    ],
)
def test_what_cannot_be_done_is_refused_before_the_work(
    scene: Path,
    words: list[str],
    status: int,
    told: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(scene.parent)
    before = {path: path.read_bytes() for path in scene.parent.iterdir()}

    assert main(["restore", "scene.npy", *words]) == status

    assert told in capsys.readouterr().err
    assert {path: path.read_bytes() for path in scene.parent.iterdir()} == before


@pytest.mark.parametrize("text", ["0", "x", "5:3", "1:2:3", "4,,8", "1:3,5", "-2"])
def test_a_wrong_number_of_parts_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["restore", "synthetic", "--out", "out.npz", f"--K={text}"])

    assert "is not a number of parts" in capsys.readouterr().err


def test_ctrl_c_uses_the_best_model_so_far(scene: Path) -> None:
    out = scene.with_name("out.npy")
    words = ["restore", str(scene), "--out", str(out), "--unmarked", "--jobs", "1", "--progress"]
    run = subprocess.Popen(
        [sys.executable, "-m", "atnmf_core", *words],
        cwd=Path(__file__).parents[2],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert run.stderr is not None
    while not re.search(r"[1-9]\d*/\d+ ", run.stderr.readline()):
        assert run.poll() is None
    run.send_signal(signal.SIGINT)
    printed, told = run.communicate(timeout=120)

    assert run.returncode == 130, told
    assert "the best model so far is used" in told
    assert "Written" in printed
    assert np.isfinite(np.load(out)).all()


@pytest.mark.parametrize(("lam", "leash", "keep"), [(1.1, 0.5, False), (np.inf, None, True)])
def test_a_recipe_in_both_languages_makes_the_same_file(
    scene: Path, lam: float, leash: float | None, keep: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(scene.parent)
    options = ReadingOptions(nodata=-9999.0)
    recipe = RestoreRecipe("scene.npy", "unmarked", 2, lam, leash, 3, options, keep_suspects=keep)

    command = recipe.command_line("by_command.npy")
    assert command.startswith("python -m atnmf_core restore scene.npy --out by_command.npy --unmarked --K 2")
    assert main(re.split(r"\s+", command)[3:]) == 0
    exec(recipe.python("by_python.npy"), {})

    assert Path("by_command.npy").read_bytes() == Path("by_python.npy").read_bytes()


def test_a_recipe_at_another_threshold_replaces_only_those_suspects(
    scene: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(scene.parent)
    recipe = RestoreRecipe("scene.npy", "unmarked", 2, 1.1, threshold=0.7, side="bright")

    exec(recipe.python("out.npy"), {})

    data = read_dataset("scene.npy")
    restored = restore(data, losses="unmarked", K=2, lam=1.1)
    replaced = (restored.suspicion >= 0.7) & (restored.fit.V_hat < data.V) | ~data.observed
    changed = read_dataset("out.npy").V != data.V
    assert np.array_equal(changed, replaced)
    assert not (changed & restored.defects).all()
    assert recipe.command_line("out.npy") == ""


def test_an_envi_cube_keeps_its_header(scene: Path) -> None:
    header = scene.with_name("scene.hdr")
    entries = {"wavelength": np.linspace(400, 900, BANDS).tolist(), "sensor type": "made up"}
    spectral.io.envi.save_image(str(header), np.load(scene), dtype="f4", ext="img", metadata=entries)

    assert main(["restore", str(header), "--out", str(scene.with_name("out.hdr")), *QUICK]) == 0

    assert scene.with_name("out.hdr").read_bytes() == header.read_bytes()
    restored = spectral.io.envi.open(str(scene.with_name("out.hdr"))).open_memmap()
    np.testing.assert_array_equal(restored[0], np.load(scene)[0])
    assert not np.isnan(restored).any()


def test_several_parts_are_written_as_people_write_them() -> None:
    assert numbers_of_parts("3:5") == numbers_of_parts("3,4,5") == (3, 4, 5)


def as_rows(source: Path, matrix: np.ndarray) -> np.ndarray:
    """A matrix like V with its pixels row by row."""
    return read_dataset(source).images(matrix).reshape(BANDS, -1)
