"""Pages run inside the frame that app.py gives them, also when a page's own address is asked for first.

A Streamlit server that finds a folder called `pages` runs a page from there by itself, without app.py, until
app.py has called `st.navigation` for the first time. Whoever opened a link to a page of a server just started
would see it without the title, the menu and the width that app.py gives it.
"""

from __future__ import annotations

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

__all__ = ["through_app"]


def through_app() -> None:
    """Run again from app.py where a page was run without it."""
    if PagesManager.uses_pages_directory:
        PagesManager.uses_pages_directory = False
        st.rerun()
