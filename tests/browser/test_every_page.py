"""Every page opens in its frame from its own address, is accessible in both themes, and fits a telephone."""

import ast
import re
import tomllib
from contextlib import suppress

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from .dashboard import Dashboard
from .navigation import listed_pages
from .server import serve

PAGES = listed_pages()
SIDEWAYS = "main => main.scrollWidth - main.clientWidth"
# What reaches beyond the right edge and cannot be scrolled to; a title that ends in dots is cut off, too.
CUT_OFF = """() => {
    const reachable = (element) => {
        for (let box = element; box; box = box.parentElement ?? box.getRootNode().host)
            if (/auto|scroll/.test(getComputedStyle(box).overflowX)) return box.dataset.testid !== 'stMain';
        return false;
    };
    const below = (one) => (one.shadowRoot ? all(one.shadowRoot) : []);
    const all = (root) => [...root.querySelectorAll('*')].flatMap((one) => [one, ...below(one)]);
    const right = (one) => one.getBoundingClientRect().right;
    const named = (one) => `${one.tagName} ${one.innerText?.slice(0, 60)}`;
    return all(document.querySelector('[data-testid="stMain"]'))
        .filter((one) => one.matches('button, input, img, p, h1, h2, h3, label, figcaption, svg.main-svg'))
        .filter((one) => one.checkVisibility({ visibilityProperty: true }))
        .filter((one) => one.getBoundingClientRect().width > 1)
        .filter((one) => (right(one) > innerWidth + 1 && !reachable(one))
            || (one.tagName === 'FIGCAPTION' && one.scrollWidth > one.clientWidth + 1))
        .map(named);
}"""


@pytest.mark.parametrize("listed", PAGES, ids=lambda listed: listed.title)
def test_a_page_opens_follows_the_theme_and_fits_a_telephone(dashboard, repository, listed):
    themes = tomllib.loads((repository / ".streamlit" / "config.toml").read_text())["theme"]
    page = dashboard.open(listed.path)
    expect(page).to_have_title("AT-NMF Lab")
    assert page.locator("link[rel~=icon]").get_attribute("href").startswith("data:image/svg+xml")
    expect(page.get_by_test_id("stSidebarLogo")).to_be_visible()
    expect(page.get_by_test_id("stMain").get_by_role("heading").first).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)

    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        app, sidebar = page.get_by_test_id("stApp"), page.get_by_test_id("stSidebar")
        expect(app).to_have_css("background-color", as_rgb(themes[theme]["backgroundColor"]))
        expect(sidebar).to_have_css("background-color", as_rgb(themes[theme]["sidebar"]["backgroundColor"]))
        dashboard.wait_until_idle()
        for chosen in page.locator('[role="radio"][aria-checked="true"]').all()[:1]:
            chosen.hover()
        found = violations(page)
        assert not found, f"in the {theme} theme:\n" + "\n".join(found)

    page.set_viewport_size({"width": 390, "height": 844})
    dashboard.wait_until_idle()
    widest = page.get_by_test_id("stMain").evaluate(SIDEWAYS)
    assert widest <= 0, f"{listed.title} scrolls sideways by {widest} pixels"


def test_a_keyboard_reaches_the_controls_soon_and_a_choice_at_what_is_chosen(dashboard):
    page = dashboard.open("/")
    now = "() => document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText"

    def pressed(key, until):
        for count in range(1, 40):
            page.keyboard.press(key)
            if page.evaluate(now) == until:
                return count
        raise AssertionError(f"{key} never led to {until}")

    assert pressed("Tab", "Skip to main content") == 1
    expect(page.get_by_role("region", name="Controls")).to_be_visible()
    assert pressed("F6", "Controls") <= 2
    assert pressed("Tab", "Adversary's price λ") <= 8
    # Not at "marked", which stands before it.
    pressed("Tab", "unmarked")
    assert page.evaluate("document.activeElement.ariaChecked") == "true"
    page.keyboard.press("F6")
    assert page.evaluate("document.activeElement.dataset.testid") == "stMain"
    page.keyboard.press("Shift+F6")
    assert page.evaluate(now) == "Controls"


# Which page it is makes no difference to the theme of a frame.
IN_FRAMES = [(listed, "light") for listed in PAGES] + [(PAGES[0], "dark")]


@pytest.mark.parametrize(("listed", "theme"), IN_FRAMES, ids=lambda one: getattr(one, "title", one))
def test_nothing_is_cut_off_in_a_frame(dashboard, listed, theme):
    page = dashboard.page
    page.goto(f"{dashboard.address}/_stcore/health")
    source = f"{dashboard.address}{listed.path}?embed=true&embed_options={theme}_theme"
    page.set_content(f'<iframe width="800" height="600" src="{source}" title="AT-NMF Lab"></iframe>')
    frame, inside = page.frame_locator("iframe"), page.frames[-1]
    expect(frame.get_by_role("heading", level=1)).to_be_visible(timeout=60_000)
    dashboard.wait_until_idle(inside)

    # A chart that was drawn wider takes a moment to shrink.
    with suppress(PlaywrightTimeout):
        inside.wait_for_function(f"() => ({CUT_OFF})().length === 0", timeout=5_000)
    assert inside.evaluate(CUT_OFF) == []
    assert inside.locator('[data-testid="stMain"]').evaluate(SIDEWAYS) <= 0
    background = inside.locator('[data-testid="stApp"]').evaluate(
        "app => getComputedStyle(app).backgroundColor"
    )
    brightness = sum(int(part) for part in background.strip("rgb()").split(",")[:3]) / 3
    assert (brightness > 128) == (theme == "light")
    # The controls are a click away.
    frame.get_by_test_id("stExpandSidebarButton").click()
    expect(frame.get_by_test_id("stSidebar").get_by_role("link", name="Learn")).to_be_visible()


@pytest.mark.slow
@pytest.mark.parametrize("patches", ["1", "0"])
def test_a_server_of_its_own_opens_every_page(browser, patches):
    """With Streamlit patched and not patched. To be run with the oldest and the newest Streamlit allowed."""
    with serve(ATNMF_STREAMLIT_PATCHES=patches) as address:
        for listed in PAGES:
            with browser.new_context() as context:
                dashboard = Dashboard(context.new_page(), address)
                page = dashboard.open(listed.path)
                expect(page.get_by_test_id("stMain").get_by_role("heading").first).to_be_visible()
                if listed.path == "/":
                    dashboard.set_slider("Hidden share α", "0.50")
                    expect(page).to_have_url(re.compile("alpha=0.5"))
                dashboard.check()


def violations(page: Page) -> list[str]:
    """Everything that axe finds, however slight."""
    return [describe(violation) for violation in Axe().run(page).response["violations"]]


def describe(violation: dict) -> str:
    places = "\n".join(f"    {node['html'][:160]} {node['failureSummary']}" for node in violation["nodes"])
    return f"{violation['id']} ({violation['impact']}): {violation['help']}\n{places}"


def as_rgb(colour: str) -> str:
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return f"rgb({red}, {green}, {blue})"


def test_a_link_to_a_page_opens_it_in_the_frame_even_as_the_first_request_to_a_server(browser):
    with serve() as address, browser.new_context() as context:
        tab = Dashboard(context.new_page(), address)
        page = tab.open(PAGES[-1].path)

        links = page.get_by_test_id("stSidebarNavLink")
        assert [link.inner_text().split("\n")[-1] for link in links.all()] == [one.title for one in PAGES]
        expect(page.get_by_test_id("stSidebarLogo")).to_be_visible()
        tab.check()


@pytest.mark.parametrize("listed", PAGES, ids=lambda listed: listed.title)
def test_a_page_goes_through_the_frame_before_anything_else(repository, listed):
    calls = [
        one for one in ast.parse((repository / listed.file).read_text()).body if isinstance(one, ast.Expr)
    ]

    assert "ensure_app_frame()" in [ast.unparse(one) for one in calls[:2]]
