"""The browser tests can fail: what goes wrong in a tab is seen, and a missing browser is never overlooked."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from .dashboard import Dashboard
from .server import serve

SCRIPT = """
import streamlit as st
st.title("A page")
share = st.slider("Share", 0.0, 0.95, 0.3, 0.05)
price = st.select_slider("Price", [1.01, 1.5, 2, 5, 100], value=2)
st.write(f"{share} for {price}")
if "broken" in st.query_params:
    raise RuntimeError("the page fell over")
"""


@pytest.fixture(scope="module")
def plain_address(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with a page of one line. It asks for the browser so that none is started without one."""
    script = tmp_path_factory.mktemp("app") / "plain.py"
    script.write_text(SCRIPT)
    with serve(script) as address:
        yield address


@pytest.fixture
def tab(browser: Browser, plain_address: str) -> Iterator[Dashboard]:
    with browser.new_context() as context:
        yield Dashboard(context.new_page(), plain_address)


def test_a_page_without_problems_passes(tab: Dashboard) -> None:
    tab.open()

    tab.check()


def test_a_console_error_fails_the_test(tab: Dashboard) -> None:
    tab.open().evaluate("console.error('something broke')")

    with pytest.raises(AssertionError, match="something broke"):
        tab.check()


def test_an_uncaught_script_error_fails_the_test(tab: Dashboard) -> None:
    page = tab.open()
    page.evaluate("setTimeout(() => { throw new Error('nobody caught me') })")
    page.wait_for_timeout(200)

    with pytest.raises(AssertionError, match="nobody caught me"):
        tab.check()


def test_a_request_to_another_host_fails_the_test(tab: Dashboard) -> None:
    page = tab.open()
    page.route("**/*", lambda route: route.abort())
    page.evaluate("fetch('http://elsewhere.invalid/font').catch(() => null)")

    with pytest.raises(AssertionError, match=r"elsewhere\.invalid"):
        tab.check()


def test_sliders_are_set_by_what_they_show(tab: Dashboard) -> None:
    page = tab.open()

    tab.set_slider("Share", "0.60")
    tab.set_slider("Price", "1.01")

    expect(page.get_by_text("0.6 for 1.01")).to_be_visible()
    with pytest.raises(ValueError, match=r"no stop '1\.00'"):
        tab.set_slider("Share", "1.00")


def test_an_exception_on_a_page_fails_the_test_unless_expected(tab: Dashboard) -> None:
    tab.open(broken="yes")

    with pytest.raises(AssertionError, match="the page fell over"):
        tab.check()
    tab.exception_expected = True
    tab.check()


@pytest.mark.parametrize(("required", "outcome"), [("0", "1 skipped"), ("1", "1 error")])
def test_without_a_browser_tests_skip_or_fail_as_asked(repository: Path, required: str, outcome: str) -> None:
    nowhere = {"PATH": "/nonexistent", "PLAYWRIGHT_BROWSERS_PATH": "/nonexistent"}
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            "tests/browser/test_shell.py",
            "-k",
            "picture",
        ],
        cwd=repository,
        env=os.environ | nowhere | {"ATNMF_REQUIRE_BROWSER": required},
        capture_output=True,
        text=True,
    )

    assert outcome in run.stdout
    assert "apt-get install chromium" in run.stdout
