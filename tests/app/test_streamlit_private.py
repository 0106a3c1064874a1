"""An upgrade of Streamlit that takes away what the pages use of its inside is noticed here.

That both also do what they are for is seen in a browser: by the tests of the back button, and of a link that
is the first thing a server is asked for.
"""

import pytest
from streamlit import config
from streamlit.proto.NewSession_pb2 import NewSession
from streamlit.runtime import app_session
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import AppTest

from pages.common.streamlit_private import compose_theme_once, ensure_app_frame


def test_a_run_knows_whether_the_back_button_asked_for_it() -> None:
    def script() -> None:
        import streamlit as st

        from pages.common.streamlit_private import is_history_navigation

        st.text(is_history_navigation())

    page = AppTest.from_function(script).run()

    assert not page.exception
    assert page.text[0].value == "False"


def test_a_page_that_was_run_without_app_is_run_again_once(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = []
    monkeypatch.setattr(PagesManager, "uses_pages_directory", True)
    monkeypatch.setattr("streamlit.rerun", lambda: runs.append("again"))

    ensure_app_frame()
    ensure_app_frame()

    assert runs == ["again"]


def test_the_theme_is_composed_once_and_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def send() -> NewSession:
        message = NewSession()
        # As AppSession does for all sections.
        app_session._populate_theme_msg(message.custom_theme)
        app_session._populate_theme_msg(message.custom_theme.light, "theme.light")
        app_session._populate_theme_msg(message.custom_theme.sidebar, "theme.sidebar")
        return message

    monkeypatch.setattr(app_session, "_populate_theme_msg", app_session._populate_theme_msg)
    expected = send()
    compose_theme_once()
    first = send()
    monkeypatch.setattr(config, "get_options_for_section", None)

    assert expected.custom_theme.light.primary_color
    assert expected == first == send()
