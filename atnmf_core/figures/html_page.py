"""A self-contained HTML page: follows the reader's light or dark theme, can be printed, needs no network."""

from __future__ import annotations

from html import escape

STYLE = """
:root {
  color-scheme: light dark;
  --ink: light-dark(#0D1723, #E7ECF0); --muted: light-dark(#566273, #9EABB7);
  --line: light-dark(#D5DCE3, #34424E); --paper: light-dark(#FFFFFF, #121A21);
}
body { font-family: sans-serif; line-height: 1.45; margin: 2rem auto; max-width: 70rem; padding: 0 1.5rem }
body { color: var(--ink); background: var(--paper) }
h2 { font-size: 1.2rem; margin: 2rem 0 0.5rem }
figure { margin: 0 } figcaption { color: var(--muted); font-size: 0.875rem; margin-bottom: 0.3rem }
@media print { :root { color-scheme: light } body { margin: 0; max-width: none } }
@media print { h2 { break-after: avoid } figure, tr { break-inside: avoid } }
"""


def html_page(title: str, body: str, style: str = "") -> str:
    """The whole page; `title` is text, `body` is HTML, and `style` is added to the common style."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{STYLE}{style}</style></head>"
        f"<body><h1>{escape(title)}</h1>{body}</body></html>\n"
    )
