"""What a person sees on the Explore page, read from the browser."""

import base64
import io

import numpy as np
from PIL import Image
from playwright.sync_api import Locator, expect

from .dashboard import Dashboard

PANELS = "abcdef"


class Explore:
    """The Explore page in one tab."""

    def __init__(self, dashboard: Dashboard, **query: object) -> None:
        self.dashboard = dashboard
        self.page = dashboard.open(height=1400, **query)

    def panel(self, letter: str) -> Locator:
        """The picture of panel (a) to (f)."""
        return self.page.locator("figure", has_text=f"({letter})").locator(".picture img").first

    def pixels(self, letter: str) -> np.ndarray:
        """The pixels that a panel shows, as rows x cols x 3."""
        return decoded(self.panel(letter))

    def all_pixels(self) -> dict[str, np.ndarray]:
        """All six panels, and the sheets of parts."""
        sheets = {"parts of AT-NMF": self.parts("AT-NMF"), "parts of NMF": self.parts("NMF")}
        return {letter: self.pixels(letter) for letter in PANELS} | sheets

    def parts(self, method: str) -> np.ndarray:
        return decoded(self.page.get_by_alt_text(f"parts that {method} learned"))

    def changed_by(self, action: object, *arguments: object) -> set[str]:
        """The names of all pictures that are not the same after an action."""
        before = self.all_pixels()
        action(*arguments)
        self.dashboard.wait_until_idle()
        after = self.all_pixels()
        return {name for name in before if not np.array_equal(before[name], after[name])}

    def choose_segment(self, name: str) -> None:
        self.page.get_by_role("radio", name=name, exact=True).click()
        self.dashboard.wait_until_idle()

    def callout(self) -> str:
        return self.page.locator(".st-key-callout").inner_text().replace("\u00a0", " ")

    def expect_in_callout(self, words: str, seconds: float = 60) -> None:
        """Wait for what is computed only while nobody touches the page."""
        expect(self.page.locator(".st-key-callout")).to_contain_text(words, timeout=seconds * 1000)

    def expect_iteration(self, seconds: float = 90) -> None:
        """Wait until a running fit has shown some progress."""
        expect(self.page.get_by_text("Iteration").first).to_be_visible(timeout=seconds * 1000)


def decoded(image: Locator) -> np.ndarray:
    source = image.get_attribute("src")
    assert image.evaluate("image => image.complete && image.naturalWidth > 0")
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(source.partition(",")[2]))).convert("RGB"))
