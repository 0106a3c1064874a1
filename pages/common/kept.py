"""What the server keeps for all its sessions, within a number of bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

__all__ = ["Kept"]

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Kept(Generic[Key, Value]):
    """Values by key; beyond `most_bytes` the least recently used go, but `at_least` so many stay."""

    def __init__(self, most_bytes: int, size: Callable[[Value], int], *, at_least: int = 1) -> None:
        self._most_bytes, self._size, self._at_least = most_bytes, size, at_least
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Key) -> Value | None:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def keep(self, key: Key, value: Value) -> None:
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while len(self._values) > self._at_least and self._bytes() > self._most_bytes:
                self._values.popitem(last=False)

    def _bytes(self) -> int:
        return sum(self._size(value) for value in self._values.values())
