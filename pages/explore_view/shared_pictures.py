"""Pictures as data for components, drawn once for everybody who looks at the same setting."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from cachetools import LRUCache, cached

__all__ = ["shared"]

F = TypeVar("F", bound=Callable[..., Any])


def shared(max_bytes: int) -> Callable[[F], F]:
    """Share between sessions what a function draws from a setting, its data and its fits.

    The result is plain data for browsers and must not be modified. The fits follow from the setting and the
    data, and are not part of the key.
    """
    return cached(
        LRUCache(max_bytes, lambda drawn: min(len(json.dumps(drawn)), max_bytes)),
        key=lambda setting, data, *fits: (setting, data.content_hash),
        lock=threading.Lock(),
    )
