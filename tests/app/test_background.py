"""The server's process: what nobody needs any more goes."""

import gc
import weakref
from collections.abc import Iterator
from typing import Self

import pytest

from pages.common import background


class Session:
    """As Streamlit's sessions do, it refers to itself, and only a collection of garbage frees it."""

    def __init__(self) -> None:
        self.itself: Self = self


class ServerEnds(Exception):
    """In place of the end of the process."""


@pytest.fixture
def no_other_collection() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()
    gc.unfreeze()


def test_the_session_that_was_there_when_collecting_began_is_freed(
    monkeypatch: pytest.MonkeyPatch, no_other_collection: None
) -> None:
    sessions = [Session()]
    first = weakref.ref(sessions[0])

    def sleep(seconds: float) -> None:
        """The first session leaves during the first pause; the server ends with the second."""
        if not sessions:
            raise ServerEnds
        sessions.clear()

    monkeypatch.setattr(background.time, "sleep", sleep)
    with pytest.raises(ServerEnds):
        background._collect_garbage_regularly()

    assert first() is None
