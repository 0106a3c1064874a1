"""A page's widgets and the address bar say the same.

Widgets keep their values in the session under the names that the page gives them. Before they are drawn,
the session is brought in line with the address where that changed under us (a link, the back button);
afterwards the address is brought in line with the widgets. A page that was left and is come back to shows
what it showed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from .setting import Setting

__all__ = [
    "EXPLORE",
    "Address",
    "change",
    "follow_address",
    "read_setting",
    "remembered",
    "rerun",
    "write_address",
]

SETTLED_SECONDS = 1.5
"""So long after we wrote it, the browser's address may still be an earlier one of ours."""
_SHOWN, _OURSELVES = "page_shown", "page_run_again"


class Address:
    """The address of one page.

    Parameters
    ----------
    page : a name of its own, for what is remembered about it.
    read : the value of every widget, by its session key, that a query spells; any query must do.
    spell : the query for such values.
    """

    def __init__(
        self,
        page: str,
        read: Callable[[Mapping[str, str]], dict[str, Any]],
        spell: Callable[[Mapping[str, Any]], dict[str, str]],
    ) -> None:
        self._page, self._read, self._spell = page, read, spell
        self._names = tuple(read({}))
        self._last, self._written, self._when = (f"{page}_{what}" for what in ("last", "written", "when"))

    def follow(self) -> bool:
        """Give the widgets their values, before any of them is drawn.

        Pages may use one session key for the same thing; come to from another page, each finds its own value
        there again. Whether it was come to so, by the menu and not by an address, is told.
        """
        state, arrives = st.session_state, st.session_state.get(_SHOWN) != self._page
        by_address = bool(st.query_params.to_dict())
        ourselves = state.pop(_OURSELVES, False)
        if self._last not in state or (not ourselves and self._was_changed()):
            change(**self._read(st.query_params.to_dict()))
        elif arrives:
            change(**state[self._last])
        for name in self._names:
            # Streamlit forgets a widget that was not drawn, for instance on another page.
            state.setdefault(name, state[self._last][name] if self._last in state else self._read({})[name])
        state[_SHOWN] = self._page
        return arrives and not by_address

    @property
    def remembered(self) -> dict[str, Any] | None:
        """What the widgets said when the page was last drawn, None before that."""
        return remembered(self._page)

    def values(self) -> dict[str, Any]:
        """What the widgets say now; those that are not on the page just now, what they said last."""
        said = self.remembered or {}
        # Streamlit forgets a widget that was not drawn, and a fragment runs without `follow`.
        return {
            name: st.session_state[name] if name in st.session_state else said[name] for name in self._names
        }

    def write(self) -> None:
        """Spell what the widgets say in the address bar."""
        state, values = st.session_state, self.values()
        query = self._spell(values)
        if st.query_params.to_dict() != query:
            st.query_params.from_dict(query)
            state[self._when] = time.monotonic()
        state.setdefault(self._when, 0.0)
        state[self._last], state[self._written] = values, query

    def _was_changed(self) -> bool:
        """Whether somebody went to another address of this page.

        A person who moves a slider quickly sends its next position with an address that does not know the
        last one yet, and on a busy machine for a good while. So an address counts only where the browser says
        that it was gone to by the back or forward button, where no widget has moved, and not right after we
        wrote one. An address typed by hand begins a new session anyway.
        """
        state, query = st.session_state, st.query_params.to_dict()
        if state.get(_SHOWN) != self._page:
            return bool(query) and query != state[self._written]
        if query == state[self._written] or not _went_through_history():
            return False
        if time.monotonic() - state[self._when] < SETTLED_SECONDS:
            return False
        # A widget that is not on the page just now cannot have moved.
        return all(state.get(name, value) == value for name, value in state[self._last].items())


def _went_through_history() -> bool:
    """Whether this run was asked for by the browser's back or forward button."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


EXPLORE = Address(
    "explore",
    lambda query: asdict(Setting.from_query(query)),
    lambda values: Setting(**values).to_query(),
)


def remembered(page: str) -> dict[str, Any] | None:
    """What a page's widgets said when it was last drawn, None before that."""
    return st.session_state.get(f"{page}_last")


def follow_address() -> bool:
    """Give the Explore page's widgets their values, before any of them is drawn; whether it was come to from
    another page.
    """
    return EXPLORE.follow()


def read_setting() -> Setting:
    """What the Explore page's widgets say now."""
    return Setting(**EXPLORE.values())


def write_address() -> None:
    """Spell the Explore page's setting in the address bar."""
    EXPLORE.write()


def rerun() -> None:
    """Run the whole page again from one of its fragments.

    A fragment that polls comes with whatever address the browser has at that moment. On a busy machine that
    may be an earlier one of ours long after we wrote a newer, and it must not undo what a slider says.
    """
    st.session_state[_OURSELVES] = True
    st.rerun()


def change(**values: Any) -> None:
    """Set widgets by their session keys; allowed in callbacks and before they are drawn."""
    st.session_state.update(values)
