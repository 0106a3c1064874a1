"""`sweep` runs a grid from options or JSON and writes the curve; `queue` runs those that wait, one by one."""

import csv
import json
import re
import shlex
import sqlite3
import time
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

    with open("curve.csv", newline="") as file:
        rows = list(csv.DictReader(file))
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


def test_a_grid_can_be_written_and_run_from_json(sweep):
    assert main([*sweep, *OPTIONS, "--write-grid", "grid.json"]) == 0
    assert not Path("atnmf-sweeps.sqlite").exists()

    assert main([*sweep, "--grid", "grid.json", "--name", "from json"]) == 0

    with read_store("atnmf-sweeps.sqlite") as store:
        assert store.sweep("from json").grid == Grid.from_json(Path("grid.json").read_text())
        assert store.sweep("from json").done == 6


def test_options_change_a_grid_from_json(sweep):
    Path("grid.json").write_text(
        json.dumps({"dataset": "synthetic", "alphas": [0.3], "Ks": [3], "lams": [2]})
    )

    assert main([*sweep, "--grid", "grid.json", "--K", "4", "5", "--name", "s"]) == 0

    with read_store("atnmf-sweeps.sqlite") as store:
        assert store.sweep("s").grid.Ks == (4, 5)


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
        (["--out", "nowhere/curve.csv"], "'nowhere/curve.csv' cannot be written"),
        (["--speed", "9"], "unrecognized arguments: --speed"),
    ],
)
def test_a_wrong_option_is_refused_in_one_line_with_code_2(sweep, words, complaint, capsys):
    try:
        code = main([*sweep, *OPTIONS, *words])
    except SystemExit as end:
        code = end.code

    said = capsys.readouterr()
    assert code == 2
    assert complaint in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""


@pytest.mark.parametrize("grid", [b'{"dataset": "caf\xe9"}', b"[" * 100_000], ids=["Latin-1", "deep"])
def test_a_grid_that_is_no_json_is_refused_in_one_line(sweep, grid, capsys):
    Path("grid.json").write_bytes(grid)

    assert main([*sweep, "--grid", "grid.json"]) == 2

    said = capsys.readouterr().err
    assert said.startswith("atnmf_core sweep: the grid is not valid JSON: ")
    assert said.count("\n") == 1


def test_a_file_that_needs_options_leads_to_the_command_that_takes_them(sweep, capsys):
    np.savez("two.npz", A=np.ones((6, 5)), B=np.ones((6, 5)))

    assert main([*sweep, *OPTIONS, "--data", "two.npz"]) == 1

    assert "choose one of A (6 x 5), B (6 x 5)." in (said := capsys.readouterr().err)
    assert "`data convert` takes options" in said


def test_a_series_of_lambdas_may_begin_near_1(sweep):
    assert main([*sweep, *OPTIONS, "--lam", "1.0004:2:3", "--write-grid", "grid.json"]) == 0

    assert Grid.from_json(Path("grid.json").read_text()).lams == (1.0004, 1.02, 2.0)


def test_nothing_to_sweep_is_said(sweep, capsys):
    assert main(sweep) == 2
    assert "nothing to sweep: give --data, --alpha, --K and --lam" in capsys.readouterr().err


def test_a_name_alone_goes_on_with_the_sweep_that_has_it(sweep):
    grid = Grid("synthetic", alphas=(0.3,), Ks=(3,), lams=(2.0,))
    with open_store("atnmf-sweeps.sqlite") as store:
        store.add_sweep("planned", grid, load_dataset("synthetic").content_hash)

    assert main([*sweep, "--name", "planned"]) == 0

    with read_store("atnmf-sweeps.sqlite") as store:
        assert (store.sweep("planned").done, store.sweep("planned").grid) == (2, grid)


def test_the_environment_names_the_store(sweep, monkeypatch):
    monkeypatch.setenv("ATNMF_STORE", "named.sqlite")

    assert main([*sweep, *OPTIONS, "--methods", "nmf", "--name", "s"]) == 0

    assert not Path("atnmf-sweeps.sqlite").exists()
    with read_store("named.sqlite") as store:
        assert store.sweep("s").done == 2


def test_a_name_that_nobody_has_is_refused(sweep, capsys):
    assert main([*sweep, *OPTIONS]) == 0

    assert main([*sweep, "--name", "nobody"]) == 2
    assert "no sweep 'nobody'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "grid",
    [
        Grid("synthetic", alphas=(0.3,), Ks=(3,), lams=(2.0, 5.0)),
        Grid("a file.npz", alphas=(0.3, 0.55), Ks=(3,), methods=("nmf", "anmf"), missing=("zero", "ignore")),
        Grid(
            "lfw",
            (1 / 3,),
            (25,),
            (1.05, 1 + 1e-7 / 3, 1.083),
            solver="paper",
            starts=4,
            mask_seed=3,
            tol_inner=1e-5,
        ),
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
    "lfw", alphas=(0.3,), Ks=(8,), lams=(2.0, 5.0), solver="paper", starts=10, max_outer=1, max_inner=60,
    tol_inner=0.0,
)  # fmt: skip
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


def spans(path: Path) -> list[tuple[float, float]]:
    """When each sweep was worked on."""
    with sqlite3.connect(path) as connection:
        return list(connection.execute("SELECT started, ended FROM runs ORDER BY started"))


def test_sweeps_are_run_one_after_the_other_until_none_waits(path):
    ask_for(path, one=SHORT, two=Grid("synthetic", alphas=(0.5,), Ks=(3,), lams=(2.0,)))

    ended = run("queue", "--store", path.name, "--jobs", "1", folder=path.parent)

    assert ended.returncode == 0, ended.stderr
    with read_store(path) as store:
        assert {record.status for record in store.sweeps()} == {"finished"}
        assert store.queued() == {}
        assert store.queue_process() is None
    (_, first_end), (second_start, _) = spans(path)
    assert first_end <= second_start


def test_a_sweep_that_cannot_run_says_why_and_lets_the_next_have_its_turn(path):
    ask_for(path, lost=Grid("gone/away.npz", alphas=(0.3,), Ks=(3,), lams=(2.0,)), fine=SHORT)

    run("queue", "--store", path.name, "--jobs", "1", folder=path.parent)

    with read_store(path) as store:
        assert store.sweep("lost").status == "stopped"
        assert "'gone/away.npz' is neither a file nor one of" in (store.sweep("lost").message or "")
        assert store.sweep("fine").status == "finished"


def test_taking_a_running_sweep_out_ends_it_with_its_points_kept_and_the_next_begins(path):
    ask_for(path, long=LONG, next=SHORT)
    with started("queue", "--store", path.name, "--jobs", "1", folder=path.parent) as process:
        wait_until(lambda: done(path, "long") >= 2, process, "two points")
        with open_store(path) as store:
            Queue(store).remove("long")
        process.wait(PATIENCE)

    assert process.returncode == 0
    assert (status(path, "long"), status(path, "next")) == ("stopped", "finished")
    assert 2 <= done(path, "long") < POINTS


def test_a_sweep_taken_out_and_asked_for_again_at_once_goes_on_to_its_end(path):
    ask_for(path, long=LONG)
    with started("queue", "--store", path.name, "--jobs", "1", folder=path.parent) as process:
        wait_until(lambda: done(path, "long") >= 2, process, "two points")
        with open_store(path) as store:
            Queue(store).remove("long")
            Queue(store).add("long")
        process.wait(PATIENCE)

    assert status(path, "long") == "finished"
    assert len(measured(path, "long")) == POINTS


def test_after_kill_9_the_sweep_is_still_in_the_queue_and_goes_on_without_a_point_twice(path):
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


def test_the_request_to_end_is_passed_on_and_the_sweep_stays_in_the_queue(path):
    ask_for(path, long=LONG)
    with started("queue", "--store", path.name, "--jobs", "1", folder=path.parent) as process:
        wait_until(lambda: done(path, "long") >= 1, process, "a point")
        process.terminate()
        process.communicate(timeout=PATIENCE)

    assert process.returncode == 143
    assert status(path, "long") == "queued"


def test_without_a_name_it_is_the_queue_of_the_dashboard(path, monkeypatch):
    monkeypatch.setenv("ATNMF_STORE", str(path))
    lacking = run("queue", folder=path.parent)
    assert (lacking.returncode, list(path.parent.iterdir())) == (1, [])
    assert f"{path}: there is no store here." in lacking.stderr
    ask_for(path, one=SHORT)

    run("queue", "--jobs", "1", folder=path.parent)

    assert status(path, "one") == "finished"
