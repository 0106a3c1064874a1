"""The Curves page runs from top to bottom, and what is pressed on it arrives in the store."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from atnmf_core import load_dataset
from atnmf_core.reference import bundled_curve
from atnmf_core.sweep import Grid, Measures, SweepRecord, open_store, read_store, schema
from atnmf_core.sweep.queue import Queue
from pages.common import sweeps
from pages.curves_view import view
from pages.curves_view.curve import BUNDLED
from tests.app.rendered import rendered

SECONDS = 60
GRID = Grid("synthetic", alphas=(0.3, 0.5), Ks=(3, 4), lams=(2.0, 5.0), missing=("zero", "ignore"))


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "store.sqlite"
    monkeypatch.setenv("ATNMF_STORE", str(path))
    return path


class Process:
    """A process that still runs, or ended with a code."""

    def __init__(self, code: int | None = None) -> None:
        self.code = code

    def poll(self) -> int | None:
        return self.code


@pytest.fixture(autouse=True)
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Path]]:
    """The stores whose queue the page wanted to run; nothing is really started."""
    asked: list[Path] = []

    def start(path: Path) -> Process:
        asked.append(path)
        return Process()

    monkeypatch.setattr(sweeps, "start_queue", start)
    sweeps.queue_process.clear()
    yield asked
    sweeps.queue_process.clear()


def opened(repository: Path, **query: str) -> AppTest:
    page = AppTest.from_file(str(repository / "app.py"), default_timeout=SECONDS)
    page.run()
    for name, value in query.items():
        page.query_params[name] = value
    return page.switch_page("pages/curves.py").run()


def press(page: AppTest, label: str) -> AppTest:
    return next(button for button in page.button if button.label == label).click().run()


def titles(page: AppTest) -> list[str]:
    return [rendered(heading.value) for heading in page.main.subheader]


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


def test_the_first_view_is_a_finished_curve_with_version_and_date(repository: Path, store: Path) -> None:
    page = opened(repository)

    assert not page.exception
    assert titles(page) == [BUNDLED["kept:lfw"], "Your sweeps"]
    made = next(caption.value for caption in page.main.caption if "Bundled with the program" in caption.value)
    first = bundled_curve("lfw")[0]
    assert f"solver version {first.version}, {first.date}, 5 starts each" in made
    assert any("is best at **λ = " in text.value and "below" in text.value for text in page.main.markdown)
    assert not store.exists()


@pytest.mark.parametrize("view", ["lambda", "alpha", "map"])
@pytest.mark.parametrize("name", BUNDLED)
def test_every_bundled_curve_is_shown_in_every_view(
    repository: Path, store: Path, name: str, view: str
) -> None:
    page = opened(repository, show=name, view=view)

    assert not page.exception
    assert titles(page)[0] == BUNDLED[name]


def test_the_papers_figure_says_why_the_solvers_differ(repository: Path, store: Path) -> None:
    page = opened(repository, show="kept:synthetic")

    assert any("Why the two solvers differ at small λ" in text.value for text in page.main.markdown)


def test_a_range_that_is_none_is_explained_and_cannot_be_started(repository: Path, store: Path) -> None:
    page = opened(repository)

    page.sidebar.number_input(key="curves_low").set_value(0.5).run()

    assert "begins at 0.5: it must begin above 1" in page.sidebar.warning[0].value
    assert page.button(key="curves_start").disabled
    assert not store.exists()


def test_the_number_of_fits_and_the_time_are_said_before_the_start(repository: Path, store: Path) -> None:
    page = opened(repository, methods="nmf,atnmf,anmf", count="4", starts="2", alphas="0.3,0.5")

    said = [text.value for text in page.sidebar.markdown]

    assert any(text.startswith("**24 fits**, about **") for text in said)


def test_fits_that_are_in_the_store_are_not_counted_into_the_time(repository: Path, store: Path) -> None:
    grid = Grid("synthetic", alphas=(0.5,), Ks=(4,), lams=(2.0, 5.0), missing=("zero",), starts=2)
    asked = {"data": "synthetic", "K": "4", "alphas": "0.5", "low": "2", "high": "5", "count": "2"}

    keep(store, "before", grid, fits=4)
    some = [text.value for text in opened(repository, **asked, starts="2").sidebar.markdown]
    keep(store, "before", grid)
    everything = [text.value for text in opened(repository, **asked, starts="2").sidebar.markdown]

    assert any(text.startswith("**6 fits**, 4 of them already stored, about **") for text in some)
    assert "**6 fits**, already stored" in everything


def test_start_puts_the_sweep_in_the_queue_and_shows_it(
    repository: Path, store: Path, started: list[Path]
) -> None:
    page = opened(repository, data="synthetic", K="4", alphas="0.5", low="2", high="5", count="2", starts="2")

    press(page, "Start")

    assert not page.exception
    with read_store(store) as reader:
        (record,) = reader.sweeps()
        assert reader.queued() == {record.name: 1}
    assert record.grid == Grid(
        "synthetic", alphas=(0.5,), Ks=(4,), lams=(2.0, 5.0), missing=("zero",), starts=2
    )
    assert started == [store]
    assert titles(page)[0] == record.name
    assert page.query_params["show"] == f"sweep:{record.name}"


def test_a_sweep_grows_on_the_page_and_is_found_by_its_address(repository: Path, store: Path) -> None:
    keep(store, "mine", fits=5)

    page = opened(repository, show="sweep:mine")

    assert titles(page)[0] == "mine"
    assert any("Stopped after 5 of 24 fits" in text.value for text in page.main.markdown)


def test_resume_puts_a_stopped_sweep_in_the_queue_and_cancel_takes_it_out(
    repository: Path, store: Path, started: list[Path]
) -> None:
    keep(store, "mine", fits=5)
    page = opened(repository, show="sweep:mine")

    press(page, "Resume")
    with read_store(store) as reader:
        assert reader.sweep("mine").status == "queued"
    assert started == [store]
    press(page, "Cancel")

    assert not page.exception
    with read_store(store) as reader:
        assert (reader.sweep("mine").status, reader.sweep("mine").done) == ("stopped", 5)


def test_sweeps_are_opened_renamed_and_deleted(repository: Path, store: Path) -> None:
    keep(store, "one")
    keep(store, "two", Grid("synthetic", alphas=(0.7,), Ks=(3,), lams=(2.0,)))
    page = opened(repository)

    page.button(key="Open one").click().run()
    assert titles(page)[0] == "one"
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


def test_a_pill_leads_from_a_sweep_to_a_bundled_curve_and_none_is_pressed_before(
    repository: Path, store: Path
) -> None:
    keep(store, "mine")
    page = opened(repository, show="sweep:mine")
    pills = page.button_group(key="curves_bundled_0")
    assert pills.value is None

    pills.set_value("kept:synthetic").run()

    assert titles(page)[0] == BUNDLED["kept:synthetic"]
    assert page.button_group(key="curves_bundled_1").value == "kept:synthetic"


def test_a_failed_point_shows_its_message_and_can_be_tried_again(repository: Path, store: Path) -> None:
    keep(store, "mine", failed=2)
    page = opened(repository, show="sweep:mine")
    assert any("InputError: no such luck." in rendered(text.value) for text in page.main.markdown)

    press(page, "Try them again")

    with read_store(store) as reader:
        assert (reader.sweep("mine").status, reader.sweep("mine").failed) == ("queued", 0)


def test_a_queue_without_a_process_is_resumed_when_the_page_opens(
    repository: Path, store: Path, started: list[Path]
) -> None:
    keep(store, "mine", fits=5)
    with open_store(store) as writer:
        Queue(writer).add("mine")

    opened(repository)

    assert started == [store]


def test_a_worker_that_breaks_down_is_not_started_again_and_again(
    repository: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(store, "mine", fits=5)
    asked = []

    def start(path: Path) -> Process:
        asked.append(path)
        path.with_name(path.name + ".log").write_text("ImportError: numpy is gone\n")
        return Process(1)

    monkeypatch.setattr(sweeps, "start_queue", start)
    page = opened(repository, show="sweep:mine")
    press(page, "Resume")
    page.run()

    assert len(asked) == 1
    assert "numpy is gone" in page.error[0].value
    press(page, "Start it again")
    assert len(asked) == 2
    with open_store(store) as writer:
        Queue(writer).take_over()
    page.run()
    assert not page.error


def test_an_unknown_sweep_is_replaced_by_the_bundled_curve(repository: Path, store: Path) -> None:
    page = opened(repository, show="sweep:of another machine")

    assert not page.exception
    assert "not stored on this machine" in page.info[0].value
    assert titles(page)[0] == BUNDLED["kept:lfw"]


def test_a_dask_cluster_is_named(repository: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATNMF_DASK", "tcp://10.0.0.1:8786")

    page = opened(repository)

    assert any("Dask cluster at `tcp://10.0.0.1:8786`" in caption.value for caption in page.main.caption)


def test_data_and_setting_are_taken_over_from_explore(repository: Path, store: Path) -> None:
    page = AppTest.from_file(str(repository / "app.py"), default_timeout=SECONDS)
    for name, value in {"data": "synthetic", "K": "4", "alpha": "0.45", "missing": "ignore"}.items():
        page.query_params[name] = value
    page.run()

    page.query_params.clear()
    page.switch_page("pages/curves.py").run()

    assert not page.exception
    assert page.sidebar.selectbox(key="data").value == "synthetic"
    assert page.sidebar.slider(key="K").value == 4
    assert list(page.sidebar.multiselect(key="curves_alphas").value) == [0.45]


def test_any_address_opens_the_page(repository: Path, store: Path) -> None:
    page = opened(
        repository,
        show="kept:nothing",
        view="sideways",
        alphas="x,0.3,7",
        low="nan",
        count="-1",
        at_alpha="9",
        at_missing="maybe",
        methods=",",
        data="no-such-data",
    )

    assert not page.exception


def test_a_store_that_cannot_be_read_is_explained(repository: Path, store: Path) -> None:
    store.write_bytes(b"not a store" * 1000)

    page = opened(repository)

    assert not page.exception
    assert [title.value for title in page.title] == ["How the error depends on λ and α"]
    assert str(store) in rendered(page.error[0].value)


def read_only(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A test that runs as root may write everywhere.
    monkeypatch.setattr(os, "access", lambda *_: False)


def locked(path: Path, monkeypatch: pytest.MonkeyPatch) -> sqlite3.Connection:
    monkeypatch.setattr(schema, "WAIT_FOR_LOCK", 0.05)
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
    repository: Path, store: Path, monkeypatch: pytest.MonkeyPatch, fault: Callable[..., object], action: str
) -> None:
    keep(store, "mine", fits=5, failed=1)
    page = opened(repository, show="sweep:mine")
    if action == "Cancel":
        press(page, "Resume")
    button = next(button for button in page.button if action in (button.label, button.key))

    held = fault(store, monkeypatch)
    button.click().run()

    assert not page.exception
    assert str(store) in rendered(page.error[0].value)
    del held


def test_a_store_that_breaks_between_two_polls_is_explained_without_a_traceback(
    repository: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(store, "mine", fits=5)
    with open_store(store) as writer:
        Queue(writer).add("mine")
    page, records = opened(repository, show="sweep:mine"), view.records
    assert not page.error

    def read_then_break() -> list[SweepRecord]:
        found = records()
        truncated(store, monkeypatch)
        return found

    # The page reads that a sweep is under way; the fragment that it polls for that finds a broken store.
    monkeypatch.setattr(view, "records", read_then_break)
    page.run()

    assert not page.exception
    (error,) = page.error
    assert f"The sweeps on this machine cannot be read. {store} is damaged" in rendered(error.value)


def test_a_folder_that_cannot_be_made_for_the_store_is_explained(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("ATNMF_STORE", str(tmp_path / "file" / "folder" / "store.sqlite"))

    page = opened(repository)

    assert not page.exception
    assert str(tmp_path / "file") in rendered(page.error[0].value)


@pytest.mark.parametrize(("code", "words"), [(1, "perhaps the disk is full"), (-9, "by SIGKILL")])
def test_the_exit_code_says_why_a_worker_that_wrote_nothing_died(
    repository: Path, store: Path, monkeypatch: pytest.MonkeyPatch, code: int, words: str
) -> None:
    def start(path: Path) -> Process:
        path.with_name(path.name + ".log").touch()
        return Process(code)

    keep(store, "mine", fits=5)
    monkeypatch.setattr(sweeps, "start_queue", start)
    page = opened(repository, show="sweep:mine")

    press(page, "Resume").run()

    assert words in page.error[0].value


def test_an_empty_file_left_by_a_full_disk_is_no_obstacle(repository: Path, store: Path) -> None:
    store.touch()

    page = opened(repository, data="synthetic", K="4", count="2")

    assert not page.error
    press(page, "Start")
    with read_store(store) as reader:
        assert len(reader.sweeps()) == 1


def test_a_name_is_shown_as_it_is_written_and_renders_nothing(repository: Path, store: Path) -> None:
    name = "![x](http://host/t.png) :red[*a*] `b`"
    keep(store, name, fits=5, failed=1)

    page = opened(repository, show=f"sweep:{name}")

    assert titles(page)[0] == name
    texts = [*page.main.markdown, *page.main.subheader, *page.main.caption]
    assert sum(name in rendered(text.value) for text in texts) == 2
    assert not [text.value for text in texts if "![x](" in text.value or ":red[" in text.value]


def test_a_pill_that_an_earlier_drawing_showed_is_not_pressed_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A browser that polls late still sends the pill that was pressed before a sweep was started."""
    state = {"curves_show": "kept:lfw"}
    monkeypatch.setattr(view.st, "session_state", state)
    before = view.pills_key("kept:lfw")
    state["curves_show"] = "sweep:s"
    now = view.pills_key(None)

    state[before] = "kept:lfw"
    view.show_bundled(before)
    assert state["curves_show"] == "sweep:s"

    state[now] = "kept:synthetic"
    view.show_bundled(now)
    assert state["curves_show"] == "kept:synthetic"
