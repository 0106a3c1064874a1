"""A page of the dashboard, run without a browser."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from streamlit.testing.v1 import AppTest

SECONDS = 120


def open_page(
    name: str, repository: Path, *, state: Mapping[str, object] = MappingProxyType({}), **query: str
) -> AppTest:
    """The page of this name, after its first run with the given session state and query."""
    page = AppTest.from_file(str(repository / "app.py"), default_timeout=SECONDS)
    page.switch_page(f"pages/{name}.py")
    for word, value in query.items():
        page.query_params[word] = value
    for key, value in state.items():
        page.session_state[key] = value
    return page.run()
