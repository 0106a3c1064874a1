"""How soon a page shows from a server that was just started: ``python -m tests.benchmarks.first_view``.

For each page a server of its own, asked for nothing before. The time is that of one browser tab, from the
moment it connects until the page is drawn and at rest; beside it the time from the start of the process. A
bare page with one slider and one image takes part, to tell the page's share from the machine's.
"""

import statistics
import sys
import time
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.browser.chromium import launch
from tests.browser.dashboard import IDLE, Dashboard
from tests.browser.navigation import listed_pages
from tests.browser.server import APP, serve

ROUNDS = 3
BARE = Path(__file__).with_name("bare_page.py")
DRAWN = f"""selector => {{
    const there = [...document.querySelectorAll('*')].some(
        element => element.matches(selector) || element.shadowRoot?.querySelector(selector));
    return there && ({IDLE})();
}}"""
LAST = {"Reproduce": "td.marked"}
"""What stands on a page last; by default its heading."""


def measure(browser: Browser, script: Path, path: str, last: str) -> tuple[float, float]:
    """Seconds from the first connection and from the start of the server."""
    started = time.perf_counter()
    with serve(script) as address, browser.new_context() as context:
        tab = Dashboard(context.new_page(), address)
        connected = time.perf_counter()
        tab.page.goto(f"{address}{path}", wait_until="commit")
        tab.page.wait_for_function(DRAWN, arg=last, polling=20, timeout=60_000)
        shown = time.perf_counter()
    return shown - connected, shown - started


def report(titles: list[str]) -> None:
    """All pages, or those with the given titles."""
    wanted = [listed for listed in listed_pages() if not titles or listed.title in titles]
    pages = {"a bare page": (BARE, "/", "img")}
    pages |= {listed.title: (APP, listed.path, LAST.get(listed.title, "h1")) for listed in wanted}
    with sync_playwright() as playwright, launch(playwright) as browser:
        for title, (script, path, last) in pages.items():
            taken = [measure(browser, script, path, last) for _ in range(ROUNDS)]
            connection, start = (statistics.median(values) for values in zip(*taken, strict=True))
            print(
                f"{title:<14} {connection:5.2f} s from the first connection, {start:5.2f} s from the "
                f"start of the server (median of {ROUNDS})",
                flush=True,
            )


if __name__ == "__main__":
    report(sys.argv[1:])
