"""A store that cannot be used says so and loses nothing; nor does a sweep that is killed or stopped."""

import contextlib
import os
import signal
import sqlite3
import subprocess
from pathlib import Path

import psutil
import pytest

from atnmf_core import load_dataset
from atnmf_core.commands.arguments import lambdas
from atnmf_core.sweep import Grid, NoStoreError, StoreError, find_store, open_store, read_store, run_sweep
from tests.sweep.processes import done, measured, run, started, wait_until

SWEEP = ("sweep", "--data", "synthetic", "--K", "3", "--alpha", "0.3", "--methods", "nmf", "--jobs", "1")


def refusal(store: Path | str, folder: Path) -> str:
    """What a sweep says, in one line, of a store that it cannot use."""
    ended = run(*SWEEP, "--store", str(store), folder=folder)
    assert ended.returncode == 1
    return one_line(ended.stderr)


def test_a_file_that_is_no_store_or_in_no_folder_is_refused_and_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("not a database, but my notes\n" * 100)

    said = refusal("notes.txt", tmp_path)

    assert said.startswith("atnmf_core sweep: notes.txt is not a store")
    assert said.endswith("--store names another file.")
    assert (tmp_path / "notes.txt").read_text() == "not a database, but my notes\n" * 100
    assert "nowhere/store.sqlite cannot be opened" in refusal("nowhere/store.sqlite", tmp_path)


def test_a_database_of_another_program_or_of_a_newer_one_is_refused_and_left_alone(tmp_path):
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE addresses (name TEXT)")
    open_store(tmp_path / "newer.sqlite").close()
    with sqlite3.connect(tmp_path / "newer.sqlite") as newer:
        newer.execute("PRAGMA user_version = 99")
    (tmp_path / "being made.sqlite").touch()

    with pytest.raises(StoreError, match=r"database of another program\.$"):
        open_store(tmp_path / "other.db")
    with pytest.raises(StoreError, match="has layout 99"):
        read_store(tmp_path / "newer.sqlite")
    with pytest.raises(NoStoreError, match="there is no store here"):
        read_store(tmp_path / "being made.sqlite")

    assert find_store(tmp_path / "being made.sqlite") is None
    with sqlite3.connect(tmp_path / "other.db") as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("addresses",)]
        assert other.execute("PRAGMA journal_mode").fetchall() == [("delete",)]


def test_a_damaged_store_is_reported(tmp_path):
    path = filled(tmp_path / "store.sqlite", starts=200)
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(size - 2 * 4096))

    assert "store.sqlite is damaged" in refusal("store.sqlite", tmp_path)


def test_a_read_only_store_is_reported_and_stays_readable(small_disk):
    filled(small_disk / "store.sqlite", starts=3)
    remount(small_disk, "ro")

    assert "store.sqlite cannot be" in refusal(small_disk / "store.sqlite", Path.cwd())

    with read_store(small_disk / "store.sqlite") as reader:
        assert reader.sweep("before").total == 3


def test_a_full_disk_ends_the_sweep_and_keeps_what_was_finished(small_disk):
    store = small_disk / "store.sqlite"
    arguments = (*SWEEP, "--store", str(store), "--name", "s", "--max-inner", "1", "--starts", "300")

    ended = run(*arguments, folder=Path.cwd())

    assert ended.returncode == 1
    assert "the disk is full" in one_line(ended.stderr)
    finished = done(store, "s")
    assert 0 < finished < 300
    remount(small_disk, "size=20m")
    assert finished == done(store, "s")
    assert run(*arguments, folder=Path.cwd()).returncode == 0
    assert len(measured(store, "s")) == 300


def test_a_store_that_a_full_disk_kept_from_being_made_is_made_when_there_is_room(small_disk):
    fill(small_disk)
    with pytest.raises(StoreError, match="the disk is full"):
        open_store(small_disk / "store.sqlite")

    (small_disk / "filling").unlink()

    assert find_store(small_disk / "store.sqlite") is None
    filled(small_disk / "store.sqlite", starts=3)
    with read_store(small_disk / "store.sqlite") as reader:
        assert reader.sweep("before").total == 3


@pytest.mark.parametrize("option", ["--out", "--plot"])
def test_a_curve_that_cannot_be_written_leaves_the_one_from_before(small_disk, tmp_path_factory, option):
    curve = small_disk / "curve.csv"
    curve.write_text("an earlier curve\n")
    fill(small_disk)

    ended = run(*SWEEP, option, str(curve), folder=tmp_path_factory.mktemp("elsewhere"))

    assert ended.returncode == 1
    assert "No space left" in one_line(ended.stderr)
    assert {file.name: file.stat().st_size for file in small_disk.glob("*curve*")} == {"curve.csv": 17}


@pytest.fixture
def small_disk(tmp_path):
    """A file system of its own, of one megabyte."""
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(tmp_path)], capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"a small file system cannot be mounted here: {mounted.stderr.strip()}")
    yield tmp_path
    subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


def remount(folder: Path, option: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{option}", str(folder)], check=True)


def fill(folder: Path) -> None:
    """Leave no room on the disk of a folder."""
    with (folder / "filling").open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))


def filled(path: Path, starts: int) -> Path:
    """A store with a sweep in it, and no write-ahead log beside it."""
    with open_store(path) as store:
        store.add_sweep(
            "before", Grid("lfw", alphas=(0.3,), Ks=(5,), methods=("nmf",), starts=starts), "hash"
        )
    return path


def one_line(text: str) -> str:
    lines = text.splitlines()
    assert len(lines) == 1, text
    return lines[0]


POINTS = 30
THIRTY = (
    *("sweep", "--name", "s", "--data", "lfw", "--K", "8", "--alpha", "0.3", "--lam", "1.5:50:5"),
    *("--starts", "5", "--solver", "paper", "--max-outer", "1", "--max-inner", "60", "--tol-inner", "0"),
)


def test_after_kill_9_the_workers_end_and_the_sweep_resumes_and_ends_as_if_undisturbed(tmp_path):
    store, whole = tmp_path / "killed.sqlite", tmp_path / "whole.sqlite"
    lams = lambdas("1.5:50:5")
    grid = Grid("lfw", (0.3,), (8,), lams, solver="paper", starts=5, max_outer=1, max_inner=60, tol_inner=0.0)
    with open_store(whole) as undisturbed:
        run_sweep(undisturbed, "s", grid, load_dataset("lfw"), n_jobs=1)
    with started(*THIRTY, "--store", store.name, "--jobs", "2", folder=tmp_path) as process:
        wait_until(lambda: done(store, "s") >= 5, process, "five points")
        workers = psutil.Process(process.pid).children(recursive=True)
        assert len(workers) >= 2
        process.kill()
        process.wait()
        _, left = psutil.wait_procs(workers, timeout=30)
        assert not left, "workers end with a leader that was killed"
    survived = measured(store, "s")
    assert 5 <= len(survived) < POINTS

    again = run(*THIRTY, "--store", store.name, "--jobs", "2", folder=tmp_path)

    assert again.returncode == 0, again.stderr
    rows = measured(store, "s")
    assert len(rows) == POINTS
    assert survived.items() <= rows.items()
    assert rows == measured(whole, "s")


def test_ctrl_c_ends_cleanly_and_says_how_to_go_on(tmp_path):
    store = tmp_path / "store.sqlite"
    with started(*THIRTY, "--store", store.name, "--jobs", "2", folder=tmp_path) as process:
        wait_until(lambda: done(store, "s") >= 3, process, "three points")
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()

    kept = done(store, "s")
    assert process.returncode == 130
    assert said.startswith(f"Stopped. {kept} of {POINTS} fits are stored in store.sqlite; the same command")
    assert said.count("\n") == 1
    assert 3 <= kept < POINTS


def test_the_request_to_end_is_followed_and_noted_in_the_store(tmp_path):
    store = tmp_path / "store.sqlite"
    with started(*THIRTY, "--store", store.name, "--jobs", "1", folder=tmp_path) as process:
        wait_until(lambda: done(store, "s") >= 1, process, "a point")
        with read_store(store) as reader:
            running = reader.sweep("s")
        process.terminate()
        process.communicate()

    assert (running.status, running.pid) == ("running", process.pid)
    assert process.returncode == 143
    with read_store(store) as reader:
        assert (reader.sweep("s").status, reader.sweep("s").message) == ("stopped", "stopped by the user")


def test_two_processes_share_a_sweep_without_a_point_made_twice(tmp_path):
    store = tmp_path / "store.sqlite"
    arguments = (*THIRTY, "--store", store.name, "--jobs", "1")
    with started(*arguments, folder=tmp_path) as one, started(*arguments, folder=tmp_path) as other:
        said = [process.communicate() for process in (one, other)]

    assert [one.returncode, other.returncode] == [0, 0], said
    assert len(measured(store, "s")) == POINTS
    assert all(runs > 0 for runs in points_per_run(store))
    assert said[0] == said[1]


def points_per_run(store: Path) -> list[int]:
    """How many points each process made."""
    with sqlite3.connect(store) as connection:
        query = "SELECT COUNT(key) FROM runs LEFT JOIN points ON points.run = runs.id GROUP BY runs.id"
        return [number for (number,) in connection.execute(query)]
