"""Pictures as data for components, drawn once for everybody who looks at the same setting."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from cachetools import LRUCache, cached

from atnmf_core import Dataset
from pages.common.setting import Setting

F = TypeVar("F", bound=Callable[..., Any])
MAX_BYTES = 4_000_000
"""Of one kind of picture: those of as many settings as the server caches fits for. Others are not shown."""


def shared(*view: str) -> Callable[[F], F]:
    """Share between sessions what a function draws from a setting, its data and its fits.

    The result is plain data for browsers and must not be modified. `view` names what it depends on of
    `Setting.VIEW`. The fits follow from the setting and the data, and are not part of the key.
    """

    def key(setting: Setting, data: Dataset, *fits: object) -> Hashable:
        return setting.solved, data.content_hash, *(getattr(setting, name) for name in view)

    def size(drawn: object) -> int:
        return min(len(json.dumps(drawn)), MAX_BYTES)

    return cached(LRUCache(MAX_BYTES, size), key=key, lock=threading.Lock())
