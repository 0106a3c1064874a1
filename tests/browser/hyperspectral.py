"""What a person sees on the Hyperspectral page, read from the browser."""

from typing import Literal

import numpy as np
from playwright.sync_api import Locator, expect

from .dashboard import Dashboard
from .explore import decoded

PICTURES = ("Original", "AT-NMF restores", "NMF restores", "Masked", "AT-NMF's error", "NMF's error")


class Hyperspectral:
    """The Hyperspectral page in one tab, on a scene of `shape` pixels."""

    def __init__(
        self,
        dashboard: Dashboard,
        shape: tuple[int, int] = (64, 64),
        *,
        width: int = 1440,
        theme: Literal["light", "dark"] = "light",
        **query: object,
    ) -> None:
        self.dashboard, self.shape = dashboard, shape
        self.page = dashboard.open("/hyperspectral", theme=theme, width=width, height=1500, **query)

    def frame(self, title: str) -> Locator:
        return self.page.locator("figure", has=self.page.get_by_text(title, exact=True)).locator(".frame")

    def pixels(self, title: str) -> np.ndarray:
        """The pixels that a picture shows, as rows x cols x 3."""
        return decoded(self.frame(title).locator("img:not(.before)"))

    def click(self, title: str, row: int, col: int) -> None:
        """On the middle of a pixel, counted from 0, of a picture that shows the whole scene."""
        box = self.frame(title).bounding_box()
        x, y = ((col + 0.5) / self.shape[1] * box["width"], (row + 0.5) / self.shape[0] * box["height"])
        self.frame(title).click(position={"x": x, "y": y})
        self.dashboard.wait_until_idle()

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.locator(".views").press(key)
        expect(self.page.locator("[data-pending]")).to_have_count(0)
        self.dashboard.wait_until_idle()

    def marked(self) -> set[tuple[int, int]]:
        """The pixels, from 0, that are marked in the pictures: one, where all agree."""
        marks = self.page.locator(".mark")
        expect(marks).to_have_count(len(PICTURES))
        return {
            (int(mark.get_attribute("data-row")), int(mark.get_attribute("data-col"))) for mark in marks.all()
        }

    def expect_pixel(self, row: int, col: int) -> None:
        """Wait until the spectrum is that of a pixel, counted from 0."""
        expect(self.page.locator(".place")).to_have_text(f"Row {row + 1}, column {col + 1}")

    def table(self) -> dict[str, list[str]]:
        """The values of the spectrum, by column."""
        details = self.page.locator("details", has_text="Values as a table")
        if details.get_attribute("open") is None:
            details.locator("summary").click()
        expect(details.locator("tbody tr").first).to_be_visible()
        head = details.locator("thead th").all_inner_texts()
        cells = details.locator("tbody td").all_inner_texts()
        return {name: cells[i :: len(head)] for i, name in enumerate(head)}
