"""Fixtures for tests in a real browser: ``dashboard`` is a fresh tab on the app, ``page`` is its page."""

import os
import re
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

from .chromium import NoBrowserError, launch
from .dashboard import Dashboard
from .server import serve

FAILURES = Path(__file__).parent / "failures"


@pytest.fixture(scope="session")
def browser():
    """A Chromium; without one the test is skipped, or fails where ``ATNMF_REQUIRE_BROWSER=1`` is set."""
    with sync_playwright() as playwright:
        try:
            chromium = launch(playwright)
        except NoBrowserError as error:
            if os.environ.get("ATNMF_REQUIRE_BROWSER") == "1":
                pytest.fail(str(error), pytrace=False)
            pytest.skip(str(error))
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def address(browser):
    """Where the dashboard answers. It asks for the browser so that no server is started without one."""
    with serve() as address:
        yield address


@pytest.fixture(scope="session")
def profile(browser):
    """What tests share: a cache, so that not every tab has to load and compile the dashboard's scripts."""
    with browser.new_context() as context:
        yield context


@pytest.fixture
def dashboard(profile, address):
    """A tab with no history; the test fails if the browser reports anything wrong while it runs."""
    page = profile.new_page()
    yield Dashboard(page, address)
    everything = {"origin": address, "storageTypes": "cookies,local_storage,indexeddb"}
    profile.new_cdp_session(page).send("Storage.clearDataForOrigin", everything)
    profile.clear_cookies()
    profile.clear_permissions()
    for tab in profile.pages:
        tab.close()


@pytest.fixture
def page(dashboard):
    """The Playwright page of ``dashboard``."""
    return dashboard.page


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Check the tab when the test is through, and keep a picture of it when something failed."""
    dashboard = pyfuncitem.funcargs.get("dashboard")
    try:
        result = yield
        if isinstance(dashboard, Dashboard):
            dashboard.check()
        return result
    except Exception:
        if isinstance(dashboard, Dashboard):
            _keep_picture(dashboard.page, pyfuncitem.nodeid)
        raise


def _keep_picture(page: Page, test: str) -> None:
    name = re.sub(r"[^\w.-]+", "-", test.removeprefix("tests/browser/"))
    page.screenshot(path=FAILURES / f"{name}.png", full_page=True)
