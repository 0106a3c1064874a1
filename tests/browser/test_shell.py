"""The frame around the pages: it is there on every page, and the first view shows a picture."""

import ast
from pathlib import Path

from playwright.sync_api import Browser, expect

from .dashboard import Dashboard
from .navigation import listed_pages
from .server import serve

PAGES = listed_pages()


def test_the_first_page_has_a_name_an_icon_a_logo_and_a_picture(dashboard: Dashboard) -> None:
    page = dashboard.open()

    expect(page).to_have_title("AT-NMF Lab")
    assert page.locator("link[rel~=icon]").get_attribute("href").startswith("data:image/svg+xml")
    expect(page.get_by_test_id("stSidebarLogo")).to_be_visible()
    picture = page.get_by_test_id("stMain").locator("img").first
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.complete && image.naturalWidth > 0")


def test_a_link_to_a_page_opens_it_in_the_frame_even_as_the_first_request_to_a_server(
    browser: Browser,
) -> None:
    with serve() as address, browser.new_context() as context:
        tab = Dashboard(context.new_page(), address)
        page = tab.open(PAGES[-1].path)

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


def test_every_file_of_the_pages_folder_is_listed(repository: Path) -> None:
    files = {f"pages/{path.name}" for path in (repository / "pages").glob("*.py") if path.stem != "__init__"}

    assert files == {listed.file for listed in PAGES}
