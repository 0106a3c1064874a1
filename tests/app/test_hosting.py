"""On a server for others everybody has their own sweeps, uploads and share, and what nobody needs goes."""

import gc
import socket
import time
import weakref
from collections.abc import Callable
from contextlib import closing
from types import SimpleNamespace
from unittest.mock import Mock

import psutil
import pytest
from streamlit.testing.v1 import AppTest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from atnmf_core import load_dataset
from atnmf_core.sweep import Grid, open_store, read_store
from atnmf_core.sweep.store import Queue
from pages.common import fitting, hosting, jobs, sweeps
from pages.common.jobs import JOB_POLL_SECONDS
from pages.common.setting import Setting
from pages.common.uploads import Uploads
from pages.hyperspectral_view.setting import CubeSetting
from tests.app.opening import open_page, press, rendered, texts
from tests.benchmarks.person import Person, new_browser
from tests.browser.server import APP, LOOPBACK, serve

GRID = Grid("synthetic", alphas=(0.3,), Ks=(3,), lams=(2.0,))


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A store with sweeps of one's own machine and of two people; nothing is really started."""
    path = tmp_path / "store.sqlite"
    monkeypatch.setenv("ATNMF_STORE", str(path))
    monkeypatch.setattr(sweeps, "start_queue", lambda path: SimpleNamespace(poll=lambda: None))
    sweeps.queue_process.clear()
    with open_store(path) as opened:
        for name, owner in (("older", None), ("ann's", "ann"), ("bob's", "bob")):
            opened.add_sweep(name, GRID, load_dataset("synthetic").content_hash, owner=owner)
    return path


@pytest.fixture
def hosted(monkeypatch):
    monkeypatch.setenv("ATNMF_HOSTED", "1")


def opened(page: str, person: str, **query: str) -> AppTest:
    return open_page(page, state={"hosting_person": person}, **query)


@pytest.mark.parametrize(
    ("address", "is_hosted"),
    [("localhost", False), ("127.0.0.1", False), ("::1", False), ("0.0.0.0", True), ("", True), (None, True)],
)
def test_a_server_is_for_others_where_others_can_reach_it(monkeypatch, address, is_hosted):
    monkeypatch.setattr("streamlit.get_option", lambda name: address)

    assert hosting.is_hosted() == is_hosted
    monkeypatch.setenv("ATNMF_HOSTED", "0" if is_hosted else "1")
    assert hosting.is_hosted() != is_hosted


def test_everybody_sees_their_own_sweeps_only_and_at_ones_own_machine_all(store, monkeypatch):
    assert all(name in texts(opened("curves", "ann")) for name in ("older", "ann's", "bob's"))

    monkeypatch.setenv("ATNMF_HOSTED", "1")
    shown = texts(opened("curves", "ann", show="sweep:bob's"))

    assert [name in shown for name in ("ann's", "older", "bob's")] == [True, False, False]
    assert "This sweep is not stored" in shown


@pytest.mark.parametrize(("said", "holds"), [("7", 7), ("many", 60), ("-1", 60), ("", 60), ("1e3", 60)])
def test_a_limit_that_is_not_a_number_leaves_the_default(hosted, monkeypatch, said, holds):
    monkeypatch.setenv("ATNMF_MAX_SESSIONS", said)

    assert hosting.quotas().sessions == holds


@pytest.mark.parametrize("action", [sweeps.cancel_sweep, sweeps.queue_sweep])
def test_nobody_changes_a_sweep_of_somebody_else(store, hosted, action):
    def script(action):
        import streamlit as st

        from pages.common.sweeps import report_errors, show_refusal

        st.session_state["hosting_person"] = "ann"
        report_errors(action)("bob's")
        show_refusal()

    app = AppTest.from_function(script, args=(action,)).run()

    assert "You have no sweep" in rendered(app.error[0].value)


@pytest.mark.parametrize(
    ("quota", "said"),
    [
        ("SWEEPS", "as many sweeps as one person may"),
        ("QUEUE", "The queue of this server is full"),
        ("none", ""),
    ],
)
def test_a_sweep_belongs_to_whoever_started_it_and_reaching_the_quota_is_explained(
    store, hosted, monkeypatch, quota, said
):
    monkeypatch.setenv(f"ATNMF_MAX_{quota}", "1")
    with open_store(store) as opened_store:
        Queue(opened_store).add("bob's")
        if quota == "SWEEPS":
            Queue(opened_store).remove("bob's")

    app = press(opened("curves", "ann", data="synthetic", K="3"), "Start")

    assert said in texts(app)
    with read_store(store) as opened_store:
        owners = [record.owner for record in opened_store.sweeps()]
    assert sorted(map(str, owners)) == ["None", "ann", *["ann"] * (quota == "none"), "bob"]


def test_files_beyond_what_a_person_may_have_are_refused(hosted, monkeypatch):
    def script():
        from types import SimpleNamespace

        import streamlit as st

        from pages.common.uploads import keep_received

        large = {"name": "a.npy", "size": 100_000_000, "getvalue": lambda: b""}
        files = [SimpleNamespace(file_id=f"{one}", **large) for one in range(12)]
        st.text(keep_received(files, "received"))

    app = AppTest.from_function(script).run()
    assert not app.exception
    assert "1,200 MB" in app.error[0].value
    assert app.text[0].value == ""

    monkeypatch.setenv("ATNMF_HOSTED", "0")
    monkeypatch.setenv("ATNMF_MAX_BYTES", "2e9")
    assert AppTest.from_function(script).run().text[0].value


def test_a_persons_oldest_files_make_room_for_new_ones_and_nobody_elses_do():
    cache = Uploads()
    first, shared, last = ([(f"{number}.npy", bytes(100))] for number in range(3))
    cache.keep_files(shared, "bob", room=250)

    uploads = [cache.keep_files(files, "ann", room=250) for files in (first, shared, last)]

    assert [bool(cache.files(one)) for one in uploads] == [False, True, True]
    cache.drop(uploads[1], "ann")
    assert cache.files(uploads[1])
    assert not cache.is_own(uploads[1], "ann")
    assert cache.is_own(uploads[1], "bob")


@pytest.mark.parametrize(
    ("view", "show", "setting", "data"),
    [
        ("explore_view.panels", "show_while_waiting", Setting(), "lfw"),
        ("hyperspectral_view.pictures", "show_pictures", CubeSetting(), "simulated-scene"),
    ],
    ids=["explore", "hyperspectral"],
)
def test_the_more_people_are_here_the_more_rarely_their_pages_look_while_a_fit_runs(
    monkeypatch, view, show, setting, data
):
    def script(view, show, setting, data):
        from importlib import import_module

        import streamlit as st

        from atnmf_core import load_dataset
        from pages.common.fitting import Case
        from pages.common.jobs import poll_interval, visitor

        visitor()
        st.text(poll_interval(2.0))
        getattr(import_module(f"pages.{view}"), show)(Case(setting, load_dataset(data)), None)

    every: list[float] = []
    monkeypatch.setattr("streamlit.fragment", lambda function, run_every: every.append(run_every) or function)
    monkeypatch.setattr(fitting, "jobs", lambda case: [Mock(progress=None)])
    page = AppTest.from_function(script, args=(view, show, setting, data), default_timeout=60).run()
    assert page.text[0].value == "2.0"

    monkeypatch.setattr(jobs, "VISITORS_AT_FULL_RATE", 0.1)
    every.clear()
    page.run()

    assert not page.exception
    assert float(page.text[0].value) >= 20
    assert min(every) >= 10 * JOB_POLL_SECONDS


def test_the_session_that_was_there_when_collecting_began_is_freed(monkeypatch):
    class Session:
        """As Streamlit's sessions do, it refers to itself, and only a collection of garbage frees it."""

        def __init__(self):
            self.itself = self

    sessions = [Session()]
    first = weakref.ref(sessions[0])

    def sleep(seconds):
        """The first session leaves during the first pause; the server ends with the second."""
        if not sessions:
            raise SystemExit
        sessions.clear()

    monkeypatch.setattr(hosting.time, "sleep", sleep)
    gc.disable()
    with pytest.raises(SystemExit):
        hosting._collect_garbage_regularly()
    gc.enable()
    gc.unfreeze()
    assert first() is None


PATIENCE = 60
LONG_FITS, OTHERS = "solver=paper&K=5", "solver=paper&K=6"


@pytest.fixture(scope="module")
def address():
    """A server for others that is full with two, who may have two long fits each."""
    quotas = {"ATNMF_MAX_SESSIONS": "2", "ATNMF_MAX_LONG_FITS": "2"}
    with serve(APP, "--server.disconnectedSessionTTL=0", ATNMF_HOSTED="1", **quotas) as address:
        yield address


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def long_fits() -> int:
    """How many processes of long fits the servers of this process have."""
    children = [one for one in psutil.Process().children(recursive=True) if one.is_running()]
    # One that has just ended has no command line any more.
    lines = [child.as_dict(["cmdline"], ad_value=[])["cmdline"] for child in children]
    return sum("--low-priority" in line for line in lines)


def test_a_page_elsewhere_whose_name_leads_here_is_refused(address):
    with connect(address.replace("http", "ws") + "/_stcore/stream", origin=address):
        pass

    rebound = address.replace(LOOPBACK, "rebound.example")
    with (
        socket.create_connection((LOOPBACK, int(address.rpartition(":")[2]))) as here,
        pytest.raises(InvalidStatus, match="403"),
        connect(rebound.replace("http", "ws") + "/_stcore/stream", sock=here, origin=rebound),
    ):
        pass


def test_a_full_server_says_so_and_lets_the_next_in_when_somebody_has_gone(address):
    with closing(Person(address, "K")) as first, closing(Person(address, "K")) as second:
        assert not any("full" in words for one in (first, second) for words in one.open().words)
        with closing(Person(address, "K")) as third:
            assert any("This server is full" in words for words in third.open().words)

    with closing(Person(address, "K")) as fourth:
        until(lambda: not any("full" in words for words in fourth.open().words))


def test_a_person_has_so_many_long_fits_in_all_tabs_and_they_end_when_they_leave(address):
    browser = new_browser(address)
    with closing(Person(address, "K", LONG_FITS, browser)) as one_tab:
        one_tab.open()
        until(lambda: long_fits() > 0)
        reloaded = new_browser(address, browser)
        assert reloaded != browser
        with closing(Person(address, "K", OTHERS, reloaded)) as another_tab:
            assert any("You have 2 long fits under way" in words for words in another_tab.open().words)
        with closing(Person(address, "K", OTHERS, new_browser(address))) as somebody_else:
            assert not any("long fits under way" in words for words in somebody_else.open().words)

    until(lambda: long_fits() == 0)
