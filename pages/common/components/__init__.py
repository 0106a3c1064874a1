"""What Streamlit has no widget for, as components with a little HTML, CSS and JavaScript.

They show what they are given and report clicks; nothing is computed in the browser.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

__all__ = ["component"]

PAGES = Path(__file__).parents[2]


@cache
def component(name: str, *shared: str, page: str = "common") -> Any:
    """The mounting command of a component of a page, registered once per server.

    `shared` names markup, style and script that several components have in common, of the page or of all.
    """
    html, css, js = (_text(page, (*shared, name), kind) for kind in ("html", "css", "js"))
    mount = st.components.v2.component(f"atnmf_{name}", html=html, css=css, js=js)

    def with_tuples(*, data: Mapping[str, Any] | None = None, **options: Any) -> Any:
        # Streamlit asks of every list and dict here whether it is a table, and imports pandas for that.
        told = {
            key: tuple(value) if isinstance(value, list) else value for key, value in (data or {}).items()
        }
        return mount(data=told or None, **options)

    return with_tuples


def _text(page: str, names: tuple[str, ...], kind: str) -> str:
    folders = [PAGES / owner / "components" for owner in dict.fromkeys((page, "common"))]
    files = (folder / f"{name}.{kind}" for name in names for folder in folders)
    return "\n".join(file.read_text("utf-8") for file in files if file.exists())
