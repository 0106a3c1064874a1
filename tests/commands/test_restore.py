"""`restore` makes a damaged file whole in its own format, in memory or block by block; so does `fit`."""

import errno
import re
import signal
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import rasterio
import spectral.io.envi
from PIL import Image

from atnmf_core import read_dataset, restore
from atnmf_core.__main__ import main
from atnmf_core.commands.arguments import numbers_of_parts
from atnmf_core.commands.restore import write_restored
from atnmf_core.datasets import ReadingOptions
from atnmf_core.recipe import RestoreRecipe
from atnmf_core.restoration.scenes import fit_scene
from tests.scenes import damaged_scene, write_geotiff
from tests.sweep.processes import started

ROWS, COLS, BANDS = 8, 9, 20
QUICK = ["--K", "2", "--lam", "1.1"]
MODEL = ["--unmarked", "--K", "4", "--lam", "1.1", "--jobs", "1"]
BY_BLOCKS = ["--blocks", *MODEL]


@pytest.fixture
def scene(tmp_path):
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


def test_marked_gaps_are_filled_and_nothing_else_changes(scene):
    out = scene.with_name("restored.npy")

    assert main(["restore", str(scene), "--out", str(out), *QUICK]) == 0

    before, after = np.load(scene), np.load(out)
    measured = ~np.isnan(before)
    np.testing.assert_array_equal(after[measured], before[measured])
    assert np.isfinite(after[~measured]).all()
    assert after.dtype == before.dtype


def test_the_result_has_the_format_of_its_source_or_one_for_other_commands(scene):
    header = scene.with_name("scene.hdr")
    entries = {"wavelength": np.linspace(400, 900, BANDS).tolist(), "sensor type": "made up"}
    spectral.io.envi.save_image(str(header), np.load(scene), dtype="f4", ext="img", metadata=entries)
    assert main(["restore", str(header), "--out", str(scene.with_name("out.hdr")), *QUICK]) == 0
    assert scene.with_name("out.hdr").read_bytes() == header.read_bytes()
    restored = spectral.io.envi.open(str(scene.with_name("out.hdr"))).open_memmap()
    np.testing.assert_array_equal(restored[0], np.load(scene)[0])
    assert not np.isnan(restored).any()

    out = str(scene.with_name("restored.npz"))
    assert main(["restore", "synthetic", "--out", out, "--unmarked", *QUICK]) == 0
    assert main(["fit", "--data", out, "--K", "2"]) == 0
    assert main(["restore", out, "--out", str(scene.with_name("again.npz")), *QUICK]) == 0


def test_it_writes_what_the_python_call_gives(scene, capsys):
    expected = restore(read_dataset(scene), losses="unmarked", K=2, lam=1.1, seed=3)
    out, defects, deviation = (scene.with_name(name) for name in ("out.npy", "defects.npy", "deviation.npy"))

    words = ["restore", str(scene), "--out", str(out), "--unmarked", *QUICK, "--seed", "3"]
    assert main([*words, "--defects", str(defects), "--deviation", str(deviation)]) == 0

    np.testing.assert_array_equal(read_dataset(out).V, expected.V.astype(np.float32))
    np.testing.assert_array_equal(np.load(defects).reshape(-1, BANDS).T, as_rows(scene, expected.defects))
    np.testing.assert_array_equal(np.load(deviation).reshape(-1, BANDS).T, as_rows(scene, expected.deviation))
    told = f"Typical error of what was replaced: ±{expected.expected_error:#.3g}, "
    assert f"{expected.summary} {told}" in capsys.readouterr().out
    found, dark = np.load(defects), np.load(scene.with_name("dark.npy"))
    assert (found & dark).sum() > 0.9 * dark.sum()


@pytest.mark.parametrize("suffix", [".hdr", ".mat", ".npz"])
def test_the_defects_of_a_cube_open_in_other_tools(scene, suffix):
    words = ["restore", str(scene), "--out", str(scene.with_name("o.npy")), "--unmarked", *QUICK, "--defects"]
    assert main([*words, str(scene.with_name("d.npy"))]) == 0
    assert main([*words, str(scene.with_name(f"d{suffix}"))]) == 0

    again = read_dataset(scene.with_name(f"d{suffix}"))
    np.testing.assert_array_equal(again.images().transpose(1, 2, 0), np.load(scene.with_name("d.npy")))


def test_k_is_chosen_from_what_is_given(scene, capsys):
    out, report = scene.with_name("out.npy"), scene.with_name("report.html")
    words = ["restore", str(scene), "--out", str(out), "--unmarked", "--K", "1:3", "--lam", "1.1"]

    assert main([*words, "--report", str(report)]) == 0

    K = re.match(r"K = (\d)", capsys.readouterr().out).group(1)
    page = report.read_text("utf-8")
    assert f"{K}, chosen" in page
    assert "λ = 1.1, given" in page


def test_what_is_lost_stays_as_it_was_in_a_format_without_a_value_for_it(tmp_path, capsys):
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


def test_the_other_files_are_written_when_the_data_cannot_be(tmp_path, capsys):
    """The numbers of a palette stand for colours, so there is no way back to them."""
    source, out, report = tmp_path / "map.tif", tmp_path / "out.tif", tmp_path / "report.html"
    numbers = np.random.default_rng(0).integers(1, 200, (12, 15), dtype=np.uint8)
    picture = Image.fromarray(numbers).convert("P", palette=Image.Palette.ADAPTIVE)
    picture.save(source)

    words = ["restore", str(source), "--out", str(out), "--unmarked", *QUICK]
    assert main([*words, "--report", str(report), "--defects", str(tmp_path / "d.npy")]) == 1

    printed = capsys.readouterr()
    assert "map.tif cannot be written: its numbers stand for colours" in printed.err
    assert f"Written: {tmp_path / 'd.npy'}, {report}" in printed.out
    assert not out.exists()


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (["scene.npy", "--out", "scene.npy"], 2, "would replace the file that is read"),
        (["scene.npy", "--out", "out.mat"], 2, "choose a name with .npy"),
        (["scene.npy", "--out", "o.npy", "--defects", "d.npy"], 2, "only with --unmarked"),
        (["scene.npy", "--out", "o.npy", "--deviation", "d.tif"], 2, "choose a name that ends with .npy"),
        (["scene.npy", "--out", "o.npy", "--leash", "0.5"], 2, "give lam too"),
        (["scene.npy", "--out", "o.npy", "--jobs", "2"], 2, "is one process"),
        (["scene.npy", "--out", "o.npy", "--denoise", "--fill", "scene.npy"], 2, "give one of them"),
        (["scene.npy", "--out", "o.npy", "--bands-axis", "7"], 1, "no axis 7"),
        (["scene.npy", "--out", "o.npy", *BY_BLOCKS, "--deviation", "d.npy"], 2, "--deviation"),
        (["scene.npy", "--out", "o.npy", *BY_BLOCKS, "--defects", "d.hdr"], 2, ".npy"),
        (["table.csv", "--out", "o.csv", *BY_BLOCKS], 1, "in parts"),
    ],
)
def test_what_cannot_be_done_is_refused_before_the_work(scene, words, status, told, capsys, monkeypatch):
    monkeypatch.chdir(scene.parent)
    np.savetxt("table.csv", np.ones((4, 5)), delimiter=",")
    before = {path: path.read_bytes() for path in scene.parent.iterdir()}

    assert main(["restore", *words]) == status

    assert told in capsys.readouterr().err
    assert {path: path.read_bytes() for path in scene.parent.iterdir()} == before


@pytest.mark.parametrize("text", ["0", "x", "5:3", "1:2:3", "4,,8", "1:3,5", "-2"])
def test_several_parts_are_written_as_people_write_them_and_a_wrong_number_is_refused(text, capsys):
    assert numbers_of_parts("3:5") == numbers_of_parts("3,4,5") == (3, 4, 5)

    with pytest.raises(SystemExit, match="2"):
        main(["restore", "synthetic", "--out", "out.npz", f"--K={text}"])

    assert "is not a number of parts" in capsys.readouterr().err


def test_ctrl_c_uses_the_best_model_so_far(scene):
    out = scene.with_name("out.npy")
    np.save(scene, np.tile(np.load(scene), (8, 8, 3)))
    words = ["restore", str(scene), "--out", str(out), "--unmarked", "--progress"]
    with started(*words, folder=scene.parent) as run:
        while not re.search(r"[1-9]\d*/\d+ ", run.stderr.readline()):
            assert run.poll() is None
        run.send_signal(signal.SIGINT)
        printed, told = run.communicate(timeout=120)

    assert run.returncode == 130, told
    assert "the best model so far is used" in told
    assert "Written" in printed
    # How good the best model was depends on the moment: a coarse one leaves some entries untold.
    assert np.isfinite(np.load(out)).mean() > 0.99


@pytest.mark.parametrize(("lam", "leash", "denoise"), [(1.1, 0.5, False), (np.inf, None, True)])
def test_a_recipe_in_both_languages_makes_the_same_file(scene, lam, leash, denoise, monkeypatch):
    monkeypatch.chdir(scene.parent)
    options = ReadingOptions(nodata=-9999.0)
    recipe = RestoreRecipe("scene.npy", "unmarked", 2, lam, leash, 3, options, denoise=denoise)

    command = recipe.command_line("by_command.npy")
    assert command.startswith("python -m atnmf_core restore scene.npy --out by_command.npy --unmarked --K 2")
    assert main(re.split(r"\s+", command)[3:]) == 0
    exec(recipe.python("by_python.npy"), {})

    assert Path("by_command.npy").read_bytes() == Path("by_python.npy").read_bytes()


def test_a_mask_says_what_is_filled_and_all_else_is_left_alone(scene, capsys):
    """The gap is not named, so it stays; of the dark entries only those that are named are replaced."""
    out, mask = scene.with_name("out.npy"), scene.with_name("mask.npy")
    before, dark = np.load(scene), np.load(scene.with_name("dark.npy"))
    named = dark & (np.arange(ROWS)[:, None, None] < 4)
    np.save(mask, named.astype(np.uint8))

    assert main(["restore", str(scene), "--out", str(out), "--fill", str(mask), *QUICK]) == 0

    after = np.load(out)
    np.testing.assert_array_equal(after[~named], before[~named])
    assert f"{named.sum():,} entries of the mask were replaced." in capsys.readouterr().out
    assert (after[named] > 2 * before[named]).mean() > 0.9


def test_stripes_are_written_to_a_file_of_their_own_and_negative_values_come_back(tmp_path):
    rng = np.random.default_rng(0)
    cube = (rng.random((20, 20, 2)) @ rng.random((2, 24))) + rng.normal(0, 0.002, (20, 20, 24)) + 0.1
    cube[:, 7, 3] += 0.03
    cube[4, 4, 4] = cube[9, 9, 9] = -0.001
    np.save(tmp_path / "cube.npy", cube)
    out, offsets = tmp_path / "out.npy", tmp_path / "offsets.npy"

    words = ["restore", str(tmp_path / "cube.npy"), "--out", str(out), "--unmarked", "--negative", "keep"]
    assert main([*words, "--offsets", str(offsets), "--defects", str(tmp_path / "d.npy"), *QUICK]) == 0

    found, after, wrong = np.load(offsets), np.load(out), np.load(tmp_path / "d.npy") != 0
    assert np.argwhere(found.any(axis=0)).tolist() == [[7, 3]]
    assert found[0, 7, 3] == pytest.approx(0.03, abs=0.003)
    np.testing.assert_allclose(after[~wrong], (cube - found)[~wrong], atol=1e-6)


def test_what_a_mask_calls_wrong_is_predicted(scene):
    mask, out = scene.with_name("wrong.npy"), scene.with_name("out.npy")
    cube = np.load(scene)
    wrong = np.zeros(cube.shape, bool)
    wrong[2:4, 3:5, :3] = True
    np.save(mask, wrong)
    np.save(scene, np.where(wrong, 99.0, cube))

    assert main(["restore", str(scene), "--out", str(out), "--missing", str(mask), *QUICK]) == 0

    restored, measured = np.load(out), ~wrong & ~np.isnan(cube)
    assert restored[wrong].max() < 50
    np.testing.assert_array_equal(restored[measured], cube[measured])


def test_a_recipe_at_another_threshold_replaces_only_those_suspects(scene, monkeypatch):
    monkeypatch.chdir(scene.parent)
    recipe = RestoreRecipe("scene.npy", "unmarked", 2, 1.1, threshold=0.7, side="bright")

    exec(recipe.python("out.npy"), {})

    data = read_dataset("scene.npy")
    restored = restore(data, losses="unmarked", K=2, lam=1.1)
    replaced = (restored.suspicion >= 0.7) & (restored.denoised <= data.V) | ~data.observed
    changed = read_dataset("out.npy").V != data.V
    assert np.array_equal(changed, replaced)
    assert not (changed & restored.defects).all()
    assert recipe.command_line("out.npy") == ""


def as_rows(source: Path, matrix: np.ndarray) -> np.ndarray:
    """A matrix like V with its pixels row by row."""
    return read_dataset(source).images(matrix).reshape(BANDS, -1)


BLOCKS = "elsewhere"
"""Only a restoration by blocks compares its sample with pixels elsewhere."""


@pytest.fixture
def large_scene(tmp_path):
    np.save(tmp_path / "large_scene.npy", damaged_scene(40, 40, 12).cube)
    return tmp_path / "large_scene.npy"


@pytest.mark.parametrize("too_much", ["entries", "memory"])
def test_a_file_that_is_too_large_is_restored_and_fitted_by_blocks(
    large_scene, too_much, monkeypatch, capsys
):
    words = ["restore", str(large_scene), "--out", str(large_scene.with_name("out.npy")), *MODEL]
    monkeypatch.setattr("atnmf_core.commands.by_blocks.SMALL", 0)
    assert main(words[: words.index("--jobs")]) == 0
    assert BLOCKS not in capsys.readouterr().out

    if too_much == "entries":
        monkeypatch.setenv("ATNMF_MAX_ENTRIES", "10000")
    else:
        monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=1 << 20))

    assert main(words) == 0
    assert BLOCKS in capsys.readouterr().out
    if too_much == "entries":
        assert fit(large_scene, "--jobs", "1", "--out", str(large_scene.with_name("H.npy"))) == 0
        assert np.load(large_scene.with_name("H.npy")).shape == (40, 40, 4)


@pytest.mark.parametrize("disks", [1, 2])
def test_a_mask_of_the_defects_is_written_too_even_to_another_disk(large_scene, monkeypatch, disks):
    move = Path.replace

    def move_on_one_disk(part, place):
        if part.parent != place.parent:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        return move(part, place)

    if disks == 2:
        monkeypatch.setattr(Path, "replace", move_on_one_disk)
    folder = large_scene.parent
    out, defects = folder / "out.npy", folder / "elsewhere" / "defects.npy"
    defects.parent.mkdir()

    words = ["restore", str(large_scene), "--out", str(out), *BY_BLOCKS, "--defects", str(defects)]
    assert main(words) == 0

    before, after, wrong = (np.load(file) for file in (large_scene, out, defects))
    observed = ~np.isnan(before)
    assert np.array_equal((before != after)[observed], wrong[observed].astype(bool))
    assert {file.name for file in folder.iterdir()} == {large_scene.name, "out.npy", "elsewhere"}
    assert [file.name for file in defects.parent.iterdir()] == ["defects.npy"]


def test_the_report_shows_the_scene_and_how_the_model_was_chosen(large_scene, capsys):
    out, report = large_scene.with_name("out.npy"), large_scene.with_name("report.html")

    words = [
        "restore",
        str(large_scene),
        "--out",
        str(out),
        *BY_BLOCKS,
        "--K",
        "3,4",
        "--report",
        str(report),
    ]
    assert main(words) == 0

    page, said = report.read_text("utf-8"), capsys.readouterr().out
    assert page.count("<img") == 3
    assert "How it was chosen" in page
    assert "40 x 40 pixels, 12 bands" in page
    assert "--lam 1.1" in page
    assert said.split(". ")[0] in page
    assert str(report) in said


def test_a_geotiff_stays_one(tmp_path):
    large_scene = damaged_scene(40, 40, 12)
    write_geotiff(large_scene.cube, tmp_path / "large_scene.tif")
    out = tmp_path / "out.tif"

    assert main(["restore", str(tmp_path / "large_scene.tif"), "--out", str(out), *BY_BLOCKS]) == 0

    with rasterio.open(out) as file, rasterio.open(tmp_path / "large_scene.tif") as source:
        assert file.profile == source.profile
        assert file.tags() == source.tags()
        error = file.read().transpose(1, 2, 0) - large_scene.sound
    assert np.sqrt((error**2).mean()) < 0.01


def fit(large_scene: Path, *words: str) -> int:
    return main(["fit", "--data", str(large_scene), "--K", "4", *words])


def test_a_fit_by_blocks_is_that_of_the_python_call(large_scene, capsys):
    done = fit_scene(large_scene, large_scene.with_name("python.npy"), K=4, method="atnmf", lam=1.2, n_jobs=1)

    words = ("--method", "atnmf", "--lam", "1.2", "--blocks", "--jobs", "1")
    assert fit(large_scene, *words, "--out", str(large_scene.with_name("H.npy"))) == 0

    assert done.summary in capsys.readouterr().out
    for one in ("", "-W"):
        ours, python = (np.load(large_scene.with_name(f"{name}{one}.npy")) for name in ("H", "python"))
        assert np.array_equal(ours, python)


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
def test_options_of_a_fit_that_cannot_be_meant_are_refused(large_scene, words, why, capsys, monkeypatch):
    monkeypatch.chdir(large_scene.parent)

    assert fit(large_scene, *words) == 2

    assert why in capsys.readouterr().err
    assert [file.name for file in large_scene.parent.iterdir()] == [large_scene.name]
