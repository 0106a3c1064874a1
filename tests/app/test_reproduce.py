"""The Reproduce page runs from top to bottom, follows its address, and knows what was run here."""

import os
import re
import subprocess
import sys
from functools import partial

import pytest
from streamlit.testing.v1 import AppTest

from atnmf_core.jobs.fit_task import beside_others
from atnmf_core.reference import NAMES
from atnmf_core.reference.paper_tables import sweep_name
from atnmf_core.sweep import Measures, open_store
from atnmf_core.sweep.grid import identify
from atnmf_core.sweep.store import Queue
from pages.reproduce_view import run
from pages.reproduce_view.tables import ReproduceSetting, columns
from tests.app.opening import open_page, rendered, texts


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    path = tmp_path / "store.sqlite"
    monkeypatch.setenv("ATNMF_STORE", str(path))
    return path


opened = partial(open_page, "reproduce")


def said(page: AppTest) -> str:
    return texts(page.main, "markdown", "caption", "error")


def test_the_first_view_waits_for_no_library_that_it_does_not_use(repository):
    views = sorted((repository / "pages" / "reproduce_view").glob("[a-z]*.py"))
    imports = "; ".join(f"import pages.reproduce_view.{file.stem}" for file in views)
    slow = {"h5py", "joblib", "pandas", "requests", "scipy", "spectral", "tifffile"}

    found = subprocess.run(
        [sys.executable, "-c", f"import sys; {imports}; print(*sys.modules)"],
        cwd=repository,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()

    assert "pages.reproduce_view.tables" in found
    assert slow & set(found) == set()


@pytest.mark.parametrize("table", NAMES)
def test_every_table_is_shown_with_its_notes(table):
    # Not every table has this column: another takes its place.
    page = opened(table=table, method="atnmf-3")

    assert page.title[0].value == "The paper's tables, published and measured"
    assert ("AT-NMF (λ = 3)] at α = 0.5" in said(page)) == (table == "synthetic")
    assert "ANMF (reconstruction)" in said(page)
    assert re.search(
        r"\*\*NMF and AT-NMF:\*\* 2\d of 2\d cells measured: .* within the published spread, ", said(page)
    )
    assert ("but its numbers are those of K = 3" in said(page)) == (table in ("moffet", "madonna"))
    assert f"python -m atnmf_core reproduce {table}" in page.code[0].value


def test_a_chosen_cell_shows_what_its_numbers_were_made_from_and_the_command_line_for_it(monkeypatch):
    cell = {"table": "moffet", "alpha": "0.3", "method": "atnmf-2"}
    page = opened(**cell, starts="2", outer="20")

    text = said(page)
    assert "AT-NMF (λ = 2)] at α = 0.3" in text
    assert "Published **0.041 ± 0.001**" in text
    assert "outer iterations allowed" in text
    assert "solver version" in text
    assert page.code[0].value.splitlines()[1] == (
        "python -m atnmf_core reproduce moffet --alpha 0.3 --methods atnmf --lam 2 --starts 2 "
        "--treatment zero --max-outer 20"
    )
    monkeypatch.setattr("pages.reproduce_view.tables.measured", lambda table: ())
    assert "Unmarked: not yet" in said(opened(**cell))


def test_a_cell_at_lambda_2_says_how_far_noise_moves_it():
    cell = {"alpha": "0.3", "method": "atnmf-2"}

    ends = "the first start ends at 5.176 to 5.627, up to 6.6% from its 5.278."
    assert f"With 10⁻⁶ of noise, 5 draws, {ends}" in said(opened(table="synthetic", **cell))
    assert "how far noise moves this cell was not measured" in said(opened(table="cbcl", **cell))


def test_a_longer_run_is_said_to_take_longer(paper_data):
    def seconds(**query):
        text = next(one.value for one in opened(**query).main.markdown if one.value.startswith("about **"))
        number, unit = text.split("**")[1].split()
        return float(number) * {"s": 1, "min": 60, "h": 3600, "days": 86400}[unit]

    assert seconds(outer="20") < seconds(outer="100") < seconds(outer="100", starts="10")


def test_a_busy_machine_is_said_to_take_longer(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    for load, expected in ((0.0, 10.0), (2.0, 10.0), (10.0, 30.0)):
        monkeypatch.setattr(os, "getloadavg", lambda load=load: (load, 0.0, 0.0))
        assert beside_others(10.0, workers=2) == expected


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        (Measures(6.0612, 6.0612, 1.0, 1.0, 10, True, 2.0), "Unmarked, run here **6.061**"),
        ("ArithmeticError: overflow ![x](http://host/t.png)", "overflow ![x](http://host/t.png)"),
    ],
    ids=["a number", "a failure"],
)
def test_what_was_run_here_stands_beside_what_is_bundled(store, paper_data, outcome, told):
    grid = ReproduceSetting().grid()
    with open_store(store) as writer:
        writer.add_sweep(sweep_name("synthetic", grid), grid, "hash", reproduces="synthetic")
        for point in grid.points():
            writer.add_outcome(identify(point, "hash")[0], outcome)

    page = opened()

    assert told in said(page)
    assert "Unmarked **" in said(page)
    assert not [error.value for error in page.error if "![x](" in error.value]


def test_missing_data_is_offered_for_download_instead_of_a_run(tmp_path, monkeypatch):
    monkeypatch.setenv("ATNMF_DATA_DIR", str(tmp_path))
    page = opened(table="moffet")

    assert "**Moffett Field (AVIRIS)** is not on this machine" in said(page)
    assert "free data of NASA/JPL" in said(page)
    labels = [button.label for button in page.button]
    assert "Download it" in labels
    assert not [label for label in labels if label.startswith("Run")]


def test_a_damaged_store_is_explained_without_a_traceback_even_between_two_polls(
    store, paper_data, monkeypatch
):
    with open_store(store) as writer:
        writer.add_sweep("cell", ReproduceSetting(starts=2).grid(), "hash", reproduces="synthetic")
        Queue(writer).add("cell")
        Queue(writer).take_over()
    page, read_runs = opened(), run.read_runs
    assert not page.error

    def read_then_break(setting):
        found = read_runs(setting)
        store.write_bytes(store.read_bytes()[:5000])
        return found

    # The page reads that a cell is under way; the fragment that it polls for that finds a broken store.
    monkeypatch.setattr(run, "read_runs", read_then_break)
    page.run()
    monkeypatch.setattr(run, "read_runs", read_runs)

    for shown in (page, opened()):
        assert not shown.exception
        assert f"{store} is damaged" in rendered(shown.error[0].value)
        assert "Published **6.05 ± 0.03**" in said(shown)


@pytest.mark.parametrize("table", NAMES)
def test_every_cell_is_one_run_of_the_published_protocol(table):
    for method, column in columns(table).items():
        setting = ReproduceSetting(table=table, alpha=0.9, method=method, starts=2)
        points = list(setting.grid().points())

        assert {(point.alpha, point.method, point.lam) for point in points} == {(0.9, *column)}
        assert [point.start for point in points] == [0, 1]
        assert {(point.masks, point.draws, point.missing) for point in points} == {("paper", "paper", "zero")}
