"""Every page works in a frame of another site, 800 x 600, in both themes."""

import pytest
from playwright.sync_api import expect

from .dashboard import Dashboard
from .navigation import ListedPage, listed_pages

WIDTH, HEIGHT = 800, 600
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


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("listed", listed_pages(), ids=lambda listed: listed.title)
def test_nothing_is_cut_off_in_a_frame(dashboard: Dashboard, listed: ListedPage, theme: str) -> None:
    page = dashboard.page
    page.goto(f"{dashboard.address}/_stcore/health")
    source = f"{dashboard.address}{listed.path}?embed=true&embed_options={theme}_theme"
    page.set_content(f'<iframe width="{WIDTH}" height="{HEIGHT}" src="{source}" title="AT-NMF Lab"></iframe>')
    frame = page.frame_locator("iframe")

    expect(frame.get_by_role("heading", level=1)).to_be_visible(timeout=60_000)
    expect(frame.locator('[data-testid="stApp"][data-test-script-state="notRunning"]')).to_be_visible(
        timeout=60_000
    )
    page.wait_for_timeout(1500)

    inside = page.frames[-1]
    assert inside.evaluate(CUT_OFF) == []
    main = '[data-testid="stMain"]'
    assert inside.locator(main).evaluate("main => main.scrollWidth - main.clientWidth") <= 0
    background = inside.locator('[data-testid="stApp"]').evaluate(
        "app => getComputedStyle(app).backgroundColor"
    )
    brightness = sum(int(part) for part in background.strip("rgb()").split(",")[:3]) / 3
    assert (brightness > 128) == (theme == "light")
    # The controls are a click away.
    frame.get_by_test_id("stExpandSidebarButton").click()
    expect(frame.get_by_test_id("stSidebar").get_by_role("link", name="Learn")).to_be_visible()
