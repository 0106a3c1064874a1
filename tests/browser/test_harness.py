"""The browser tests can fail: what goes wrong in a tab is seen, and a missing browser is never overlooked."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from .dashboard import Dashboard
from .server import serve

BROKEN = """
import streamlit as st
st.title("Broken")
raise RuntimeError("the page fell over")
"""


def test_a_console_error_fails_the_test(dashboard: Dashboard) -> None:
    dashboard.open().evaluate("console.error('something broke')")

    with pytest.raises(AssertionError, match="something broke"):
        dashboard.check()
    dashboard.problems.clear()


def test_an_uncaught_script_error_fails_the_test(dashboard: Dashboard) -> None:
    page = dashboard.open()
    page.evaluate("setTimeout(() => { throw new Error('nobody caught me') })")
    page.wait_for_timeout(200)

    with pytest.raises(AssertionError, match="nobody caught me"):
        dashboard.check()
    dashboard.problems.clear()


def test_a_request_to_another_host_fails_the_test(dashboard: Dashboard) -> None:
    page = dashboard.open()
    page.route("**/*", lambda route: route.abort())
    page.evaluate("fetch('http://elsewhere.invalid/font').catch(() => null)")

    with pytest.raises(AssertionError, match=r"elsewhere\.invalid"):
        dashboard.check()
    dashboard.problems.clear()


def test_an_exception_on_a_page_fails_the_test(browser: Browser, tmp_path: Path) -> None:
    script = tmp_path / "broken.py"
    script.write_text(BROKEN)
    with serve(script) as address, browser.new_context() as context:
        tab = Dashboard(context.new_page(), address)
        tab.open()

        with pytest.raises(AssertionError, match="the page fell over"):
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
