"""The frame around the pages: they open, they stay on this machine, they follow the theme and the window."""

import ast
import tomllib
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from .dashboard import Dashboard
from .navigation import ListedPage, listed_pages
from .server import serve

PAGES = listed_pages()
every_page = pytest.mark.parametrize("listed", PAGES, ids=lambda listed: listed.title)


def test_the_first_page_shows_a_picture(dashboard: Dashboard) -> None:
    page = dashboard.open()

    picture = page.get_by_test_id("stMain").locator("img").first

    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.complete && image.naturalWidth > 0")


@every_page
def test_a_page_opens_from_its_own_address(dashboard: Dashboard, listed: ListedPage) -> None:
    page = dashboard.open(listed.path)

    expect(page.get_by_test_id("stMain").get_by_role("heading").first).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_link_to_a_page_opens_it_in_the_frame_also_as_the_first_thing_that_a_server_is_asked(
    browser: Browser,
) -> None:
    listed = PAGES[-1]
    with serve() as address, browser.new_context() as context:
        tab = Dashboard(context.new_page(), address)
        page = tab.open(listed.path)

        links = page.get_by_test_id("stSidebarNavLink")
        assert [link.inner_text().split("\n")[-1] for link in links.all()] == [one.title for one in PAGES]
        expect(page.get_by_test_id("stSidebarLogo")).to_be_visible()
        tab.check()


def test_every_page_goes_through_the_frame_before_anything_else(repository: Path) -> None:
    for listed in PAGES:
        statements = ast.parse((repository / listed.file).read_text()).body
        calls = [
            one.value for one in statements if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)
        ]

        assert ast.unparse(calls[0]) == "ensure_app_frame()", listed.file


@every_page
def test_a_page_fits_a_telephone(dashboard: Dashboard, listed: ListedPage) -> None:
    page = dashboard.open(listed.path, width=390, height=844)

    widest = page.get_by_test_id("stMain").evaluate("main => main.scrollWidth - main.clientWidth")

    assert widest <= 0, f"{listed.title} scrolls sideways by {widest} pixels"


def test_every_file_of_the_pages_folder_is_listed(repository: Path) -> None:
    files = {f"pages/{path.name}" for path in (repository / "pages").glob("*.py") if path.stem != "__init__"}

    assert files == {listed.file for listed in PAGES}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_colours_follow_the_systems_theme(dashboard: Dashboard, repository: Path, theme: str) -> None:
    colours = tomllib.loads((repository / ".streamlit" / "config.toml").read_text())["theme"][theme]

    page = dashboard.open(theme=theme)

    expect(page.get_by_test_id("stApp")).to_have_css("background-color", as_rgb(colours["backgroundColor"]))
    expect(page.get_by_test_id("stSidebar")).to_have_css(
        "background-color", as_rgb(colours["sidebar"]["backgroundColor"])
    )


def test_the_tab_carries_name_and_icon(dashboard: Dashboard) -> None:
    page = dashboard.open()

    expect(page).to_have_title("AT-NMF Lab")
    assert page.locator("link[rel~=icon]").get_attribute("href").startswith("data:image/svg+xml")
    expect(page.get_by_test_id("stSidebarLogo")).to_be_visible()


def as_rgb(colour: str) -> str:
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return f"rgb({red}, {green}, {blue})"
