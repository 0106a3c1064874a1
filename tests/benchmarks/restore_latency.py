"""How long a moved slider of the Restore page takes to show, beside a bare page:
``python -m tests.benchmarks.restore_latency``.

All pages are open in one Chromium and take turns, so that whatever else the machine does weighs on all.
"""

import statistics
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.browser.chromium import launch
from tests.browser.dashboard import Dashboard
from tests.browser.server import serve

from .latency import ALLOWED, milliseconds_to

ROUNDS = 10
DAMAGED, DEFECTS = 0, 3
MOVES = {
    # what is moved: where the page begins, the slider, the picture that follows it
    "threshold": ({}, "Suspicion from which an entry counts as a defect", DEFECTS),
    "damage": ({"dead": 0.2}, "Dead and dark pixels", DAMAGED),
}


def measure(browser: Browser, bare: str, app: str) -> dict[str, list[float]]:
    """Milliseconds of each move, and of the bare page's."""
    taken: dict[str, list[float]] = {name: [] for name in ("bare", *MOVES)}
    plain = Dashboard(browser.new_context().new_page(), bare)
    plain.open()
    tabs = {name: Dashboard(browser.new_context().new_page(), app) for name in MOVES}
    for name, (query, _, _) in MOVES.items():
        tabs[name].open("/restore", **query)
    for number in range(ROUNDS):
        key = "ArrowLeft" if number % 2 else "ArrowRight"
        picture = plain.page.get_by_test_id("stImage").locator("img")
        taken["bare"].append(milliseconds_to(picture, plain.page, plain.slider("Hidden percent"), key))
        plain.wait_until_idle()
        for name, (_, label, panel) in MOVES.items():
            tab = tabs[name]
            picture = tab.page.locator(".views figure").nth(panel).locator("img").first
            taken[name].append(milliseconds_to(picture, tab.page, tab.slider(label), key))
            tab.wait_until_idle()
    return taken


def report() -> None:
    """Print the medians and their ratios to the bare page's."""
    with (
        sync_playwright() as playwright,
        launch(playwright) as browser,
        serve(Path(__file__).with_name("bare_page.py")) as bare,
        serve() as app,
    ):
        taken = {name: statistics.median(values) for name, values in measure(browser, bare, app).items()}
    print(f"a bare page {taken['bare']:6.0f} ms (median of {ROUNDS})")
    for name in MOVES:
        ratio = taken[name] / taken["bare"]
        verdict = "within" if ratio <= ALLOWED else "ABOVE"
        print(f"{name:<11} {taken[name]:6.0f} ms, {ratio:.2f} times, {verdict} {ALLOWED:g}")


if __name__ == "__main__":
    report()
