"""An upgrade of Streamlit that takes away what the pages use of its inside is noticed here.

That both also do what they are for is seen in a browser: by the tests of the back button, and of a link that
is the first thing a server is asked for.
"""

import asyncio
from typing import Any
from unittest.mock import Mock

import plotly.graph_objects as go
import pytest
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import app_session
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.script_data import ScriptData
from streamlit.runtime.scriptrunner import RerunData, ScriptRunnerEvent
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest
from streamlit.web.server.starlette import starlette_app_utils

from pages.common import streamlit_patches
from pages.common.streamlit_patches import (
    browser_token,
    convert_once,
    ensure_app_frame,
    finish_runs_first,
    refer_to_last_run_only,
)
from tests.browser.server import APP


def test_a_run_knows_whether_the_back_button_asked_for_it():
    def script():
        import streamlit as st

        from pages.common.streamlit_patches import is_history_navigation

        st.text(is_history_navigation())

    page = AppTest.from_function(script).run()

    assert not page.exception
    assert page.text[0].value == "False"


def test_a_page_that_was_run_without_app_is_run_again_once(monkeypatch):
    runs = []
    monkeypatch.setattr(PagesManager, "uses_pages_directory", True)
    monkeypatch.setattr("streamlit.rerun", lambda: runs.append("again"))

    ensure_app_frame()
    ensure_app_frame()

    assert runs == ["again"]


@pytest.mark.parametrize(
    ("owner", "name", "replaced", "patch"),
    [
        (AppSession, "_create_scriptrunner", None, finish_runs_first),
        (AppSession, "_create_scriptrunner", lambda session: None, finish_runs_first),
        (AppSession, "__init__", lambda session: None, finish_runs_first),
        (AppSession, "_enqueue_forward_msg", None, refer_to_last_run_only),
        (AppSession, "_enqueue_forward_msg", lambda session, *messages: None, refer_to_last_run_only),
        (RerunData, "__dataclass_fields__", {}, refer_to_last_run_only),
        (PagesManager, "uses_pages_directory", None, ensure_app_frame),
        (starlette_app_utils, "decode_xsrf_token_string", None, browser_token),
    ],
)
def test_what_streamlit_no_longer_has_is_left_alone_and_the_log_says_so(
    monkeypatch, caplog, owner, name, replaced, patch
):
    monkeypatch.setattr(streamlit_patches, "_left_out", set())
    if replaced is None:
        monkeypatch.delattr(owner, name)
    else:
        monkeypatch.setattr(owner, name, replaced)
    before = vars(owner).copy()

    assert patch() is None
    assert patch() is None

    assert vars(owner) == before
    (line,) = caplog.messages
    assert line.startswith(f"{patch.__name__} is left out with Streamlit")


def test_all_patches_can_be_left_out(monkeypatch):
    monkeypatch.setenv("ATNMF_STREAMLIT_PATCHES", "0")
    before = vars(AppSession).copy()

    finish_runs_first()
    refer_to_last_run_only()

    assert vars(AppSession) == before


def test_a_figure_is_converted_once():
    figure = go.Figure(go.Scatter(x=[1, 2], y=[3, 4]))
    plain = figure.to_dict()
    convert_once(figure)

    assert figure.to_dict() == plain
    assert figure.to_dict() is figure.to_dict()


class EndedRun:
    """A run of a page that has ended, so that it takes no more requests."""

    def __init__(self, initial_rerun_data: RerunData, **_: Any) -> None:
        self.request = initial_rerun_data
        self.on_event = Mock()

    def start(self) -> None:
        """There is nothing to do."""

    def request_rerun(self, _: RerunData) -> bool:
        return False


def new_session() -> AppSession:
    files, script = MemoryUploadedFileManager(""), ScriptData(str(APP), is_hello=False)
    return AppSession(script, files, ScriptCache(), None, {})


def test_that_a_run_has_ended_is_told_before_a_fragment_of_it_runs_again(monkeypatch):
    monkeypatch.setattr(AppSession, "_create_scriptrunner", AppSession._create_scriptrunner)
    monkeypatch.setattr(AppSession, "has_fragment", lambda session, fragment: True)
    monkeypatch.setattr(app_session, "ScriptRunner", EndedRun)
    finish_runs_first()

    async def ends_as_a_timer_fires():
        session = new_session()
        session.request_rerun(ClientState())
        ended = session._scriptrunner
        session._on_scriptrunner_event(ended, ScriptRunnerEvent.SCRIPT_STOPPED_WITH_SUCCESS)
        session.request_rerun(ClientState(fragment_id="curve"))
        # Other tests in this process may have opened the app, which does the same once more.
        for _ in range(5):
            await asyncio.sleep(0)
        return [
            one.WhichOneof("type") for one in session.flush_browser_queue()
        ], session._scriptrunner.request

    told, running = asyncio.run(ends_as_a_timer_fires())

    assert told == ["script_finished"]
    assert running.fragment_id == "curve"


def run_of_page(*hashes: str, ends: bool = True) -> list[ForwardMsg]:
    """What a run sends: large elements with these hashes, the first as a reference."""
    first, *others = hashes
    messages = [ForwardMsg(new_session={}), ForwardMsg(ref_hash=first)]
    messages += [
        ForwardMsg(hash=one, delta={"new_element": {}}, metadata={"cacheable": True}) for one in others
    ]
    return [*messages, *[ForwardMsg(script_finished=ForwardMsg.FINISHED_SUCCESSFULLY)] * ends]


def test_a_page_refers_only_to_what_its_last_run_that_ended_had(monkeypatch):
    """The browser says that it has more, but may be about to drop it."""
    for method in ("_create_scriptrunner", "_enqueue_forward_msg"):
        monkeypatch.setattr(AppSession, method, getattr(AppSession, method))
    monkeypatch.setattr(app_session, "ScriptRunner", EndedRun)
    refer_to_last_run_only()

    async def referred_to():
        session = new_session()
        sent = [*run_of_page("always", "before"), *run_of_page("always", "last")]
        for message in [*sent, *run_of_page("always", "interrupted", ends=False)]:
            session._enqueue_forward_msg(message)
        known = ["always", "before", "last", "interrupted"]
        session.request_rerun(ClientState(cached_message_hashes=known))
        return session._scriptrunner.request.cached_message_hashes

    assert asyncio.run(referred_to()) == {"always", "last"}
