"""The page's widgets and the address bar say the same setting.

Widgets keep their values in the session under the names of `Setting`'s fields. Before they are drawn, the
session is brought in line with the address where that changed under us (a link, the back button, a page
switch); afterwards the address is brought in line with the widgets.
"""

from __future__ import annotations

import time
from dataclasses import asdict, fields
from typing import Any

import streamlit as st

from .setting import Setting

__all__ = ["change", "follow_address", "read_setting", "write_address"]

_LAST, _WRITTEN, _WHEN = "setting", "address", "address_written"
SETTLED_SECONDS = 1.5
"""So long after we wrote it, the browser's address may still be an earlier one of ours."""


def follow_address() -> None:
    """Give the widgets their values, before any of them is drawn."""
    state = st.session_state
    if _LAST not in state or _address_was_changed():
        change(**asdict(Setting.from_query(st.query_params.to_dict())))
    for name in _names():
        # Streamlit forgets a widget that was not drawn, for instance on another page.
        state.setdefault(name, getattr(state.get(_LAST, Setting()), name))


def _address_was_changed() -> bool:
    """Whether somebody went to another address, by the back button or by hand.

    A person who moves a slider quickly sends its next position with an address that does not know the last
    one yet. So an address counts only where no widget has moved, and not right after we wrote one.
    """
    state = st.session_state
    if st.query_params.to_dict() == state[_WRITTEN] or time.monotonic() - state[_WHEN] < SETTLED_SECONDS:
        return False
    return all(name in state for name in _names()) and read_setting() == state[_LAST]


def read_setting() -> Setting:
    """What the widgets say now."""
    return Setting(**{name: st.session_state[name] for name in _names()})


def write_address(setting: Setting) -> None:
    """Spell the setting in the address bar."""
    state, query = st.session_state, setting.to_query()
    if st.query_params.to_dict() != query:
        st.query_params.from_dict(query)
        state[_WHEN] = time.monotonic()
    state.setdefault(_WHEN, 0.0)
    state[_LAST], state[_WRITTEN] = setting, query


def change(**values: Any) -> None:
    """Set fields of the setting; allowed in callbacks and before the widgets are drawn."""
    st.session_state.update(values)


def _names() -> tuple[str, ...]:
    return tuple(field.name for field in fields(Setting))
