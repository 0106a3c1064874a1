"""Nothing finished is lost, and nothing made twice, when a sweep is killed, stopped or shared."""

import signal
import sqlite3
from pathlib import Path

import psutil

from atnmf_core import load_dataset
from atnmf_core.commands.arguments import lambdas
from atnmf_core.sweep import Grid, open_store, read_store, run_sweep
from tests.sweep.processes import done, kill_tree, measured, run, started, wait_until

POINTS = 60
SWEEP = (
    *("sweep", "--name", "s", "--data", "lfw", "--K", "8", "--alpha", "0.3", "--lam", "1.5:50:5"),
    *("--starts", "10", "--solver", "paper", "--max-outer", "1", "--max-inner", "60", "--tol-inner", "0"),
)


def test_after_kill_9_of_all_processes_the_sweep_resumes_and_ends_as_if_undisturbed(tmp_path: Path) -> None:
    undisturbed(tmp_path / "whole.sqlite")
    store = tmp_path / "killed.sqlite"
    with started(*SWEEP, "--store", store.name, "--jobs", "2", folder=tmp_path) as process:
        wait_until(lambda: done(store, "s") >= 10, process, "ten points")
        kill_tree(process)
        process.wait()
    survived = measured(store, "s")
    assert 10 <= len(survived) < POINTS

    again = run(*SWEEP, "--store", store.name, "--jobs", "2", folder=tmp_path)

    assert again.returncode == 0, again.stderr
    rows = measured(store, "s")
    assert len(rows) == POINTS
    assert survived.items() <= rows.items()
    assert rows == measured(tmp_path / "whole.sqlite", "s")
    assert curve(store) == curve(tmp_path / "whole.sqlite")


def test_workers_end_with_a_leader_that_was_killed(tmp_path: Path) -> None:
    store = tmp_path / "store.sqlite"
    with started(*SWEEP, "--store", store.name, "--jobs", "2", folder=tmp_path) as process:
        wait_until(lambda: done(store, "s") >= 1, process, "a point")
        workers = psutil.Process(process.pid).children(recursive=True)
        assert len(workers) >= 2
        process.kill()
        process.wait()

        _, left = psutil.wait_procs(workers, timeout=30)

    assert not left


def test_ctrl_c_ends_cleanly_and_says_how_to_go_on(tmp_path: Path) -> None:
    store = tmp_path / "store.sqlite"
    with started(*SWEEP, "--store", store.name, "--jobs", "2", folder=tmp_path) as process:
        wait_until(lambda: done(store, "s") >= 3, process, "three points")
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()

    kept = done(store, "s")
    assert process.returncode == 130
    assert said.startswith(f"Stopped. {kept} of {POINTS} fits are stored in store.sqlite; the same command")
    assert said.count("\n") == 1
    assert 3 <= kept < POINTS


def test_the_request_to_end_is_followed_and_noted_in_the_store(tmp_path: Path) -> None:
    store = tmp_path / "store.sqlite"
    with started(*SWEEP, "--store", store.name, "--jobs", "1", folder=tmp_path) as process:
        wait_until(lambda: done(store, "s") >= 1, process, "a point")
        with read_store(store) as reader:
            running = reader.sweep("s")
        process.terminate()
        process.communicate()

    assert (running.status, running.pid) == ("running", process.pid)
    assert process.returncode == 143
    with read_store(store) as reader:
        assert (reader.sweep("s").status, reader.sweep("s").message) == ("stopped", "stopped by the user")


def test_two_processes_share_a_sweep_without_a_point_made_twice(tmp_path: Path) -> None:
    store = tmp_path / "store.sqlite"
    arguments = (*SWEEP, "--store", store.name, "--jobs", "1")
    with (
        started(*arguments, folder=tmp_path) as one,
        started(*arguments, folder=tmp_path) as other,
    ):
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


def undisturbed(path: Path) -> None:
    """The same sweep, run in this process from beginning to end."""
    grid = Grid(
        "lfw",
        alphas=(0.3,),
        Ks=(8,),
        lams=lambdas("1.5:50:5"),
        solver="paper",
        starts=10,
        max_outer=1,
        max_inner=60,
        tol_inner=0.0,
    )
    with open_store(path) as store:
        run_sweep(store, "s", grid, load_dataset("lfw"), n_jobs=1)


def curve(path: Path) -> list[tuple[float | None, float, float | None, int]]:
    with read_store(path) as store:
        return [(row.lam, row.mean, row.deviation, row.starts) for row in store.summary("s")]
