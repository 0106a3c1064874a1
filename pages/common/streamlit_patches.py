"""Everything that the pages use of Streamlit beyond its public interface, each with the reason.

Private names change without notice. Each function checks that what it uses is there and has the expected
shape; otherwise it does nothing, and the log says what the dashboard does without. ATNMF_STREAMLIT_PATCHES=0
leaves all of them out.
"""

from __future__ import annotations

import inspect
import logging
import os
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakKeyDictionary

import streamlit as st

if TYPE_CHECKING:
    from plotly.graph_objects import Figure
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
    from streamlit.runtime.app_session import AppSession
    from streamlit.runtime.scriptrunner import RerunData, ScriptRunner

_LOG = logging.getLogger(__name__)
_left_out: set[str] = set()
T = TypeVar("T")


def _where_it_fits(without: str, default: T = None) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Where Streamlit lacks what the function uses, return the default and log once what is lost."""

    def decorate(function: Callable[..., T]) -> Callable[..., T]:
        @wraps(function)
        def guarded(*args: Any) -> T:
            if os.environ.get("ATNMF_STREAMLIT_PATCHES") == "0":
                return default
            try:
                return function(*args)
            except (ImportError, AttributeError, TypeError) as error:
                if function.__name__ not in _left_out:
                    _left_out.add(function.__name__)
                    _LOG.warning(
                        "%s is left out with Streamlit %s (%s): %s",
                        *(function.__name__, st.__version__, error, without),
                    )
                return default

        return guarded

    return decorate


def _expect(method: Callable[..., Any], *parameters: str) -> None:
    taken = tuple(inspect.signature(method).parameters)
    if taken != parameters:
        raise TypeError(f"{method.__qualname__} takes {', '.join(taken)}")


def _expect_names(owner: str, names: Collection[str], wanted: Collection[str]) -> None:
    if missing := sorted(set(wanted) - set(names)):
        raise AttributeError(f"{owner} has no {', '.join(missing)}")


@_where_it_fits("people are told apart by their sessions")
def browser_token() -> bytes | None:
    """A random number that the browser has kept since its first visit; None where there is none.

    It is that of Streamlit's protection of uploads, which the cookie masks differently each time. A cookie of
    our own would take a component, and be known one visit later.
    """
    from streamlit.web.server.starlette.starlette_app_utils import decode_xsrf_token_string
    from streamlit.web.server.starlette.starlette_server_config import XSRF_COOKIE_NAME

    return decode_xsrf_token_string(st.context.cookies.get(XSRF_COOKIE_NAME, ""))[0]


@_where_it_fits("uploaded files take memory until their session ends")
def drop_uploaded_files(file_ids: Collection[str]) -> None:
    """Free the memory of uploads, which Streamlit keeps until they are removed by hand, or a session ends."""
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    context = get_script_run_ctx()
    if context is not None:
        for one in file_ids:
            context.uploaded_file_mgr.remove_file(context.session_id, one)


@_where_it_fits("the browser's back button does not restore controls", default=False)
def is_history_navigation() -> bool:
    """Whether this run was asked for by the browser's back or forward button.

    The public `st.query_params` cannot tell that from an address that lags behind: whoever moves a slider
    quickly sends its next position with an address that does not know the last one yet.
    """
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


@_where_it_fits("the first page of a new server may open without title and menu")
def ensure_app_frame() -> None:
    """Run again from app.py where a page was run without it.

    Where a folder is called `pages`, a server runs a page from there by itself until app.py has called
    `st.navigation` for the first time: without title, menu and width. No option turns that off.
    """
    from streamlit.runtime.pages_manager import PagesManager

    if PagesManager.uses_pages_directory:
        PagesManager.uses_pages_directory = False
        st.rerun()


@_where_it_fits("charts take a few milliseconds more")
def convert_once(figure: Figure) -> None:
    """Convert a figure that many runs show once: Plotly validates every number each time Streamlit asks."""
    converted = figure.to_dict()
    figure.to_dict = lambda: converted


@_where_it_fits("under load, elements of an earlier view may stay on a page")
def finish_runs_first() -> None:
    """Let everything that a run of a page has sent reach the browser before one of its fragments runs again.

    When a fragment's timer fires just as a run ends, Streamlit drops what it has not yet passed on of that:
    its last elements, and the message that it has ended. Elements of the run before then stay on the page.
    """
    from streamlit.runtime.app_session import AppSession, AppSessionState
    from streamlit.runtime.scriptrunner import ScriptRunner

    create, shutting_down = AppSession._create_scriptrunner, AppSessionState.SHUTDOWN_REQUESTED
    _expect(create, "self", "initial_rerun_data")
    _expect(ScriptRunner.request_rerun, "self", "rerun_data")
    used = ("_scriptrunner", "_event_loop", "_state")
    _expect_names("AppSession", AppSession.__init__.__code__.co_names, used)

    @wraps(create)
    def create_when_handed_over(session: AppSession, request: RerunData) -> None:
        ended = session._scriptrunner
        if ended is None:
            create(session, request)
        else:
            session._event_loop.call_soon(begin, session, request, ended)

    def begin(session: AppSession, request: RerunData, ended: ScriptRunner) -> None:
        current = session._scriptrunner
        if session._state is shutting_down:
            return
        if current is None or current is ended:
            create(session, request)
        elif not current.request_rerun(request):
            create_when_handed_over(session, request)

    AppSession._create_scriptrunner = create_when_handed_over


@_where_it_fits("a slider moved quickly to and fro may stop the page")
def refer_to_last_run_only() -> None:
    """Send in full what the last run of a page did not have, even if the browser says that it has it.

    Streamlit has the browser cache large elements, and then sends references to them. When a run ends, the
    browser drops what has not been in it for a while, and every poll counts. Whoever moves a slider and moves
    it back, before the browser has taken note that the first run ended, is sent references to what it drops
    then; at the first of these the page stops for good. What the last run that ended had is never dropped.

    The public option `global.maxCachedMessageAge` does not help: after that many runs the same point comes.
    """
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
    from streamlit.runtime.app_session import AppSession
    from streamlit.runtime.scriptrunner import RerunData

    create, enqueue = AppSession._create_scriptrunner, AppSession._enqueue_forward_msg
    _expect(enqueue, "self", "msg")
    _expect(create, "self", "initial_rerun_data")
    _expect_names("RerunData", RerunData.__dataclass_fields__, ("fragment_id", "cached_message_hashes"))
    sent = ("new_session", "script_finished", "ref_hash", "delta", "hash", "metadata")
    _expect_names("ForwardMsg", ForwardMsg.DESCRIPTOR.fields_by_name, sent)
    finished, _ = ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg().metadata.run.fragment_ids
    running: WeakKeyDictionary[AppSession, set[str]] = WeakKeyDictionary()
    ended: WeakKeyDictionary[AppSession, set[str]] = WeakKeyDictionary()

    @wraps(enqueue)
    def enqueue_and_note(session: AppSession, message: ForwardMsg) -> None:
        of_page = not message.metadata.run.fragment_ids
        match message.WhichOneof("type"):
            case "new_session" if of_page:
                running[session] = set()
            case "script_finished" if of_page and message.script_finished == finished:
                ended[session] = running.get(session, set())
            case "ref_hash":
                running.setdefault(session, set()).add(message.ref_hash)
            case "delta" if message.metadata.cacheable:
                running.setdefault(session, set()).add(message.hash)
        enqueue(session, message)

    @wraps(create)
    def create_with_known(session: AppSession, request: RerunData) -> None:
        if not request.fragment_id:
            known = request.cached_message_hashes & ended.get(session, set())
            request = replace(request, cached_message_hashes=known)
        create(session, request)

    AppSession._enqueue_forward_msg = enqueue_and_note
    AppSession._create_scriptrunner = create_with_known
