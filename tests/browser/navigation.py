"""The pages that app.py lists, read from its source so that tests can be parametrised over them."""

import ast
from typing import NamedTuple

from .server import APP


class ListedPage(NamedTuple):
    """One ``st.Page(...)`` of the navigation."""

    file: str
    title: str
    path: str
    """Where it is in the address bar; the default page is at the root."""


def listed_pages() -> list[ListedPage]:
    """Every page of ``st.navigation``, in its order."""
    calls = [node for node in ast.walk(ast.parse(APP.read_text())) if isinstance(node, ast.Call)]
    return [_page(call) for call in calls if ast.unparse(call.func) == "st.Page"]


def _page(call: ast.Call) -> ListedPage:
    options = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}
    file = ast.literal_eval(call.args[0])
    stem = file.removeprefix("pages/").removesuffix(".py")
    return ListedPage(file, options["title"], "/" if options.get("default") else f"/{stem}")
