"""The Explore page: the first view, every control, links, and reading single pixels."""

import numpy as np
from playwright.sync_api import Browser, expect

from atnmf_core import factorize, hide_entries, load_dataset
from atnmf_core.adversary import optimal_attack

from .dashboard import Dashboard
from .explore import PANELS, Explore

RED, BLUE = (0xE5, 0x38, 0x3B), (0x1F, 0x3B, 0xFF)
EVERYTHING = {*PANELS, "parts of AT-NMF", "parts of NMF"}
LEARNED = EVERYTHING - {"a", "b"}


def test_the_first_view_has_six_pictures_and_the_parts_without_a_click(dashboard: Dashboard) -> None:
    explore = Explore(dashboard)

    for letter in PANELS:
        expect(explore.panel(letter)).to_be_visible()
        # Dots in (c) take three colours each way per pixel.
        side = 75 if letter == "c" else 25
        assert explore.pixels(letter).shape == (side, side, 3)
        assert explore.panel(letter).get_attribute("alt")
    assert explore.parts("AT-NMF").shape == explore.parts("NMF").shape
    assert "Unmarked losses" in explore.callout()
    expect(explore.page.get_by_role("button", name="Mark hidden pixels")).to_be_visible()
    expect(explore.page.locator(".js-plotly-plot").first).to_be_visible()


def test_the_share_of_red_pixels_follows_alpha(dashboard: Dashboard) -> None:
    explore = Explore(dashboard)

    changed = explore.changed_by(dashboard.set_slider, "Hidden share α", "0.60")

    observed = hide_entries((625, 100), 0.6)[:, 7].reshape(25, 25, order="F")
    assert (painted(explore.pixels("b"), RED) == ~observed).all()
    assert changed == EVERYTHING - {"a"}


def test_lambda_changes_what_atnmf_learns_and_nothing_of_nmf(dashboard: Dashboard) -> None:
    explore = Explore(dashboard)

    changed = explore.changed_by(dashboard.set_slider, "Adversary's price λ", "5")

    # NMF's parts stand beside those of AT-NMF that they resemble, so their order may change.
    assert changed - {"parts of NMF"} == {"c", "d", "e", "parts of AT-NMF"}


def test_a_switch_changes_what_it_should_and_nothing_else(dashboard: Dashboard) -> None:
    explore = Explore(dashboard)

    assert explore.changed_by(explore.choose_segment, "W H alone") == {"e", "f"}
    assert explore.changed_by(explore.choose_segment, "one scale") == {"parts of AT-NMF", "parts of NMF"}
    assert explore.changed_by(explore.choose_segment, "marked") == LEARNED
    assert explore.changed_by(explore.choose_segment, "one block") == EVERYTHING - {"a"}


def test_parts_seeds_and_colour_change_what_they_should(dashboard: Dashboard) -> None:
    explore = Explore(dashboard)
    explore.page.get_by_text("Seeds and colour").click()

    def type_seed(label: str) -> None:
        explore.page.get_by_label(label, exact=True).fill("5")
        explore.page.get_by_label(label, exact=True).press("Enter")

    assert explore.changed_by(type_seed, "Start seed") == LEARNED
    assert explore.changed_by(type_seed, "Mask seed") == EVERYTHING - {"a"}
    hidden = painted(explore.pixels("b"), RED)
    assert explore.changed_by(explore.choose_segment, "blue") == {"b", "c", "d"}
    assert (painted(explore.pixels("b"), BLUE) == hidden).all()
    assert explore.changed_by(dashboard.set_slider, "Parts K", "9") == LEARNED


def test_choosing_a_cube_shows_its_bands(dashboard: Dashboard) -> None:
    explore = Explore(dashboard)

    dashboard.choose("Data", "Simulated hyperspectral scene")

    label = load_dataset("simulated-scene").wavelength_label(32)
    expect(explore.panel("a")).to_have_attribute("alt", f"Original {label}")
    assert explore.pixels("a").shape == (64, 64, 3)
    before = explore.pixels("a")
    dashboard.slider("Band").press("Home")
    dashboard.wait_until_idle()
    assert not np.array_equal(before, explore.pixels("a"))


def test_a_link_restores_the_whole_state_in_another_browser(dashboard: Dashboard, browser: Browser) -> None:
    explore = Explore(dashboard, image=12, seed=3, lam=1.5)
    dashboard.set_slider("Hidden share α", "0.45")
    explore.choose_segment("marked")
    explore.choose_segment("W H alone")
    query = dict(part.split("=") for part in explore.page.url.partition("?")[2].split("&"))
    said = {
        "alpha": "0.45",
        "lam": "1.5",
        "missing": "ignore",
        "restored": "model",
        "image": "12",
        "seed": "3",
    }
    assert query == said

    with browser.new_context() as context:
        there = Explore(Dashboard(context.new_page(), dashboard.address), **query)
        assert there.page.url == explore.page.url
        assert there.dashboard.slider("Hidden share α").get_attribute("aria-valuetext") == "0.45"
        here = explore.all_pixels()
        for name, pixels in there.all_pixels().items():
            assert np.array_equal(pixels, here[name]), name


def test_the_back_button_undoes_one_action_at_a_time(dashboard: Dashboard) -> None:
    explore = Explore(dashboard, image=12)
    actions = (
        lambda: explore.choose_segment("one block"),
        lambda: dashboard.press("90% gone"),
        lambda: dashboard.set_slider("Hidden share α", "0.60"),
    )
    seen = []
    for action in actions:
        seen.append((explore.page.url, explore.panel("b").get_attribute("src")))
        action()

    for address, picture in reversed(seen):
        explore.page.go_back()
        expect(explore.page).to_have_url(address)
        expect(explore.panel("b")).to_have_attribute("src", picture, timeout=30_000)
        dashboard.wait_until_idle()

    explore.page.go_forward()
    expect(explore.panel("b")).to_have_attribute("src", seen[1][1], timeout=30_000)
    dashboard.wait_until_idle()


def test_pointing_at_a_pixel_tells_its_real_numbers(dashboard: Dashboard) -> None:
    explore = Explore(dashboard, image=3, lam=3)
    data = load_dataset("lfw")
    observed = hide_entries(data.shape, 0.2)
    fit = factorize(data.V, observed, K=25, method="atnmf", lam=3.0, missing="zero")
    v, p = data.image(data.V[:, 2]), data.image(fit.V_hat[:, 2])
    r = data.image(optimal_attack(data.V, fit.V_hat, 3.0, observed)[:, 2])
    row, col = next((i, j) for i, j in zip(*np.nonzero(data.image(observed[:, 2])), strict=True) if i > 10)

    side = explore.panel("d").bounding_box()["width"] / 25
    explore.panel("d").hover(position={"x": (col + 0.5) * side, "y": (row + 0.5) * side})

    readout = explore.page.locator(".readout").nth(1)
    expect(readout).to_contain_text(f"Row {row + 1}, column {col + 1}: v = {v[row, col]:.3f}")
    expect(readout).to_contain_text(f"v̂ = {p[row, col]:.3f}")
    expect(readout).to_contain_text(f"/ (3 − 1), −{v[row, col]:.3f}) = {r[row, col]:.3f}")
    expect(readout).to_contain_text(f"v + r* = {v[row, col] + r[row, col]:.3f}")


def painted(pixels: np.ndarray, colour: tuple[int, ...]) -> np.ndarray:
    return (pixels == colour).all(axis=2)
