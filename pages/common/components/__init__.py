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
_HTML = {
    "cards": '<div class="cards" role="group" aria-label="Presets"></div>',
    "panels": '<div class="host"><div class="panels"><div class="readout" role="status"></div></div></div>',
    "sheets": '<div class="sheet"><img alt=""><div class="tiles"></div></div>',
    "strip": '<div class="strip" role="group" aria-label="Pictures">'
    '<button class="page" type="button" aria-label="Earlier pictures">‹</button><div class="faces"></div>'
    '<button class="page" type="button" aria-label="Later pictures">›</button><span class="which"></span></div>',
}


@cache
def component(name: str) -> Any:
    """The mounting command of a component, registered once per server."""
    css, js = ((_FOLDER / f"{name}.{kind}").read_text("utf-8") for kind in ("css", "js"))
    return st.components.v2.component(f"atnmf_{name}", html=_HTML[name], css=css, js=js)
