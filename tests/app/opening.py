"""A page of the dashboard, run without a browser."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from streamlit.testing.v1 import AppTest

from pages.common.address import read_query, spell_query
from pages.common.controls import controls_of
from tests.paper_data import REPOSITORY

__all__ = ["from_query", "open_page", "press", "rendered", "texts", "to_query"]

T = TypeVar("T")
SECONDS = 120
TEXTS = ("title", "header", "subheader", "markdown", "caption", "info", "warning", "success", "error", "code")


def open_page(name: str, *, state: Mapping[str, object] = MappingProxyType({}), **query: str) -> AppTest:
    """The page of this name, after its first run with the given session state and query."""
    page = AppTest.from_file(str(REPOSITORY / "app.py"), default_timeout=SECONDS)
    page.switch_page(f"pages/{name}.py")
    for word, value in query.items():
        page.query_params[word] = value
    for key, value in state.items():
        page.session_state[key] = value
    page.run()
    assert not page.exception
    return page


def press(page: AppTest, label: str) -> AppTest:
    """The page after a click on a button with this label."""
    next(button for button in page.button if button.label == label).click().run()
    assert not page.exception
    return page


def texts(page: AppTest, *kinds: str) -> str:
    """What people read on a page, of these kinds of elements."""
    return "\n".join(rendered(one.value) for kind in kinds or TEXTS for one in page.get(kind))


def rendered(text: str) -> str:
    """Markdown without the backslashes that keep names and messages from being rendered."""
    return re.sub(r"\\([^a-zA-Z0-9\s])", r"\1", text)


def from_query(kind: type[T], query: Mapping[str, str]) -> T:
    """A setting from the query of an address."""
    return kind(**read_query(controls_of(kind), query))


def to_query(setting: Any) -> dict[str, str]:
    return spell_query(controls_of(type(setting)), vars(setting))
