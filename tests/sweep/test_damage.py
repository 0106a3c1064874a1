"""A store that cannot be used says so, in words that help, and loses nothing."""

import contextlib
import os
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from atnmf_core.sweep import Grid, NoStoreError, StoreError, find_store, open_store, read_store
from tests.sweep.processes import done, measured, run

SWEEP = ("sweep", "--data", "synthetic", "--K", "3", "--alpha", "0.3", "--methods", "nmf", "--jobs", "1")


def test_a_file_that_is_no_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("not a database, but my notes\n" * 100)

    ended = run(*SWEEP, "--store", "notes.txt", folder=tmp_path)

    assert ended.returncode == 1
    said = one_line(ended.stderr)
    assert said.startswith("atnmf_core sweep: notes.txt is not a store")
    assert said.endswith("--store names another file.")
    assert (tmp_path / "notes.txt").read_text() == "not a database, but my notes\n" * 100


def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE addresses (name TEXT)")

    with pytest.raises(StoreError, match=r"database of another program\.$"):
        open_store(tmp_path / "other.db")

    with sqlite3.connect(tmp_path / "other.db") as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("addresses",)]
        assert other.execute("PRAGMA journal_mode").fetchall() == [("delete",)]


def test_a_store_that_is_just_being_made_is_not_there_yet_for_readers(tmp_path: Path) -> None:
    (tmp_path / "store.sqlite").touch()

    with pytest.raises(NoStoreError, match="there is no store here"):
        read_store(tmp_path / "store.sqlite")
    assert find_store(tmp_path / "store.sqlite") is None


def test_a_store_of_a_newer_program_is_refused(tmp_path: Path) -> None:
    open_store(tmp_path / "store.sqlite").close()
    with sqlite3.connect(tmp_path / "store.sqlite") as later:
        later.execute("PRAGMA user_version = 99")

    with pytest.raises(StoreError, match="has layout 99"):
        read_store(tmp_path / "store.sqlite")


def test_a_damaged_store_is_reported(tmp_path: Path) -> None:
    path = filled(tmp_path / "store.sqlite", starts=200)
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(size - 2 * 4096))

    ended = run(*SWEEP, "--store", "store.sqlite", folder=tmp_path)

    assert ended.returncode == 1
    assert "store.sqlite is damaged" in one_line(ended.stderr)


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    ended = run(*SWEEP, "--store", "nowhere/store.sqlite", folder=tmp_path)

    assert ended.returncode == 1
    assert "nowhere/store.sqlite cannot be opened" in one_line(ended.stderr)


def test_a_read_only_store_is_reported_and_stays_readable(small_disk: Path) -> None:
    filled(small_disk / "store.sqlite", starts=3)
    remount(small_disk, "ro")

    ended = run(*SWEEP, "--store", str(small_disk / "store.sqlite"), folder=Path.cwd())

    assert ended.returncode == 1
    assert "store.sqlite cannot be" in one_line(ended.stderr)
    with read_store(small_disk / "store.sqlite") as reader:
        assert reader.sweep("before").total == 3


def test_a_full_disk_ends_the_sweep_and_keeps_what_was_finished(small_disk: Path) -> None:
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


def test_a_store_that_a_full_disk_kept_from_being_made_is_made_when_there_is_room(small_disk: Path) -> None:
    fill(small_disk)
    with pytest.raises(StoreError, match="the disk is full"):
        open_store(small_disk / "store.sqlite")

    (small_disk / "filling").unlink()

    assert find_store(small_disk / "store.sqlite") is None
    filled(small_disk / "store.sqlite", starts=3)
    with read_store(small_disk / "store.sqlite") as reader:
        assert reader.sweep("before").total == 3


@pytest.mark.parametrize("option", ["--out", "--plot"])
def test_a_curve_that_cannot_be_written_leaves_the_one_from_before(
    small_disk: Path, tmp_path_factory: pytest.TempPathFactory, option: str
) -> None:
    curve = small_disk / "curve.csv"
    curve.write_text("an earlier curve\n")
    fill(small_disk)

    ended = run(*SWEEP, option, str(curve), folder=tmp_path_factory.mktemp("elsewhere"))

    assert ended.returncode == 1
    assert "No space left" in one_line(ended.stderr)
    assert {file.name: file.stat().st_size for file in small_disk.glob("*curve*")} == {"curve.csv": 17}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
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
