"""`sweep` runs a grid from options or JSON and writes the curve; `queue` runs those that wait, one by one."""

import csv
import re
import shlex
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from atnmf_core import load_dataset
from atnmf_core.__main__ import main
from atnmf_core.recipe import sweep_command
from atnmf_core.sweep import Grid, open_store, read_store
from atnmf_core.sweep.store import Queue
from tests.sweep.processes import PATIENCE, done, kill_tree, measured, run, started, wait_until

OPTIONS = ["--data", "synthetic", "--K", "3", "--alpha", "0.3", "--lam", "2", "5", "--starts", "2"]


@pytest.fixture
def sweep(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ATNMF_STORE")
    return ["sweep", "--jobs", "1"]


def test_the_curve_holds_what_the_store_has(sweep, capsys):
    assert main([*sweep, *OPTIONS, "--name", "s", "--out", "curve.csv", "--store", "mine.sqlite"]) == 0

    rows = list(csv.DictReader(Path("curve.csv").read_text().splitlines()))
    with read_store("mine.sqlite") as store:
        summary = store.summary("s")
    assert [(row["method"], row["lam"]) for row in rows] == [("nmf", ""), ("atnmf", "2"), ("atnmf", "5")]
    for row, kept in zip(rows, summary, strict=True):
        assert float(row["mean"]) == pytest.approx(kept.mean, rel=1e-5)
        assert int(row["starts"]) == kept.starts == 2
    assert "6 of 6 fits in mine.sqlite" in capsys.readouterr().out


def test_the_plot_is_a_page_that_needs_no_network(sweep):
    pytest.importorskip("matplotlib")

    assert main([*sweep, *OPTIONS, "--methods", "nmf", "atnmf", "anmf", "--plot", "curve.html"]) == 0

    page = Path("curve.html").read_text()
    for name in ("AT-NMF", "NMF", "ANMF (reconstruction)"):
        assert f">{name}</text>" in page
    assert not re.findall(r'<(?:script|link)[^>]+(?:src|href)="http', page)


def test_a_grid_can_be_written_and_run_from_json_with_options_on_top(sweep, monkeypatch):
    assert main([*sweep, *OPTIONS, "--write-grid", "grid.json"]) == 0
    assert not Path("atnmf-sweeps.sqlite").exists()

    assert main([*sweep, "--grid", "grid.json", "--name", "from json"]) == 0
    monkeypatch.setenv("ATNMF_STORE", "named.sqlite")
    assert main([*sweep, "--grid", "grid.json", "--K", "4", "5", "--methods", "nmf", "--name", "s"]) == 0

    grid = Grid.from_json(Path("grid.json").read_text())
    with read_store("atnmf-sweeps.sqlite") as store:
        assert (store.sweep("from json").grid, store.sweep("from json").done) == (grid, 6)
    with read_store("named.sqlite") as store:
        assert (store.sweep("s").grid.Ks, store.sweep("s").grid.alphas) == ((4, 5), grid.alphas)


def test_the_same_command_again_makes_nothing_anew_unless_told_to(sweep):
    times = []
    for resume in ([], [], ["--no-resume"]):
        assert main([*sweep, *OPTIONS, *resume, "--name", "s"]) == 0
        with read_store("atnmf-sweeps.sqlite") as store:
            times.append([result.finished for result in store.outcomes("s")])

    assert times[0] == times[1]
    assert len(times[2]) == 6
    assert min(times[2]) > max(times[1])


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--lam", "1"], "'1' is not a lambda"),
        (["--lam", "2:x:3"], "'2:x:3' is not a lambda"),
        (["--lam", "2:3"], "'2:3' is not a lambda"),
        (["--lam", "1.0000000005"], "lams: 1.0000000005 is too near 1 to compute with"),
        (["--alpha", "1.5"], "alpha=1.5"),
        (["--alpha", "many"], "invalid float value: 'many'"),
        (["--K", "0"], "Ks=0"),
        (["--K", "51"], "K=51: synthetic is 100 x 50"),
        (["--starts", "0"], "starts=0"),
        (["--seed", "4294967295"], "seed=4294967295 with starts=2: begin at 4294967294 or below"),
        (["--jobs", "0"], "'0' is not a number of processes"),
        (["--methods", "pca"], "invalid choice: 'pca'"),
        (["--data", "nowhere.mat"], "'nowhere.mat' is neither a file nor one of lfw"),
        (["--masks", "paper"], "the paper has masks for"),
        (["--pattern", "block"], "image_shape=None"),
        (["--grid", "nowhere.json"], "there is no file 'nowhere.json'"),
        (["--grid", "latin.json"], "the grid is not valid JSON: "),
        (["--grid", "deep.json"], "the grid is not valid JSON: "),
        (["--out", "nowhere/curve.csv"], "'nowhere/curve.csv' cannot be written"),
        (["--speed", "9"], "unrecognized arguments: --speed"),
    ],
)
def test_a_wrong_option_is_refused_in_one_line_with_code_2(sweep, words, complaint, capsys):
    Path("latin.json").write_bytes(b'{"dataset": "caf\xe9"}')
    Path("deep.json").write_bytes(b"[" * 100_000)
    try:
        code = main([*sweep, *OPTIONS, *words])
    except SystemExit as end:
        code = end.code

    said = capsys.readouterr()
    assert code == 2
    assert complaint in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""


def test_a_file_that_needs_options_leads_to_the_command_that_takes_them(sweep, capsys):
    np.savez("two.npz", A=np.ones((6, 5)), B=np.ones((6, 5)))

    assert main([*sweep, *OPTIONS, "--data", "two.npz"]) == 1

    assert "choose one of A (6 x 5), B (6 x 5)." in (said := capsys.readouterr().err)
    assert "`data convert` takes options" in said


def test_a_name_alone_goes_on_with_the_sweep_that_has_it(sweep, capsys):
    grid = Grid("synthetic", alphas=(0.3,), Ks=(3,), lams=(2.0,))
    with open_store("atnmf-sweeps.sqlite") as store:
        store.add_sweep("planned", grid, load_dataset("synthetic").content_hash)

    assert main([*sweep, "--name", "planned"]) == 0

    with read_store("atnmf-sweeps.sqlite") as store:
        assert (store.sweep("planned").done, store.sweep("planned").grid) == (2, grid)
    for words, told in (
        (["--name", "nobody"], "no sweep 'nobody'"),
        ([], "nothing to sweep: give --data, --alpha, --K and --lam"),
    ):
        assert main([*sweep, *words]) == 2
        assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    "grid",
    [
        Grid("synthetic", alphas=(0.3,), Ks=(3,), lams=(2.0, 5.0)),
        Grid("a file.npz", alphas=(0.3, 0.55), Ks=(3,), methods=("nmf", "anmf"), missing=("zero", "ignore")),
        Grid("lfw", (1 / 3,), (25,), (1.05, 1 + 1e-7 / 3, 1.083), solver="paper", starts=4, tol_inner=1e-5),
        Grid("lfw", (0.3,), (25,), (1.0004, 1.02, 2.0), mask_seed=3),
    ],
    ids=str,
)
def test_the_command_line_of_a_grid_gives_the_same_grid(sweep, grid):
    words = shlex.split(sweep_command(grid))
    assert words[:4] == ["python", "-m", "atnmf_core", "sweep"]

    assert main([*words[3:], "--write-grid", "grid.json"]) == 0

    assert Grid.from_json(Path("grid.json").read_text()) == grid


SHORT = Grid("synthetic", alphas=(0.3,), Ks=(3,), lams=(2.0, 5.0))
LONG = Grid(
    "lfw", (0.3,), (8,), (2.0, 5.0), solver="paper", starts=10, max_outer=1, max_inner=60, tol_inner=0.0
)
POINTS = len(LONG)
SECONDS_TO_END = 15


@pytest.fixture
def path(tmp_path):
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


def test_sweeps_run_one_after_the_other_and_one_that_cannot_says_why(path):
    ask_for(path, one=SHORT, lost=replace(SHORT, dataset="gone/away.npz"), two=replace(SHORT, alphas=(0.5,)))

    ended = run("queue", "--store", path.name, "--jobs", "1", folder=path.parent)

    assert ended.returncode == 0, ended.stderr
    with read_store(path) as store:
        assert [store.sweep(name).status for name in ("one", "lost", "two")] == [
            "finished",
            "stopped",
            "finished",
        ]
        assert "'gone/away.npz' is neither a file nor one of" in (store.sweep("lost").message or "")
        assert store.queued() == {}
        assert store.queue_process() is None
    with sqlite3.connect(path) as connection:
        ran = connection.execute("SELECT started, ended FROM runs ORDER BY started")
        (_, first_end), *_, (second_start, _) = ran
    assert first_end <= second_start


@contextmanager
def queue_at_work(path: Path, points: int) -> Iterator[subprocess.Popen[str]]:
    """The queue of a store, with so many points of the long sweep made."""
    with started("queue", "--store", path.name, "--jobs", "1", folder=path.parent) as process:
        wait_until(lambda: done(path, "long") >= points, process, f"{points} points")
        yield process


def test_taking_a_running_sweep_out_ends_it_with_its_points_kept_and_the_next_begins(path):
    ask_for(path, long=LONG, next=SHORT)
    with queue_at_work(path, 2) as process:
        with open_store(path) as store:
            Queue(store).remove("long")
        process.wait(PATIENCE)

    assert process.returncode == 0
    assert (status(path, "long"), status(path, "next")) == ("stopped", "finished")
    assert 2 <= done(path, "long") < POINTS


def test_a_sweep_taken_out_and_asked_for_again_at_once_goes_on_to_its_end(path):
    ask_for(path, long=LONG)
    with queue_at_work(path, 2) as process:
        with open_store(path) as store:
            Queue(store).remove("long")
            Queue(store).add("long")
        process.wait(PATIENCE)

    assert status(path, "long") == "finished"
    assert len(measured(path, "long")) == POINTS


@pytest.mark.parametrize("how", ["killed", "asked to end"])
def test_a_sweep_that_is_interrupted_stays_in_the_queue_and_goes_on_without_a_point_twice(path, how):
    ask_for(path, long=LONG)
    with queue_at_work(path, 3) as process:
        kill_tree(process) if how == "killed" else process.terminate()
        process.communicate(timeout=PATIENCE)
    assert process.returncode == (-9 if how == "killed" else 143)
    # On a busy machine the workers of a killed command take a moment to be gone.
    deadline = time.monotonic() + PATIENCE
    while status(path, "long") == "running" and time.monotonic() < deadline:
        time.sleep(0.05)
    before = measured(path, "long")
    assert status(path, "long") == "queued"
    if how == "asked to end":
        return

    run("queue", "--store", path.name, folder=path.parent)

    after = measured(path, "long")
    assert status(path, "long") == "finished"
    assert len(after) == POINTS
    assert before.items() <= after.items()


def test_without_a_name_it_is_the_queue_of_the_dashboard(path, monkeypatch):
    monkeypatch.setenv("ATNMF_STORE", str(path))
    lacking = run("queue", folder=path.parent)
    assert (lacking.returncode, list(path.parent.iterdir())) == (1, [])
    assert f"{path}: there is no store here." in lacking.stderr
    ask_for(path, one=SHORT)

    run("queue", "--jobs", "1", folder=path.parent)

    assert status(path, "one") == "finished"
