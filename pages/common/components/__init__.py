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

_FOLDER = Path(__file__).parent


@cache
def component(name: str, *shared: str, folder: Path = _FOLDER) -> Any:
    """The mounting command of a component, registered once per server.

    `shared` names markup, style and script that several components have in common, in `folder` or here.
    """
    html, css, js = (_text(folder, (*shared, name), kind) for kind in ("html", "css", "js"))
    mount = st.components.v2.component(f"atnmf_{name}", html=html, css=css, js=js)

    def with_tuples(*, data: Mapping[str, Any] | None = None, **options: Any) -> Any:
        # Streamlit asks of every list and dict here whether it is a table, and imports pandas for that.
        told = {
            key: tuple(value) if isinstance(value, list) else value for key, value in (data or {}).items()
        }
        return mount(data=told or None, **options)

    return with_tuples


def _text(folder: Path, names: tuple[str, ...], kind: str) -> str:
    files = (home / f"{name}.{kind}" for name in names for home in {folder: None, _FOLDER: None})
    return "\n".join(file.read_text("utf-8") for file in files if file.exists())
