"""Lengths of time as people say them."""

from __future__ import annotations

__all__ = ["spoken"]


def spoken(seconds: float) -> str:
    """Roughly, in the one unit that matters."""
    if seconds < 1:
        return "a moment"
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
