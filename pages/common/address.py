"""The page's widgets and the address bar say the same setting.

Widgets keep their values in the session under the names of `Setting`'s fields. Before they are drawn, the
session is brought in line with the address where that changed under us (a link, the back button, a page
switch); afterwards the address is brought in line with the widgets.
"""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

import streamlit as st

from .setting import Setting

__all__ = ["change", "follow_address", "read_setting", "write_address"]

_LAST = "setting"
_WRITTEN = "address"


def follow_address() -> None:
    """Give the widgets their values, before any of them is drawn."""
    state, query = st.session_state, st.query_params.to_dict()
    if _LAST not in state or (query and query != state.get(_WRITTEN)):
        change(**asdict(Setting.from_query(query)))
    elif not query and state[_WRITTEN] and all(name in state for name in _names()):
        change(**asdict(Setting()))
    for name in _names():
        # Streamlit forgets a widget that was not drawn, for instance on another page.
        state.setdefault(name, getattr(state.get(_LAST, Setting()), name))


def read_setting() -> Setting:
    """What the widgets say now."""
    return Setting(**{name: st.session_state[name] for name in _names()})


def write_address(setting: Setting) -> None:
    """Spell the setting in the address bar."""
    query = setting.to_query()
    if st.query_params.to_dict() != query:
        st.query_params.from_dict(query)
    st.session_state[_LAST], st.session_state[_WRITTEN] = setting, query


def change(**values: Any) -> None:
    """Set fields of the setting; allowed in callbacks and before the widgets are drawn."""
    st.session_state.update(values)


def _names() -> tuple[str, ...]:
    return tuple(field.name for field in fields(Setting))
