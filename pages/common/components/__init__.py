"""The few things that Streamlit has no widget for, as components of a little HTML, CSS and JavaScript each.

They show what they are given and report clicks; nothing is computed in the browser.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

__all__ = ["component"]

_FOLDER = Path(__file__).parent


@cache
def component(name: str) -> Any:
    """The mounting command of a component, registered once per server."""
    html, css, js = ((_FOLDER / f"{name}.{kind}").read_text("utf-8") for kind in ("html", "css", "js"))
    return st.components.v2.component(f"atnmf_{name}", html=html, css=css, js=js)
