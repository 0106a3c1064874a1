"""Pictures as components want them, drawn once for everybody who looks at the same setting."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from cachetools import LRUCache, cached

__all__ = ["shared"]

F = TypeVar("F", bound=Callable[..., Any])


def shared(max_bytes: int) -> Callable[[F], F]:
    """Have all sessions share what a function of a setting, its data and the fits of both draws.

    What it returns is plain data, goes to browsers and must not be changed. The fits follow from the setting
    and the data, and are no part of the key.
    """
    return cached(
        LRUCache(max_bytes, lambda drawn: min(len(json.dumps(drawn)), max_bytes)),
        key=lambda setting, data, *fits: (setting, data.content_hash),
        lock=threading.Lock(),
    )
