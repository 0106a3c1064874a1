"""The Curves page runs from top to bottom, plans a sweep, and what is pressed on it arrives in the store."""

import os
import sqlite3
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from atnmf_core import load_dataset
from atnmf_core.commands.arguments import lambdas
from atnmf_core.figures.error_curves import compare_curves
from atnmf_core.reference import bundled_curve
from atnmf_core.sweep import Grid, Measures, open_store, read_store, reader
from atnmf_core.sweep.store import Queue
from pages.common import sweeps
from pages.common.setting import MAX_LAM
from pages.curves_view import chart
from pages.curves_view.curve import BUNDLED, Curve, opens_in_explore
from pages.curves_view.setting import MAX_FITS, Plan
from tests.app.opening import open_page, press, rendered, texts

GRID = Grid("synthetic", alphas=(0.3, 0.5), Ks=(3, 4), lams=(2.0, 5.0), missing=("zero", "ignore"))


@pytest.fixture
def store(tmp_path, monkeypatch):
    path = tmp_path / "store.sqlite"
    monkeypatch.setenv("ATNMF_STORE", str(path))
    return path


def process(code: int | None = None) -> SimpleNamespace:
    """A process that still runs, or ended with a code."""
    return SimpleNamespace(poll=lambda: code)


@pytest.fixture(autouse=True)
def started(monkeypatch):
    """The stores whose queue the page wanted to run; nothing is really started."""
    asked: list[Path] = []

    def start(path):
        asked.append(path)
        return process()

    monkeypatch.setattr(sweeps, "start_queue", start)
    sweeps.queue_process.clear()
    yield asked
    sweeps.queue_process.clear()


opened = partial(open_page, "curves")


def titles(page: AppTest) -> list[str]:
    return texts(page.main, "header").splitlines()


def keep(path: Path, name: str, grid: Grid = GRID, fits: int | None = None, failed: int = 0) -> None:
    """A sweep with so many of its points finished, the first of them as failures."""
    with open_store(path) as store:
        sweep = store.add_sweep(name, grid, load_dataset(grid.dataset).content_hash)
        run = store.begin_run(sweep)
        for number, (key, _) in enumerate(store.claims(sweep, run)):
            if fits is not None and number >= fits:
                break
            if number < failed:
                store.add_outcome(key, "InputError: no such luck.")
            else:
                store.add_outcome(key, Measures(0.5 - 0.01 * number, 0.25, 10.0, 20.0, 7, True, 0.1))
        store.end_run(run, "stopped", "stopped by the user")


def test_the_first_view_is_a_finished_curve_with_version_and_date_from_which_a_wrong_range_starts_nothing(
    store, monkeypatch
):
    monkeypatch.setenv("ATNMF_DASK", "tcp://10.0.0.1:8786")
    page = opened()

    assert titles(page) == [BUNDLED["kept:lfw"], "Your sweeps"]
    told, first = texts(page.main, "caption"), bundled_curve("lfw")[0]
    assert "Bundled with the program" in told
    assert f"solver version {first.version}, {first.date}, 5 starts each" in told
    assert "Dask cluster at `tcp://10.0.0.1:8786`" in told
    assert any("is best at **λ = " in text.value and "below" in text.value for text in page.main.markdown)
    page.sidebar.number_input(key="curves_low").set_value(0.5).run()
    assert "begins at 0.5: it must begin above 1" in page.sidebar.warning[0].value
    assert page.button(key="curves_start").disabled
    assert not store.exists()


@pytest.mark.parametrize("view", ["lambda", "alpha", "map"])
@pytest.mark.parametrize("name", BUNDLED)
def test_every_bundled_curve_is_shown_in_every_view(store, name, view):
    page = opened(show=name, view=view)

    assert titles(page)[0] == BUNDLED[name]
    why = "Why the two solvers differ at small λ" in texts(page.main, "markdown")
    assert why == (name == "kept:synthetic"), "the paper's figure"


ASKED = {"data": "synthetic", "K": "4", "alphas": "0.5", "low": "2", "high": "5", "count": "2", "starts": "2"}
ASKED_GRID = Grid("synthetic", alphas=(0.5,), Ks=(4,), lams=(2.0, 5.0), missing=("zero",), starts=2)


def test_the_number_of_fits_and_the_time_are_said_before_the_start(store):
    for fits, said in (
        (0, "**6 fits**, about **"),
        (4, "**6 fits**, 4 of them already stored, about **"),
        (6, "**6 fits**, already stored"),
    ):
        keep(store, "before", ASKED_GRID, fits=fits)
        assert said in texts(opened(**ASKED).sidebar, "markdown")


@pytest.mark.parametrize("file", ["none", "left empty by a full disk"])
def test_start_puts_the_sweep_in_the_queue_and_shows_it(store, started, file):
    if file != "none":
        store.touch()
    page = opened(**ASKED)

    press(page, "Start")

    with read_store(store) as reader:
        (record,) = reader.sweeps()
        assert reader.queued() == {record.name: 1}
    assert record.grid == ASKED_GRID
    assert started == [store]
    assert titles(page)[0] == record.name
    assert page.query_params["show"] == f"sweep:{record.name}"


def test_resume_puts_a_stopped_sweep_in_the_queue_and_cancel_takes_it_out(store, started):
    keep(store, "mine", fits=5, failed=2)
    page = opened(show="sweep:mine")
    assert titles(page)[0] == "mine"
    assert "Stopped after 5 of 24 fits" in texts(page.main, "markdown")
    assert "InputError: no such luck." in texts(page.main, "markdown")

    press(page, "Resume")
    with read_store(store) as reader:
        assert reader.sweep("mine").status == "queued"
    assert started == [store]
    # A queue without a process, as after a restart, is resumed when the page opens.
    sweeps.queue_process.clear()
    opened()
    assert started == [store, store]
    press(page, "Cancel")

    with read_store(store) as reader:
        assert (reader.sweep("mine").status, reader.sweep("mine").done) == ("stopped", 3)
    press(page, "Try them again")
    with read_store(store) as reader:
        assert (reader.sweep("mine").status, reader.sweep("mine").failed) == ("queued", 0)


def test_several_curves_are_compared_in_one_chart(store):
    keep(store, "one")
    page = opened(show="sweep:one")

    page.multiselect(key="curves_compared").set_value(["kept:synthetic", "kept:lfw"]).run()

    assert not page.exception
    assert page.query_params["beside"] == "kept:synthetic\nkept:lfw"
    linked = opened(show="sweep:one", beside="kept:synthetic\nsweep:gone")
    assert linked.multiselect(key="curves_compared").value == ["kept:synthetic"]
    points = {}
    for name in ("sweep:one", "kept:synthetic"):
        found = chart.find_curve(name).points
        one = next(point for point in found if point.lam is not None)
        points[name] = [p for p in found if (p.alpha, p.missing, p.K) == (one.alpha, one.missing, one.K)]
    drawn = compare_curves(points, ("#112233", "#445566"))
    lines = {trace.name: trace.line.color for trace in drawn.data if trace.showlegend is not False}
    assert lines["sweep:one: AT-NMF"] == lines["sweep:one: NMF"] == "#112233"
    for solver in ("fast solver", "Algorithm 1"):
        assert lines[f"kept:synthetic: AT-NMF, {solver}"] == "#445566"


def test_sweeps_are_opened_renamed_and_deleted(store):
    keep(store, "one")
    keep(store, "two", Grid("synthetic", alphas=(0.7,), Ks=(3,), lams=(2.0,)))
    page = opened()

    page.button(key="Open one").click().run()
    assert titles(page)[0] == "one"
    assert (page.session_state["data"], page.session_state["K"]) == ("synthetic", 3)
    page.text_input(key="name one").set_value("three").run()
    page.button(key="rename one").click().run()
    assert titles(page)[0] == "three"
    page.text_input(key="name three").set_value("two").run()
    page.button(key="rename three").click().run()
    assert "'two'" in rendered(page.error[0].value)
    page.button(key="delete three").click().run()

    assert not page.exception
    assert titles(page)[0] == BUNDLED["kept:lfw"]
    with read_store(store) as reader:
        assert [record.name for record in reader.sweeps()] == ["two"]


@pytest.mark.parametrize(
    ("wrote", "code", "told"),
    [
        ("ImportError: numpy is gone\n", 1, "numpy is gone"),
        ("", 1, "perhaps the disk is full"),
        ("", -9, "by SIGKILL"),
    ],
)
def test_a_worker_that_breaks_down_says_why_and_is_not_started_again_and_again(
    store, monkeypatch, wrote, code, told
):
    keep(store, "mine", fits=5)
    asked = []

    def start(path):
        asked.append(path)
        path.with_name(path.name + ".log").write_text(wrote)
        return process(code)

    monkeypatch.setattr(sweeps, "start_queue", start)
    page = opened(show="sweep:mine")
    press(page, "Resume")
    page.run()

    assert len(asked) == 1
    assert told in page.error[0].value
    press(page, "Start it again")
    assert len(asked) == 2
    with open_store(store) as writer:
        Queue(writer).take_over()
    page.run()
    assert not page.error


def test_an_unknown_sweep_is_replaced_by_the_bundled_curve_whatever_else_is_asked_for(store):
    wrong = {"view": "sideways", "alphas": "x,0.3,7", "low": "nan", "at_alpha": "9", "data": "no-such-data"}

    page = opened(show="sweep:of another machine", **wrong)

    assert "not stored on this machine" in page.info[0].value
    assert titles(page)[0] == BUNDLED["kept:lfw"]


def test_data_and_setting_are_taken_over_from_explore(store):
    page = open_page("explore", data="synthetic", K="4", alpha="0.45", missing="ignore")

    page.query_params.clear()
    page.switch_page("pages/curves.py").run()

    assert not page.exception
    assert page.sidebar.selectbox(key="data").value == "synthetic"
    assert page.sidebar.slider(key="K").value == 4
    assert list(page.sidebar.multiselect(key="curves_alphas").value) == [0.45]


def test_a_lambda_that_explore_does_not_take_is_no_link():
    def curve(lam):
        grid = Grid("synthetic", alphas=(0.5,), Ks=(3,), lams=(lam,))
        return Curve("one", "One", (), "", "", (), grid)

    assert opens_in_explore(curve(MAX_LAM))
    assert not opens_in_explore(curve(2 * MAX_LAM))


@pytest.mark.parametrize("fault", ["no store", "no folder"])
def test_a_store_that_cannot_be_read_is_explained(store, monkeypatch, fault):
    store.write_bytes(b"not a store" * 1000)
    if fault == "no folder":
        monkeypatch.setenv("ATNMF_STORE", str(store / "folder" / "store.sqlite"))

    page = opened()

    assert [title.value for title in page.title] == ["How the error depends on λ and α"]
    assert str(store) in rendered(page.error[0].value)


def read_only(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A test that runs as root may write everywhere.
    monkeypatch.setattr(os, "access", lambda *_: False)


def locked(path: Path, monkeypatch: pytest.MonkeyPatch) -> sqlite3.Connection:
    monkeypatch.setattr(reader, "WAIT_FOR_LOCK", 0.05)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    return other


def truncated(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(path.read_bytes()[:5000])


ACTIONS = ["Start", "Resume", "Cancel", "Try them again", "rename mine", "delete mine"]


@pytest.mark.parametrize(
    ("fault", "action"),
    [*((read_only, action) for action in ACTIONS), (locked, "Resume"), (truncated, "Resume")],
)
def test_a_store_that_fails_under_an_action_is_explained_without_a_traceback(
    store, monkeypatch, fault, action
):
    keep(store, "mine", fits=5, failed=1)
    page = opened(show="sweep:mine")
    if action == "Cancel":
        press(page, "Resume")
    button = next(button for button in page.button if action in (button.label, button.key))

    held = fault(store, monkeypatch)
    button.click().run()

    assert not page.exception
    assert str(store) in rendered(page.error[0].value)
    del held


def test_a_store_that_breaks_between_two_polls_is_explained_without_a_traceback(store, monkeypatch):
    keep(store, "mine", fits=5)
    with open_store(store) as writer:
        Queue(writer).add("mine")
    page, records = opened(show="sweep:mine"), chart.records
    assert not page.error

    def read_then_break():
        found = records()
        truncated(store, monkeypatch)
        return found

    # The page reads that a sweep is under way; the fragment that it polls for that finds a broken store.
    monkeypatch.setattr(chart, "records", read_then_break)
    page.run()

    assert not page.exception
    (error,) = page.error
    assert f"The sweeps on this machine cannot be read. {store} is damaged" in rendered(error.value)


def test_a_name_is_shown_as_it_is_written_and_renders_nothing(store):
    name = "![x](http://host/t.png) :red[*a*] `b`"
    keep(store, name, fits=5, failed=1)

    page = opened(show=f"sweep:{name}")

    assert titles(page)[0] == name
    texts = [*page.main.markdown, *page.main.header, *page.main.caption]
    assert sum(name in rendered(text.value) for text in texts) == 2
    assert not [text.value for text in texts if "![x](" in text.value or ":red[" in text.value]


def test_a_pill_leads_to_a_bundled_curve_but_not_one_that_an_earlier_drawing_showed(store, monkeypatch):
    keep(store, "mine")
    page = opened(show="sweep:mine")
    pills = page.button_group(key="curves_bundled_0")
    assert pills.value is None
    pills.set_value("kept:synthetic").run()
    assert titles(page)[0] == BUNDLED["kept:synthetic"]
    assert page.button_group(key="curves_bundled_1").value == "kept:synthetic"

    # A browser that polls late still sends the pill that was pressed before a sweep was started.
    state = {"curves_show": "kept:lfw"}
    monkeypatch.setattr(chart.st, "session_state", state)
    before = chart.pills_key("kept:lfw")
    state["curves_show"] = "sweep:s"
    now = chart.pills_key(None)
    for key, pressed, shown in ((before, "kept:lfw", "sweep:s"), (now, "kept:synthetic", "kept:synthetic")):
        state[key] = pressed
        chart.show_bundled(key)
        assert state["curves_show"] == shown


FACES = (625, 100)


@pytest.mark.parametrize(
    ("plan", "fits"),
    [(Plan(), 3 * (1 + 12)), (Plan(methods=("nmf", "anmf"), low=5.0, high=2.0), 2 * 3)],
    ids=["the first one", "without AT-NMF the range does not matter"],
)
def test_a_plan_can_be_started(plan, fits):
    assert plan.problems(FACES) == []
    assert len(plan.grid("lfw")) == fits


def test_lambdas_are_evenly_spaced_in_the_logarithm_of_lambda_minus_one():
    lams = Plan(low=1.01, high=101.0, count=5).lams()

    assert (lams[0], lams[-1]) == (1.01, 101.0)
    assert np.diff(np.log(np.array(lams) - 1)) == pytest.approx(np.log(10), rel=0.01)
    assert Plan(low=2.0, high=2.0, count=1).lams() == (2.0,)
    # Those that round to the same are one.
    assert Plan(low=1.001, high=1.002, count=40).lams() == tuple(1 + n / 10_000 for n in range(10, 21))


@pytest.mark.parametrize(
    ("low", "high", "count"),
    [(1.05, 100.0, 16), (1.0004, 2.0, 3), (1.5, 24.0, 5), (1.013, 87.3, 30), (1.0001, 1.003, 30)],
)
def test_the_command_line_the_page_and_its_address_spell_the_same_lambdas(low, high, count):
    plan = Plan(low=low, high=high, count=count)

    assert plan.problems(FACES) == []
    assert lambdas(f"{low}:{high}:{count}") == plan.lams() == tuple(float(f"{lam:g}") for lam in plan.lams())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"low": 1.0}, "begins at 1: it must begin above 1"),
        ({"low": -3.0}, "begins at -3"),
        ({"low": 5.0, "high": 2.0}, "ends at 2, before it begins at 5"),
        ({"low": 2.0, "high": 2.0}, "begins and ends at 2"),
        ({"low": 1.00001}, "too near 1"),
        ({"high": 1e9}, "up to 1,000,000"),
        ({"high": float("inf")}, "up to 1,000,000"),
        ({"alphas": ()}, "at least one hidden share"),
        ({"methods": ()}, "at least one method"),
        ({"missing": ()}, "unmarked, marked, or both"),
        ({"K": 101}, "K = 101 is too many parts for 625 × 100: at most 100"),
        ({"count": 500, "starts": 50}, f"up to {MAX_FITS:,}"),
    ],
    ids=str,
)
def test_what_cannot_be_started_is_explained(change, said):
    (problem,) = replace(Plan(), **change).problems(FACES)

    assert said in problem
