"""What a person sees and does on the Learn page."""

import re
import time
from typing import Literal

from playwright.sync_api import Locator, expect

from .dashboard import Dashboard

CELLS = "table => [...table.rows].map(row => [...row.cells].map(cell => Number(cell.dataset.value)))"
PLOTTED = "plot => plot.data.map(({ name, x, y }) => ({ name, x: Array.from(x), y: Array.from(y) }))"


class Learn:
    """One chapter of the Learn page in one tab."""

    def __init__(
        self,
        dashboard: Dashboard,
        chapter: int,
        *,
        width: int = 1440,
        theme: Literal["light", "dark"] = "light",
        **query: object,
    ) -> None:
        self.dashboard = dashboard
        self.page = dashboard.open("/learn", theme=theme, width=width, height=1000, chapter=chapter, **query)

    def turn_to(self, number: int) -> None:
        self.page.get_by_role("navigation", name="Chapters").get_by_role("button").nth(number - 1).click()
        self.dashboard.wait_until_idle()

    def dial(self, label: str) -> Locator:
        """A slider that the picture draws itself."""
        return self.page.get_by_role("slider", name=label, exact=True)

    def set_dials(self, stops: dict[str, int]) -> None:
        """Move dials of the picture to stops, counted from 0."""
        for label, stop in stops.items():
            self.dial(label).fill(str(stop))

    def said(self) -> str:
        """The sentence under or over a moving picture."""
        return self.page.locator(".said").inner_text()

    def numbers(self) -> list[float]:
        """All numbers of that sentence."""
        found = re.findall(r"[−-]?\d+(?:\.\d+)?", self.said())
        return [float(number.replace("−", "-")) for number in found]

    def press(self, name: str) -> None:
        """A button of the player; nothing is waited for."""
        self.page.get_by_role("group", name="Player").get_by_role("button", name=name, exact=True).click()

    def rest(self) -> None:
        """Wait until the picture has told the server where it stands, and that has answered."""
        expect(self.page.locator("[data-pending]")).to_have_count(0)
        self.dashboard.wait_until_idle()

    def board(self, title: str) -> list[list[float]]:
        """The numbers of one table of the game."""
        caption = self.page.locator("caption b").get_by_text(title, exact=True)
        return self.page.locator("table", has=caption).evaluate(CELLS)

    def plotted(self) -> dict[str, dict[str, list]]:
        """What the chapter's chart shows, by name: its x and y."""
        return {
            trace["name"]: trace for trace in self.page.locator(".js-plotly-plot").first.evaluate(PLOTTED)
        }

    def plotted_bars(self) -> list[float]:
        """The lengths of the bars that the chapter's chart shows, from the lowest up."""
        return self.page.locator(".js-plotly-plot").first.evaluate("plot => Array.from(plot.data[0].x)")

    @property
    def query(self) -> dict[str, str]:
        return dict(part.split("=") for part in self.page.url.partition("?")[2].split("&") if part)

    def expect_query(self, expected: dict[str, str]) -> None:
        """The address comes to say this, and nothing else."""
        deadline = time.monotonic() + 30
        while self.query != expected and time.monotonic() < deadline:
            self.page.wait_for_timeout(50)
        assert self.query == expected
