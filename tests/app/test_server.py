"""The server itself, at the protocol: whom it answers, whom it lets in, and what it forgets."""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing

import psutil
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.benchmarks.person import Person, new_browser
from tests.browser.server import APP, LOOPBACK, serve

SECONDS = 60
LONG_FITS, OTHERS = "solver=paper&K=5", "solver=paper&K=6"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A server for others that is full with two, who may have two long fits each."""
    quotas = {"ATNMF_MAX_SESSIONS": "2", "ATNMF_MAX_LONG_FITS": "2"}
    with serve(APP, "--server.disconnectedSessionTTL=0", ATNMF_HOSTED="1", **quotas) as address:
        yield address


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def long_fits() -> int:
    """How many processes of long fits the servers of this process have."""
    lines = [one.cmdline() for one in psutil.Process().children(recursive=True) if one.is_running()]
    return sum("--low-priority" in line for line in lines)


def test_a_page_elsewhere_whose_name_leads_here_is_refused(address: str) -> None:
    with connect(address.replace("http", "ws") + "/_stcore/stream", origin=address):
        pass

    rebound = address.replace(LOOPBACK, "rebound.example")
    with (
        socket.create_connection((LOOPBACK, int(address.rpartition(":")[2]))) as here,
        pytest.raises(InvalidStatus, match="403"),
        connect(rebound.replace("http", "ws") + "/_stcore/stream", sock=here, origin=rebound),
    ):
        pass


def test_a_full_server_says_so_and_lets_the_next_in_when_somebody_has_gone(address: str) -> None:
    with closing(Person(address, "K")) as first, closing(Person(address, "K")) as second:
        assert not any("full" in words for one in (first, second) for words in one.open().words)
        with closing(Person(address, "K")) as third:
            assert any("This server is full" in words for words in third.open().words)

    with closing(Person(address, "K")) as fourth:
        until(lambda: not any("full" in words for words in fourth.open().words))


def test_a_person_has_so_many_long_fits_in_all_tabs_and_they_end_when_they_leave(address: str) -> None:
    browser = new_browser(address)
    with closing(Person(address, "K", LONG_FITS, browser)) as one_tab:
        one_tab.open()
        until(lambda: long_fits() > 0)
        reloaded = new_browser(address, browser)
        assert reloaded != browser
        with closing(Person(address, "K", OTHERS, reloaded)) as another_tab:
            assert any("You have 2 long fits under way" in words for words in another_tab.open().words)
        with closing(Person(address, "K", OTHERS, new_browser(address))) as somebody_else:
            assert not any("long fits under way" in words for words in somebody_else.open().words)

    until(lambda: long_fits() == 0)
