"""Lengths of time as people say them."""

from __future__ import annotations


def in_words(seconds: float) -> str:
    """Roughly, in the one unit that matters.

    Examples
    --------
    >>> [in_words(seconds) for seconds in (0.2, 7.4, 95, 3 * 3600 + 120, 200_000)]
    ['a moment', '7 s', '2 min', '3.0 h', '2.3 days']
    """
    if seconds < 1:
        return "a moment"
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 36 * 3600 else f"{seconds / 86400:.1f} days"
