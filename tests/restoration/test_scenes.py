"""Scenes that are restored block by block: as good as in memory, however cut, killed or distributed."""

import json
import os
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import h5py
import numpy as np
import pytest

from atnmf_core import restore, rmse
from atnmf_core.__main__ import main
from atnmf_core.datasets.files.scene_file import open_scene
from atnmf_core.jobs.processes import created
from atnmf_core.model.problem import InputError
from atnmf_core.restoration.scenes import SceneStatus, restore_scene, status_of
from atnmf_core.restoration.scenes.blockwise import Record
from atnmf_core.restoration.scenes.restoring import masks, refine_block, restore_block
from atnmf_core.restoration.scenes.scene_model import (
    LEAST_PIXELS,
    SceneModel,
    SceneSettings,
    learn,
    restore_pixels,
    two_samples,
)
from tests.scenes import damaged_scene, write_envi, write_hdf5
from tests.sweep.processes import kill_tree, started, wait_until

MODEL: dict[str, Any] = {"K": 4, "lam": 1.1}


@pytest.fixture(scope="module")
def scene():
    return damaged_scene()


def by_blocks(cube: np.ndarray, folder: Path, losses: str = "unmarked", **how: Any) -> tuple[np.ndarray, Any]:
    """What is restored in this process, and what is told of it."""
    path = folder / "scene.npy"
    # A scene that is written again is another one.
    if not path.exists():
        np.save(path, cube)
    done = restore_scene(path, folder / "out.npy", losses, n_jobs=1, **how)
    return np.load(folder / "out.npy"), done


@pytest.fixture(scope="module")
def restored(scene, tmp_path_factory):
    """In seven blocks."""
    folder = tmp_path_factory.mktemp("scene")
    found = by_blocks(scene.cube, folder, **MODEL, defects=folder / "defects.npy", block_entries=12_000)
    assert np.load(folder / "defects.npy").mean() == found[1].defects
    return found


def as_matrix(cube: np.ndarray) -> np.ndarray:
    return cube.reshape(-1, cube.shape[2]).T


def test_the_error_is_that_of_the_whole_in_memory_and_sound_entries_stay_as_they_are(scene, restored):
    in_memory = restore(as_matrix(scene.cube), "unmarked", **MODEL)
    predicted = as_matrix(scene.wrong | scene.missing)

    in_blocks, whole = (
        rmse(as_matrix(scene.sound), V, predicted & ~np.isnan(V))
        for V in (as_matrix(restored[0]), in_memory.V)
    )

    assert in_blocks < 1.1 * whole
    assert in_blocks < 0.1 * rmse(as_matrix(scene.sound), as_matrix(np.nan_to_num(scene.cube)), predicted)
    changed = (restored[0] != scene.cube) & ~scene.missing
    assert (changed & ~scene.wrong).mean() < 0.005
    assert changed[scene.wrong].mean() > 0.9
    assert not np.isnan(restored[0][scene.missing]).any()


@pytest.mark.parametrize("entries", [2400, 10**9])
def test_the_size_of_blocks_changes_nothing(scene, restored, tmp_path, entries):
    out, _ = by_blocks(scene.cube, tmp_path, **MODEL, block_entries=entries)

    np.testing.assert_allclose(out, restored[0], rtol=1e-5)
    assert {file.name for file in tmp_path.iterdir()} == {"scene.npy", "out.npy"}
    # A pixel does not depend on its neighbours.
    model, V = restored[1].model, as_matrix(scene.cube)[:, :300]
    together, alone = restore_pixels(V, model), restore_pixels(V[:, 123:124], model)
    np.testing.assert_allclose(alone.predicted[:, 0], together.predicted[:, 123], rtol=1e-5)
    assert np.array_equal(alone.defects[:, 0], together.defects[:, 123])


def test_marked_losses_change_nothing_that_was_measured(scene, tmp_path):
    cube = np.where(scene.missing, np.nan, scene.sound)

    out, _ = by_blocks(cube, tmp_path, "marked", K=4, lam=np.inf)

    assert np.array_equal(out[~scene.missing], cube[~scene.missing])
    assert rmse(as_matrix(scene.sound), as_matrix(out), as_matrix(scene.missing)) < 0.01


def test_pixels_with_large_gaps_are_predicted_with_the_help_of_pixels_like_them(scene, tmp_path):
    rng = np.random.default_rng(0)
    sound = scene.sound + 0.01 * rng.normal(size=scene.sound.shape).astype(np.float32).clip(0)
    model, V = model_of(sound, 4, tmp_path), as_matrix(sound)[:, :400]
    few = np.where(np.arange(len(V))[:, None] < 6, V, np.nan)

    span = model.ladder.rungs[-1].span
    units = span.basis * span.noise[:, None]
    rest = few[:6] / model.scale - span.mean[:6, None]
    alone = model.scale * (span.mean[:, None] + units @ np.linalg.lstsq(units[:6], rest, rcond=None)[0])

    error = rmse(V, restore_pixels(few, model).predicted, np.isnan(few))
    assert error < 0.7 * rmse(V, alone, np.isnan(few))
    # A model that was stored restores the same.
    record = Record(tmp_path / "out.npy", {}, 1)
    record.keep("model", **model.fields)
    again = SceneModel.from_fields(record.read("model"))
    for one, other in zip(
        *(vars(restore_pixels(few, made)).values() for made in (model, again)), strict=True
    ):
        assert np.array_equal(one, other, equal_nan=True)
    assert again.fields.keys() == model.fields.keys()


def model_of(cube: np.ndarray, K: int, folder: Path) -> SceneModel:
    np.save(folder / "learned.npy", cube)
    return learn(open_scene(folder / "learned.npy"), SceneSettings("marked", K, np.inf, None, 0))


@pytest.fixture(scope="module")
def striped(scene):
    """What is added to each image column in each band."""
    stripes = np.zeros(scene.cube.shape[1:], np.float32)
    stripes[7, 3], stripes[30, 11], stripes[31, 11] = 0.05, 0.2, -0.01
    return stripes


def test_salt_pepper_and_stripes_leave_the_error_that_they_leave_in_memory(scene, striped, tmp_path):
    chance = np.random.default_rng(5).random(scene.cube.shape)
    cube = np.where(chance < 0.02, 0, np.where(chance > 0.98, 1, (scene.cube + striped).clip(0)))
    cube = np.where(scene.missing, np.nan, cube).astype(np.float32)
    write_hdf5(cube, tmp_path / "scene.h5")

    done = restore_scene(tmp_path / "scene.h5", tmp_path / "out.h5", "unmarked", block_entries=5000, n_jobs=1)
    whole = restore(as_matrix(cube), "unmarked", kind="cube", image_shape=scene.cube.shape[:2], order="C")

    with h5py.File(tmp_path / "out.h5") as file:
        out = file["reflectance"][:]
    everywhere = np.ones(whole.V.shape, bool)
    errors = [rmse(as_matrix(scene.sound), V, everywhere) for V in (as_matrix(out), whole.V)]
    assert errors[0] < 1.1 * errors[1]
    assert "image column 8 in band 4" in done.summary
    np.testing.assert_allclose(done.model.offsets.T, striped, atol=0.002)
    assert done.predicted < 0.2
    # The blocks are of 16 x 16 pixels; whole rows give the same.
    assert np.quantile(np.abs(by_blocks(cube, tmp_path)[0] - out), 0.9999) < 1e-5


def test_a_material_that_the_sample_misses_is_found_and_named(scene, tmp_path, monkeypatch):
    monkeypatch.setattr("atnmf_core.restoration.scenes.scene_model.SAMPLE_ENTRIES", 1)
    cube = np.where(scene.missing, np.nan, scene.sound)
    sample, check = two_samples(cube.shape[:2], LEAST_PIXELS, seed=0)
    assert not set(zip(*sample, strict=True)) & set(zip(*check, strict=True))
    unseen = np.ones(cube.shape[:2], bool)
    unseen[sample] = unseen[check] = False
    rows, cols = np.nonzero(unseen & (np.arange(60) >= 40)[:, None])
    spectrum = np.where(np.arange(cube.shape[2]) % 2, 0.9, 0.1).astype(np.float32)
    truth = spectrum[:, None] * np.linspace(0.5, 1, rows.size)
    cube[rows, cols] = np.where(scene.missing[rows, cols], np.nan, truth.T)

    out, done = by_blocks(cube, tmp_path, "marked", K=(3, 4, 5), lam=np.inf)

    assert done.far
    assert min(first for first, *_ in done.far) > 40
    assert "image rows" in done.summary
    assert rmse(truth, out[rows, cols].T, scene.missing[rows, cols].T) < 0.05
    # Samples cover the scene.
    rows, cols = two_samples((500, 300), 2000, seed=3)[0]
    quarters = np.histogram2d(rows, cols, bins=4, range=((0, 500), (0, 300)))[0]
    assert quarters.min() > 0.8 * quarters.mean()
    assert abs(rows.size - 2000) < 200


def test_a_refined_block_counts_what_still_cannot_be_restored(scene, tmp_path):
    few, many = (model_of(scene.sound, K, tmp_path) for K in (1, 3))
    cube = scene.sound.copy()
    cube[:10, :, 12:] = np.nan
    cube[:5] = np.nan
    np.save(tmp_path / "scene.npy", cube)
    file = open_scene(tmp_path / "scene.npy")
    (block,) = file.blocks(10**9)

    _, first = restore_block(file, 0, block, few)
    _, refined = refine_block(file, 0, block, many, np.inf, first)

    for one in (first, refined):
        changed = masks(one, (cube.shape[2], block.pixels))[0]
        assert one.unknown.sum() == np.isnan(cube[:5]).sum() == np.isnan(cube).sum() - changed.sum()
        assert one.predicted.sum() == changed.sum()
    assert not np.array_equal(first.numbers, refined.numbers)


def test_other_settings_do_not_resume_what_was_done(scene, tmp_path):
    def blocks_at_start(**changes):
        seen = []

        def stop(done, total):
            seen.append(done)
            if done == 2:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            by_blocks(scene.cube, tmp_path, **MODEL | changes, block_entries=12_000, progress=stop)
        return seen[0]

    assert [blocks_at_start(**changes) for changes in ({}, {"lam": 1.2}, {"lam": 1.2})] == [0, 0, 2]


MODEL_OPTIONS = ("--blocks", "--K", "4", "--lam", "1.1", "--block-entries", "300")
COMMANDS = {
    "restore": ("restore", "scene.hdr", "--unmarked", *MODEL_OPTIONS),
    "fit": ("fit", "--data", "scene.hdr", "--method", "atnmf", *MODEL_OPTIONS),
}
BLOCKS = 240
"""Of one image row each: so many take long enough to write to be caught at it."""


@pytest.fixture(scope="module")
def tall():
    return damaged_scene(BLOCKS, 15)


def undisturbed(command: str, folder: Path) -> bytes:
    words = [*COMMANDS[command], "--jobs", "1", "--out", str(folder / "whole.hdr")]
    assert main([str(folder / word) if word == "scene.hdr" else word for word in words]) == 0
    return (folder / "whole.img").read_bytes()


def blocks_in(folder: Path) -> dict[str, int]:
    """The finished blocks, and when each was written."""
    return {file.name: file.stat().st_mtime_ns for file in folder.glob("block-*")}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("moment", ["while it learns", "among its blocks", "while it writes"])
def test_kill_9_and_another_start_give_the_same_file(tall, tmp_path, command, moment):
    write_envi(tall.cube, tmp_path / "scene.hdr")
    folder, part = tmp_path / "killed.hdr.blocks", tmp_path / ".part-killed.img"
    words = (*COMMANDS[command], "--out", "killed.hdr")
    reached = {
        "while it learns": lambda: (folder / "process.json").exists(),
        "among its blocks": lambda: len(blocks_in(folder)) >= 2,
        "while it writes": part.exists,
    }[moment]

    with started(*words, folder=tmp_path) as process:
        wait_until(reached, process, f"the moment {moment}")
        kill_tree(process)
        process.wait()
    before = blocks_in(folder)
    assert (len(before) == BLOCKS) == part.exists() == (moment == "while it writes")
    assert not (tmp_path / "killed.hdr").exists()
    with started(*words, folder=tmp_path) as process:
        wait_until(lambda: len(blocks_in(folder)) > len(before) or part.exists(), process, "more")
        assert before.items() <= blocks_in(folder).items()
        _, said = process.communicate()
        assert process.returncode == 0, said

    assert (tmp_path / "killed.img").read_bytes() == undisturbed(command, tmp_path)
    assert not [file for file in tmp_path.iterdir() if ".part" in file.name or ".blocks" in file.name]


def test_an_end_while_the_file_is_written_costs_no_block(scene, restored, tmp_path, monkeypatch):
    how = {**MODEL, "block_entries": 12_000}
    with monkeypatch.context() as broken:
        writing = Mock(side_effect=[None, None, OSError("disk")])
        broken.setattr("atnmf_core.datasets.files.scene_file.SceneFile.write", writing)
        with pytest.raises(OSError, match="disk"):
            by_blocks(scene.cube, tmp_path, **how)
    assert not (tmp_path / "out.npy").exists()
    for unneeded in ("learn", "restore_block"):
        name = f"atnmf_core.restoration.scenes.restoring.{unneeded}"
        monkeypatch.setattr(name, Mock(side_effect=AssertionError))

    out, again = by_blocks(scene.cube, tmp_path, **how)

    assert np.array_equal(out, restored[0])
    assert again.summary == restored[1].summary
    assert again.model.K == restored[1].model.K


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_cluster_gives_the_same_file_though_a_worker_is_killed(tall, cluster, tmp_path, command):
    write_envi(tall.cube, tmp_path / "scene.hdr")
    folder = tmp_path / "cluster.hdr.blocks"
    words = (*COMMANDS[command], "--out", "cluster.hdr", "--dask", cluster.scheduler_address)

    with started(*words, folder=tmp_path) as process:
        wait_until(lambda: len(blocks_in(folder)) >= 1, process, "a block")
        os.kill(next(iter(cluster.workers.values())).process.pid, signal.SIGKILL)
        assert len(blocks_in(folder)) < BLOCKS
        _, said = process.communicate()
        assert process.returncode == 0, said

    assert (tmp_path / "cluster.img").read_bytes() == undisturbed(command, tmp_path)


def test_two_processes_do_not_write_to_one_file_and_a_disk_that_is_too_full_is_told_before(
    scene, tmp_path, monkeypatch
):
    folder, other = tmp_path / "out.npy.blocks", os.getppid()
    folder.mkdir()
    holder = {"pid": other, "created": created(other), "began": 0, "blocks": 1}
    (folder / "process.json").write_text(json.dumps(holder))
    with pytest.raises(InputError, match=f"process {other}"):
        by_blocks(scene.cube, tmp_path, **MODEL)

    (folder / "process.json").unlink()
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=1000))
    with pytest.raises(InputError, match="disk space"):
        by_blocks(scene.cube, tmp_path, **MODEL)


def test_the_time_left_is_told_by_the_blocks_of_this_run(tmp_path):
    out = tmp_path / "out.npy"
    folder = tmp_path / "out.npy.blocks"
    folder.mkdir()
    holder = {"pid": os.getpid(), "created": created(os.getpid()), "began": 1000.0, "blocks": 10}
    (folder / "process.json").write_text(json.dumps(holder))
    assert status_of(out) == SceneStatus(0, 10, os.getpid(), None)
    for number, finished in enumerate((500, 1010, 1013, 1016)):
        (folder / f"block-{number:06}.npz").touch()
        os.utime(folder / f"block-{number:06}.npz", (finished, finished))

    assert status_of(out) == SceneStatus(4, 10, os.getpid(), 18.0)
