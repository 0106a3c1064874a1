"""Names and messages that people or their files supply, shown as they are."""

from __future__ import annotations

import re


def plain(text: str) -> str:
    r"""The text with everything escaped that Streamlit's Markdown would render, so that no name becomes a
    picture, a link or a heading.

    Examples
    --------
    >>> plain("![x](y)")
    '\\!\\[x\\]\\(y\\)'
    """
    return re.sub(r"([\\`*_{}\[\]<>()#+\-.!|~:$&])", r"\\\1", " ".join(text.split()))
