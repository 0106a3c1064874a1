"""Everything that the pages use of Streamlit beyond its public interface, each with the reason."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import cache
from weakref import WeakKeyDictionary

import streamlit as st
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner, get_script_run_ctx
from streamlit.web.server.starlette.starlette_app_utils import decode_xsrf_token_string
from streamlit.web.server.starlette.starlette_server_config import XSRF_COOKIE_NAME


def browser_token() -> bytes | None:
    """A random number that the browser has kept since its first visit; None where there is none.

    It is that of Streamlit's protection of uploads against other sites. The cookie masks it differently each
    time, and no public function takes the mask off. A cookie of our own could only be set by a component, and
    would be known one visit later.
    """
    return decode_xsrf_token_string(st.context.cookies.get(XSRF_COOKIE_NAME, ""))[0]


def drop_uploaded_files(file_ids: Collection[str]) -> None:
    """Free the memory of files that this session has uploaded. Streamlit itself does so only for a file that
    is removed by hand, and when the session ends.
    """
    context = get_script_run_ctx()
    if context is not None:
        for one in file_ids:
            context.uploaded_file_mgr.remove_file(context.session_id, one)


def is_history_navigation() -> bool:
    """Whether this run was asked for by the browser's back or forward button.

    The public `st.query_params` cannot tell that from an address that lags behind: whoever moves a slider
    quickly sends its next position with an address that does not know the last one yet.
    """
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def ensure_app_frame() -> None:
    """Run again from app.py where a page was run without it.

    A server that finds a folder called `pages` runs a page from there by itself, without app.py, until app.py
    has called `st.navigation` for the first time. The first link to a page of a server just started would
    open it without the title, the menu and the width that app.py gives it. No option turns that off.
    """
    if PagesManager.uses_pages_directory:
        PagesManager.uses_pages_directory = False
        st.rerun()


def compose_theme_once() -> None:
    """Let all runs have the same copy of the theme, which therefore changes with a new start only.

    Streamlit sends the theme with every run of a page or fragment, and composes it anew from all its
    settings: an eighth of what a moved slider costs the server. No option turns that off.
    """
    compose = app_session._populate_theme_msg

    @cache
    def theme(section: str) -> CustomThemeConfig:
        composed = CustomThemeConfig()
        compose(composed, section)
        return composed

    def copy(message: CustomThemeConfig, section: str = "theme") -> None:
        # A section that says nothing must stay absent.
        if theme(section).ByteSize():
            message.MergeFrom(theme(section))

    app_session._populate_theme_msg = copy


def finish_runs_first() -> None:
    """Let everything that a run of a page has sent reach the browser before one of its fragments runs again.

    When a fragment's timer fires just as a run ends, Streamlit starts another run at once, and drops what it
    has not yet passed on of the ended one: its last elements, and the message that it has ended. Elements of
    the run before then stay on the page. The more people are at work, the later messages are passed on.
    """
    create = AppSession._create_scriptrunner

    def create_when_handed_over(session: AppSession, request: RerunData) -> None:
        ended = session._scriptrunner
        if ended is None:
            create(session, request)
        else:
            session._event_loop.call_soon(begin, session, request, ended)

    def begin(session: AppSession, request: RerunData, ended: ScriptRunner) -> None:
        current = session._scriptrunner
        if session._state is AppSessionState.SHUTDOWN_REQUESTED:
            return
        if current is None or current is ended:
            create(session, request)
        elif not current.request_rerun(request):
            create_when_handed_over(session, request)

    AppSession._create_scriptrunner = create_when_handed_over


def refer_to_last_run_only() -> None:
    """Send in full what the last run of a page did not have, even if the browser says that it has it.

    Streamlit has the browser cache large elements, and then sends references to them. When a run ends, the
    browser drops what has not been in it for a while, and every poll counts. Whoever moves a slider and moves
    it back, before the browser has taken note that the first run ended, is sent references to what it drops
    then; at the first of these the page stops for good. What the last run that ended had is never dropped.
    """
    create, enqueue = AppSession._create_scriptrunner, AppSession._enqueue_forward_msg
    running: WeakKeyDictionary[AppSession, set[str]] = WeakKeyDictionary()
    ended: WeakKeyDictionary[AppSession, set[str]] = WeakKeyDictionary()

    def enqueue_and_note(session: AppSession, message: ForwardMsg) -> None:
        of_page = not message.metadata.run.fragment_ids
        match message.WhichOneof("type"):
            case "new_session" if of_page:
                running[session] = set()
            case "script_finished" if of_page and message.script_finished == message.FINISHED_SUCCESSFULLY:
                ended[session] = running.get(session, set())
            case "ref_hash":
                running.setdefault(session, set()).add(message.ref_hash)
            case "delta" if message.metadata.cacheable:
                running.setdefault(session, set()).add(message.hash)
        enqueue(session, message)

    def create_with_known(session: AppSession, request: RerunData) -> None:
        if not request.fragment_id:
            known = request.cached_message_hashes & ended.get(session, set())
            request = replace(request, cached_message_hashes=known)
        create(session, request)

    AppSession._enqueue_forward_msg = enqueue_and_note
    AppSession._create_scriptrunner = create_with_known
