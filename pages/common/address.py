"""The address of a page and its controls in the session, each kept up to date from the other.

The address bar reflects a page's controls, and a link, the back button or the menu restores them.

Widgets have their values in the session, under keys that the page chooses. Before they are drawn, the
session is updated from the address if somebody navigated; afterwards the address is updated from the
widgets.

Streamlit's own `bind="query-params"` is not used because people would notice: it writes the labels of
options, so that links would break with every rewording; it rejects a lambda between two stops; moving a
slider leaves nothing to go back to, a preset one step per control; and what is not drawn drops out of the
link.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import streamlit as st

from .controls import Control, controls_of
from .streamlit_patches import is_history_navigation

T = TypeVar("T")
SHOWN = "page_shown"
ARRIVED = "page_arrived"  # Whether the menu has led to the page, so that no address says what to show
K_CHOSEN = "K_chosen"  # Whether somebody has moved K: a file that is uploaded afterwards keeps it


def read_query(controls: Mapping[str, Control], query: Mapping[str, str]) -> dict[str, Any]:
    return {name: control.parse_or_default(query.get(name)) for name, control in controls.items()}


def spell_query(controls: Mapping[str, Control], values: Mapping[str, Any]) -> dict[str, str]:
    """The query for values that are not at their defaults."""
    return {
        name: control.spell(values[name])
        for name, control in controls.items()
        if values[name] is not None and values[name] != control.default
    }


class Address:
    """The address of one page: its name, the dataclasses that declare its controls, and their keys, which
    pages share for what means the same on each; every page restores its own values. Its `ADDRESS` is defined
    beside these dataclasses: in the `setting.py` of its folder, if it has one.
    """

    def __init__(self, page: str, *kinds: type, key: Callable[[str], str] = str) -> None:
        self.controls = {name: one for kind in kinds for name, one in controls_of(kind).items()}
        self._page, self._key = page, key
        self._last, self._written = f"{page}_last", f"{page}_written"

    def read(self, query: Mapping[str, str]) -> dict[str, Any]:
        return {self._key(name): value for name, value in read_query(self.controls, query).items()}

    def spell(self, values: Mapping[str, Any]) -> dict[str, str]:
        return spell_query(self.controls, {name: values[self._key(name)] for name in self.controls})

    def load_from_address(self) -> bool:
        """Give the controls their values; whether the menu led here, so that no address says what to show."""
        state, query = st.session_state, st.query_params.to_dict()
        arrives = state.get(SHOWN) != self._page
        if self._last not in state or self._was_navigated_to(query, arrives=arrives):
            change(**self.read(query))
        elif arrives:
            change(**state[self._last])
        self.restore()
        state[SHOWN] = self._page
        state[ARRIVED] = arrives and not query
        return state[ARRIVED]

    def restore(self) -> None:
        """Restore the values that Streamlit drops for widgets that the last run did not draw."""
        for key, value in self.values().items():
            st.session_state.setdefault(key, value)

    def values(self) -> dict[str, Any]:
        """The controls' values by session key; for those not on the page now, their last values."""
        last = last_shown(self._page) or self.read({})
        return {key: _frozen(st.session_state.get(key, value)) for key, value in last.items()}

    def get(self, kind: type[T]) -> T:
        """The controls' values as one of the dataclasses that declare them."""
        values = self.values()
        return kind(**{name: values[self._key(name)] for name in controls_of(kind)})

    def draw(self, name: str, **options: Any) -> None:
        self.controls[name].draw(self._key(name), **options)

    def write(self) -> None:
        values = self.values()
        query = self.spell(values)
        if st.query_params.to_dict() != query:
            st.query_params.from_dict(query)
        st.session_state[self._last], st.session_state[self._written] = values, query

    def _was_navigated_to(self, query: Mapping[str, str], *, arrives: bool) -> bool:
        """Whether somebody navigated to another address of this page. Typing one starts a new session."""
        if query == st.session_state[self._written]:
            return False
        return bool(query) if arrives else is_history_navigation()


def last_shown(page: str) -> dict[str, Any] | None:
    """The values of a page's controls when it was last drawn, by session key; None before that."""
    return st.session_state.get(f"{page}_last")


def change(**values: Any) -> None:
    """Set controls by their session keys; allowed in callbacks and before they are drawn."""
    st.session_state.update(values)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
