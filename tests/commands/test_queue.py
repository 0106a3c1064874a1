"""`queue` runs the sweeps of a store one after the other, whatever happens to one of them or to itself."""

import os
import signal
import sqlite3
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from atnmf_core import load_dataset
from atnmf_core.sweep import Grid, open_store, read_store
from atnmf_core.sweep.queue import Queue
from tests.sweep.processes import PATIENCE, done, kill_tree, measured, run, started, wait_until

SHORT = Grid("synthetic", alphas=(0.3,), Ks=(3,), lams=(2.0, 5.0))
LONG = Grid(
    "lfw", alphas=(0.3,), Ks=(8,), lams=(2.0, 5.0), solver="paper", starts=10, max_outer=1, max_inner=60,
    tol_inner=0.0,
)  # fmt: skip
POINTS = len(LONG)
SECONDS_TO_END = 15


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite"


def ask_for(path: Path, **grids: Grid) -> None:
    with open_store(path) as store:
        for name, grid in grids.items():
            content_hash = load_dataset(grid.dataset).content_hash if "/" not in grid.dataset else "unknown"
            store.add_sweep(name, grid, content_hash)
            Queue(store).add(name)


def status(path: Path, name: str) -> str:
    with read_store(path) as store:
        return store.sweep(name).status


def spans(path: Path) -> list[tuple[float, float]]:
    """When each sweep was worked on."""
    with sqlite3.connect(path) as connection:
        return list(connection.execute("SELECT started, ended FROM runs ORDER BY started"))


def test_sweeps_are_run_one_after_the_other_until_none_waits(path: Path) -> None:
    ask_for(path, one=SHORT, two=Grid("synthetic", alphas=(0.5,), Ks=(3,), lams=(2.0,)))

    ended = run("queue", "--store", path.name, "--jobs", "1", folder=path.parent)

    assert ended.returncode == 0, ended.stderr
    with read_store(path) as store:
        assert {record.status for record in store.sweeps()} == {"finished"}
        assert store.queued() == {}
        assert store.queue_process() is None
    (_, first_end), (second_start, _) = spans(path)
    assert first_end <= second_start


def test_a_sweep_that_cannot_run_says_why_and_lets_the_next_have_its_turn(path: Path) -> None:
    ask_for(path, lost=Grid("gone/away.npz", alphas=(0.3,), Ks=(3,), lams=(2.0,)), fine=SHORT)

    run("queue", "--store", path.name, "--jobs", "1", folder=path.parent)

    with read_store(path) as store:
        assert store.sweep("lost").status == "stopped"
        assert "'gone/away.npz' is neither a file nor one of" in (store.sweep("lost").message or "")
        assert store.sweep("fine").status == "finished"


def test_taking_a_running_sweep_out_ends_it_with_its_points_kept_and_the_next_begins(path: Path) -> None:
    ask_for(path, long=LONG, next=SHORT)
    with started("queue", "--store", path.name, "--jobs", "1", folder=path.parent) as process:
        wait_until(lambda: done(path, "long") >= 2, process, "two points")
        with open_store(path) as store:
            Queue(store).remove("long")
        process.wait(PATIENCE)

    assert process.returncode == 0
    assert (status(path, "long"), status(path, "next")) == ("stopped", "finished")
    assert 2 <= done(path, "long") < POINTS


def test_a_sweep_taken_out_and_asked_for_again_at_once_goes_on_to_its_end(path: Path) -> None:
    ask_for(path, long=LONG)
    with started("queue", "--store", path.name, "--jobs", "1", folder=path.parent) as process:
        wait_until(lambda: done(path, "long") >= 2, process, "two points")
        with open_store(path) as store:
            Queue(store).remove("long")
            Queue(store).add("long")
        process.wait(PATIENCE)

    assert status(path, "long") == "finished"
    assert len(measured(path, "long")) == POINTS


def test_after_kill_9_the_sweep_is_still_in_the_queue_and_goes_on_without_a_point_twice(path: Path) -> None:
    ask_for(path, long=LONG)
    with started("queue", "--store", path.name, "--jobs", "1", folder=path.parent) as process:
        wait_until(lambda: done(path, "long") >= 3, process, "three points")
        kill_tree(process)
        process.wait()
    # On a busy machine the workers of a killed command take a moment to be gone.
    deadline = time.monotonic() + PATIENCE
    while status(path, "long") == "running" and time.monotonic() < deadline:
        time.sleep(0.05)
    before = measured(path, "long")
    assert status(path, "long") == "queued"

    run("queue", "--store", path.name, folder=path.parent)

    after = measured(path, "long")
    assert status(path, "long") == "finished"
    assert len(after) == POINTS
    assert before.items() <= after.items()


def test_workers_end_within_seconds_of_the_queue_that_was_killed(path: Path) -> None:
    ask_for(path, long=replace(LONG, max_inner=20_000))
    with started("queue", "--store", path.name, "--jobs", "2", folder=path.parent) as process:
        wait_until(lambda: len(psutil.Process(process.pid).children()) >= 2, process, "two workers")
        children = psutil.Process(process.pid).children(recursive=True)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        _, alive = psutil.wait_procs(children, timeout=SECONDS_TO_END)

    assert alive == []


def test_the_request_to_end_is_passed_on_and_the_sweep_stays_in_the_queue(path: Path) -> None:
    ask_for(path, long=LONG)
    with started("queue", "--store", path.name, "--jobs", "1", folder=path.parent) as process:
        wait_until(lambda: done(path, "long") >= 1, process, "a point")
        process.terminate()
        process.communicate(timeout=PATIENCE)

    assert process.returncode == 143
    assert status(path, "long") == "queued"


def test_without_a_name_it_is_the_queue_of_the_dashboard(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATNMF_STORE", str(path))
    lacking = run("queue", folder=path.parent)
    assert (lacking.returncode, list(path.parent.iterdir())) == (1, [])
    assert f"{path}: there is no store here." in lacking.stderr
    ask_for(path, one=SHORT)

    run("queue", "--jobs", "1", folder=path.parent)

    assert status(path, "one") == "finished"
