"""What a person sees and does on the Curves page."""

import re

from playwright.sync_api import Locator, expect

from .dashboard import Dashboard

SECONDS = 120
FITS = re.compile(r"(\d+) of \d+ fits")


class Curves:
    """The Curves page in one tab."""

    def __init__(self, dashboard: Dashboard, **query: object) -> None:
        self.dashboard = dashboard
        self.page = dashboard.page
        dashboard.open("/curves", height=1300, **query)

    def start(self) -> str:
        """Press Start; the name of the sweep that is shown then."""
        before = self.title()
        self.page.get_by_role("button", name="Start", exact=True).click()
        expect(self._title()).not_to_have_text(before, timeout=SECONDS * 1000)
        return self.title()

    def title(self) -> str:
        """Of the curve that is shown."""
        return self._title().inner_text()

    def _title(self) -> Locator:
        return self.page.get_by_test_id("stMain").get_by_role("heading", level=3).first

    def line(self, name: str) -> Locator:
        """What the list of sweeps says about one."""
        lines = self.page.locator("[class*='st-key-curves_line_']")
        return lines.filter(has=self.page.get_by_text(name, exact=True))

    def press(self, name: str) -> None:
        """The first button of that name, whether the page is polling or not."""
        self.page.get_by_role("button", name=name, exact=True).first.click()

    def fits(self) -> int:
        """How many fits of the sweep in view are done, as the page says."""
        state = self.page.locator(".st-key-curves_progress, .st-key-curves_stopped").first
        expect(state).to_contain_text(FITS, timeout=SECONDS * 1000)
        return int(FITS.search(state.inner_text())[1])

    def expect_fits(self, least: int) -> None:
        """Wait until the page tells of so many."""
        deadline = SECONDS * 1000 // 200
        for _ in range(deadline):
            if self.fits() >= least:
                return
            self.page.wait_for_timeout(200)
        raise AssertionError(f"{self.fits()} fits after {SECONDS} s, not {least}")

    def expect_text(self, text: str) -> None:
        expect(self.page.get_by_text(text).first).to_be_visible(timeout=SECONDS * 1000)

    def points(self) -> Locator:
        """The markers of AT-NMF's line."""
        return (
            self.page.locator(".js-plotly-plot .scatterlayer .trace:has(path.js-line)")
            .filter(has=self.page.locator(".points path"))
            .last.locator(".points path")
        )
