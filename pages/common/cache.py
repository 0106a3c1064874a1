"""The one cache of what pages compute: shared and bounded. Results are shared, so nobody may modify them."""

import inspect
import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import is_dataclass
from functools import wraps
from typing import Any, NamedTuple, TypeVar

from cachetools import LRUCache

from atnmf_core import InputError

MAX_BYTES, MAX_SMALL_BYTES = 1_000_000_000, 50_000_000
SMALL_BYTES = 20_000
MAX_FAILURES = 50
F = TypeVar("F", bound=Callable[..., Any])


class Cache:
    """Results by key, the least recently used out first; `at_least` so many of any size fit in. Those of up
    to `small` bytes have room of their own: one large cube does not push out the errors of a thousand fits.
    """

    def __init__(self, max_bytes: int = MAX_BYTES, at_least: int = 8, small: int = SMALL_BYTES) -> None:
        self._most, self._small_bytes = max_bytes // at_least, small
        self._large = LRUCache[Hashable, tuple[Any, int]](max_bytes, lambda kept: kept[1])
        self._small = LRUCache[Hashable, tuple[Any, int]](MAX_SMALL_BYTES, lambda kept: kept[1])
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Any | None:
        with self._lock:
            found = self._small.get(key) or self._large.get(key)
        return None if found is None else found[0]

    def keep(self, key: Hashable, result: Any) -> None:
        size = size_of(result)
        with self._lock:
            if size <= self._small_bytes:
                self._small[key] = result, size
            else:
                self._large[key] = result, min(size, self._most)

    def forget(self, of: Callable[[Hashable], bool]) -> None:
        """Drop the results whose key this is true of."""
        with self._lock:
            for kept in (self._small, self._large):
                for key in [key for key in kept if of(key)]:
                    del kept[key]


def size_of(result: Any) -> int:
    if hasattr(result, "nbytes"):
        return int(result.nbytes)
    if isinstance(result, str | bytes):
        return 50 + len(result)
    if isinstance(result, dict):
        return 50 + sum(map(size_of, result)) + sum(map(size_of, result.values()))
    if isinstance(result, list | tuple | set | frozenset):
        return 50 + sum(map(size_of, result))
    if is_dataclass(result):
        return 50 + sum(map(size_of, vars(result).values()))
    return 32 if result is None or isinstance(result, bool | int | float) else 10_000


CACHE = Cache()


def cached(*, key: Callable[..., Hashable] | None = None) -> Callable[[F], F]:
    """Cache what a function returns, by `key` of its arguments, or by those whose name has no underscore in
    front, from which the others must follow.
    """

    def decorate(function: F) -> F:
        name, of = f"{function.__module__}.{function.__qualname__}", key or _arguments(function)

        @wraps(function)
        def from_cache(*args: Any, **kwargs: Any) -> Any:
            where = (name, of(*args, **kwargs))
            found = CACHE.get(where)
            if found is None:
                found = function(*args, **kwargs)
                CACHE.keep(where, found)
            return found

        from_cache.clear = lambda: CACHE.forget(lambda one: isinstance(one, tuple) and one[0] == name)
        return from_cache

    return decorate


def _arguments(function: Callable[..., Any]) -> Callable[..., Hashable]:
    signature = inspect.signature(function)

    def key(*args: Any, **kwargs: Any) -> Hashable:
        given = signature.bind(*args, **kwargs).arguments
        return tuple(
            (name, tuple(sorted(value.items())) if isinstance(value, dict) else value)
            for name, value in given.items()
            if not name.startswith("_")
        )

    return key


class Failure(NamedTuple):
    error: BaseException
    when: float

    @property
    def is_refusal(self) -> bool:
        return isinstance(self.error, InputError)

    def may_be_over(self, seconds: float) -> bool:
        """Whether another try may succeed by now: the machine was short of something, or a process died."""
        return not self.is_refusal and time.monotonic() - self.when >= seconds


class ResultCache:
    """Results of background work by key while there is room, and why other work failed."""

    def __init__(self, cache: Cache = CACHE) -> None:
        self._cache = cache
        self._failures = LRUCache[Hashable, Failure](MAX_FAILURES)
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Any | None:
        return self._cache.get(key)

    def failure(self, key: Hashable) -> Failure | None:
        with self._lock:
            return self._failures.get(key)

    def forget_failure(self, key: Hashable) -> None:
        with self._lock:
            self._failures.pop(key, None)

    def store(self, key: Hashable, future: Future[Any]) -> None:
        """Keep what came of the work, unless it was cancelled."""
        if future.cancelled():
            return
        error = future.exception()
        if error is None:
            self._keep(key, future.result())
            return
        with self._lock:
            self._failures[key] = Failure(error, time.monotonic())

    def _keep(self, key: Hashable, result: Any) -> None:
        self._cache.keep(key, result)
