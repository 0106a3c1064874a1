"""Take the README's pictures from the running dashboard: ``python -m tests.screenshots``.

Names of pages, such as ``hyperspectral``, take only theirs.
"""

import io
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from .browser.chromium import launch
from .browser.dashboard import Dashboard
from .browser.navigation import listed_pages
from .browser.server import serve

FOLDER = Path(__file__).parents[1] / "assets" / "screenshots"
WIDTH, HEIGHT = 1440, 960


def take(names: list[str]) -> None:
    """The named pages, or every page, in each theme, as on a first visit; it stops at a page that reports a
    problem.
    """
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright, serve() as address, launch(playwright) as browser:
        for listed in listed_pages():
            if names and Path(listed.file).stem not in names:
                continue
            for theme in ("light", "dark"):
                with browser.new_context() as context:
                    tab = Dashboard(context.new_page(), address)
                    tab.open(listed.path, theme=theme, width=WIDTH, height=HEIGHT)
                    expect_finished_curve(tab.page, listed.path)
                    tab.check()
                    picture = Image.open(io.BytesIO(tab.page.screenshot()))
                file = FOLDER / f"{Path(listed.file).stem}-{theme}.webp"
                picture.save(file, quality=85, method=6)
                print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")


def expect_finished_curve(page: Page, path: str) -> None:
    """Wait until Explore has traced its curve, point by point."""
    if path == "/":
        page.wait_for_function(
            "() => document.querySelector('.st-key-lambda_curve .js-plotly-plot')?.data"
            "?.filter((trace) => trace.name?.startsWith('AT-NMF') && trace.x.length >= 9).length === 2",
            timeout=300_000,
        )


if __name__ == "__main__":
    take(sys.argv[1:])
