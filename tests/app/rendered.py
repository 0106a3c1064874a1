"""Texts of a page as people read them."""

import re

__all__ = ["rendered"]


def rendered(text: str) -> str:
    """Markdown without the backslashes that keep names and messages from being rendered."""
    return re.sub(r"\\([^a-zA-Z0-9\s])", r"\1", text)
