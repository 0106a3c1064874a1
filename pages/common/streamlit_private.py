"""Everything that the pages use of Streamlit beyond its public interface, each with the reason."""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx

__all__ = ["ensure_app_frame", "is_history_navigation"]


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
