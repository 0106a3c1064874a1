"""On a server for others everybody has their own sweeps, uploads and share; on one's own machine nothing is
kept apart.
"""

from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from atnmf_core import load_dataset
from atnmf_core.sweep import Grid, open_store, read_store
from atnmf_core.sweep.queue import Queue
from pages.common import hosting, sweeps, visitors
from pages.common.uploads import Uploads
from tests.app.rendered import rendered

SECONDS = 60
GRID = Grid("synthetic", alphas=(0.3,), Ks=(3,), lams=(2.0,))


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
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
def hosted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATNMF_HOSTED", "1")


def opened(repository: Path, page: str, person: str, **query: str) -> AppTest:
    app = AppTest.from_file(str(repository / "app.py"), default_timeout=SECONDS)
    app.session_state["hosting_person"] = person
    app.switch_page(f"pages/{page}.py")
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def press(app: AppTest, label: str) -> AppTest:
    app = next(button for button in app.button if button.label == label).click().run()
    assert not app.exception
    return app


def words(app: AppTest) -> str:
    shown = (*app.markdown, *app.subheader, *app.info, *app.error, *app.code, *app.caption)
    return "\n".join(rendered(one.value) for one in shown)


@pytest.mark.parametrize(
    ("address", "is_hosted"),
    [("localhost", False), ("127.0.0.1", False), ("::1", False), ("0.0.0.0", True), ("", True), (None, True)],
)
def test_a_server_is_for_others_where_others_can_reach_it(
    monkeypatch: pytest.MonkeyPatch, address: str | None, is_hosted: bool
) -> None:
    monkeypatch.setattr("streamlit.get_option", lambda name: address)

    assert hosting.is_hosted() == is_hosted
    monkeypatch.setenv("ATNMF_HOSTED", "0" if is_hosted else "1")
    assert hosting.is_hosted() != is_hosted


def test_at_ones_own_machine_all_sweeps_are_seen(repository: Path, store: Path) -> None:
    shown = words(opened(repository, "curves", "ann"))

    assert all(name in shown for name in ("older", "ann's", "bob's"))


def test_everybody_sees_their_own_sweeps_only(repository: Path, store: Path, hosted: None) -> None:
    shown = words(opened(repository, "curves", "ann", show="sweep:bob's"))

    assert "ann's" in shown
    assert "older" not in shown
    assert "bob's" not in shown
    assert "This sweep is not stored" in shown


@pytest.mark.parametrize("action", [sweeps.cancel_sweep, sweeps.queue_sweep])
def test_nobody_changes_a_sweep_of_somebody_else(
    repository: Path, store: Path, hosted: None, action: object
) -> None:
    def script(action: object) -> None:
        import streamlit as st

        from pages.common.sweeps import refusing, show_refusal

        st.session_state["hosting_person"] = "ann"
        refusing(action)("bob's")
        show_refusal()

    app = AppTest.from_function(script, args=(action,)).run()

    assert "You have no sweep" in rendered(app.error[0].value)


def test_a_sweep_belongs_to_whoever_started_it(repository: Path, store: Path, hosted: None) -> None:
    press(opened(repository, "curves", "ann", data="synthetic", K="3"), "Start")

    with read_store(store) as opened_store:
        assert [record.owner for record in opened_store.sweeps() if record.place] == ["ann"]


@pytest.mark.parametrize(
    ("quota", "said"),
    [("SWEEPS", "as many sweeps as one person may"), ("QUEUE", "The queue of this server is full")],
)
def test_reaching_the_quota_of_sweeps_is_explained(
    repository: Path, store: Path, hosted: None, monkeypatch: pytest.MonkeyPatch, quota: str, said: str
) -> None:
    monkeypatch.setenv(f"ATNMF_MAX_{quota}", "1")
    with open_store(store) as opened_store:
        Queue(opened_store).add("bob's")
        if quota == "SWEEPS":
            Queue(opened_store).remove("bob's")

    app = press(opened(repository, "curves", "ann", data="synthetic", K="3"), "Start")

    assert said in words(app)
    with read_store(store) as opened_store:
        assert len(opened_store.sweeps()) == 3


def test_files_beyond_what_a_person_may_have_are_refused(
    hosted: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def script() -> None:
        from types import SimpleNamespace

        import streamlit as st

        from pages.common.receiving import keep_received

        files = [
            SimpleNamespace(file_id=f"{one}", name="a.npy", size=100_000_000, getvalue=lambda: b"")
            for one in range(12)
        ]
        st.text(keep_received(files, "received"))

    app = AppTest.from_function(script).run()

    assert not app.exception
    assert "1,200 MB" in app.error[0].value
    assert app.text[0].value == ""
    monkeypatch.setenv("ATNMF_HOSTED", "0")
    monkeypatch.setenv("ATNMF_MAX_BYTES", "2e9")
    assert AppTest.from_function(script).run().text[0].value


def test_a_persons_oldest_files_make_room_for_new_ones_and_nobody_elses_do() -> None:
    cache = Uploads()
    first, shared, last = ([(f"{number}.npy", bytes(100))] for number in range(3))
    cache.keep_files(shared, "bob", room=250)

    uploads = [cache.keep_files(files, "ann", room=250) for files in (first, shared, last)]

    assert [bool(cache.files(one)) for one in uploads] == [False, True, True]
    cache.drop(uploads[1], "ann")
    assert cache.files(uploads[1])
    assert not cache.is_own(uploads[1], "ann")
    assert cache.is_own(uploads[1], "bob")


def test_the_more_people_are_here_the_more_rarely_their_pages_look(monkeypatch: pytest.MonkeyPatch) -> None:
    def script() -> None:
        import streamlit as st

        from pages.common.visitors import poll_interval, visitor

        visitor()
        st.text(poll_interval(2.0))

    assert AppTest.from_function(script).run().text[0].value == "2.0"
    monkeypatch.setattr(visitors, "VISITORS_AT_FULL_RATE", 0.1)
    assert float(AppTest.from_function(script).run().text[0].value) >= 20
