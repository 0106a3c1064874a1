"""The Explore page: the first view, every control, links, single pixels, take-away, uploads, long fits."""

import csv
import io
import re
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Route, expect

from atnmf_core import factorize, hide_entries, load_dataset, rmse
from atnmf_core.model.adversary import optimal_attack

from .dashboard import Dashboard
from .explore import PANELS, Explore

RED, BLUE = (0xE5, 0x38, 0x3B), (0x1F, 0x3B, 0xFF)
EVERYTHING = {*PANELS, "parts of AT-NMF", "parts of NMF"}
LEARNED = EVERYTHING - {"a", "b"}


def test_on_a_telephone_the_main_sliders_stand_below_the_picture(dashboard):
    explore = Explore(dashboard)
    below = explore.page.locator(".st-key-sliders")
    expect(below).to_be_hidden()
    # As wide as a screen can be on which the sidebar covers the picture.
    explore.page.set_viewport_size({"width": 768, "height": 844})
    expect(below).to_be_visible()
    explore.page.set_viewport_size({"width": 390, "height": 844})
    dashboard.wait_until_idle()
    before = explore.pixels("e")

    for label, said, asked in (
        ("Adversary's price λ", "2.5", "lam=2.5"),
        ("Parts K", "26", "K=26"),
        ("Hidden share α", "0.25", "alpha=0.25"),
        ("Adversary's leash g", "2", "leash=2"),
    ):
        slider = below.get_by_role("slider", name=label)
        slider.press("ArrowLeft" if "leash" in label else "ArrowRight")
        explore.page.wait_for_url(f"**?*{asked}*")
        dashboard.wait_until_idle()
        assert slider.get_attribute("aria-valuetext") == said

    picture, sliders = explore.panel("f").bounding_box(), below.bounding_box()
    assert 0 < sliders["y"] - picture["y"] - picture["height"] < 200
    assert sliders["height"] < 200
    assert not np.array_equal(before, explore.pixels("e"))


def test_the_first_view_has_all_pictures_and_each_control_changes_what_it_should_and_nothing_else(dashboard):
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
    explore.page.get_by_text("Seeds and colour").click()

    def type_seed(label):
        explore.page.get_by_label(label, exact=True).fill("5")
        explore.page.get_by_label(label, exact=True).press("Enter")

    assert explore.changed_by(dashboard.set_slider, "Hidden share α", "0.60") == EVERYTHING - {"a"}
    observed = hide_entries((625, 100), 0.6)[:, 7].reshape(25, 25, order="F")
    assert (painted(explore.pixels("b"), RED) == ~observed).all()
    changed = explore.changed_by(dashboard.set_slider, "Adversary's price λ", "5")
    # NMF's parts stand beside those of AT-NMF that they resemble, so their order may change.
    assert changed - {"parts of NMF"} == {"c", "d", "e", "parts of AT-NMF"}
    assert explore.changed_by(type_seed, "Start seed") == LEARNED
    assert explore.changed_by(type_seed, "Mask seed") == EVERYTHING - {"a"}
    hidden = painted(explore.pixels("b"), RED)
    assert explore.changed_by(explore.choose_segment, "blue") == {"b", "c", "d"}
    assert (painted(explore.pixels("b"), BLUE) == hidden).all()
    assert explore.changed_by(dashboard.set_slider, "Parts K", "9") == LEARNED
    assert explore.changed_by(explore.choose_segment, "W H alone") == {"e", "f"}
    assert explore.changed_by(explore.choose_segment, "one scale") == {"parts of AT-NMF", "parts of NMF"}
    assert explore.changed_by(explore.choose_segment, "marked") == LEARNED
    assert explore.changed_by(explore.choose_segment, "one block") == EVERYTHING - {"a"}

    dashboard.choose("Data", "Simulated hyperspectral scene")
    label = load_dataset("simulated-scene").wavelength_label(32)
    expect(explore.panel("a")).to_have_attribute("alt", f"Original {label}")
    assert explore.pixels("a").shape == (64, 64, 3)
    assert "a" in explore.changed_by(dashboard.slider("Band").press, "Home")


def test_a_copied_link_restores_the_whole_state_in_another_browser(dashboard, browser):
    explore = Explore(dashboard, image=12, seed=3, lam=1.5)
    explore.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    dashboard.set_slider("Hidden share α", "0.45")
    explore.choose_segment("marked")
    explore.choose_segment("W H alone")
    explore.page.get_by_role("button", name="Copy link", exact=True).click()
    expect(explore.page.get_by_role("button", name="Copied", exact=True)).to_be_visible()
    link = explore.page.evaluate("navigator.clipboard.readText()")
    assert link == explore.page.url
    query = dict(part.split("=") for part in link.partition("?")[2].split("&"))
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
        assert there.page.url == link
        assert there.dashboard.slider("Hidden share α").get_attribute("aria-valuetext") == "0.45"
        here = explore.all_pixels()
        for name, pixels in there.all_pixels().items():
            assert np.array_equal(pixels, here[name]), name


def test_the_back_button_undoes_one_action_at_a_time(dashboard):
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


def test_pointing_at_a_pixel_tells_its_real_numbers(dashboard):
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


PRESETS = {
    "Half the pixels gone": "alpha=0.5",
    "90% gone": "alpha=0.9&K=10&missing=ignore",
    "Unmarked dead pixels, strong adversary": "alpha=0.3&lam=1.05",
    "No adversary": "lam=100",
    "Marked instead of unmarked": "alpha=0.5&missing=ignore",
}


def test_faces_are_chosen_by_click_and_by_arrow_keys_but_not_by_those_on_a_slider(dashboard):
    explore = Explore(dashboard)

    explore.page.get_by_role("button", name="Show face 13", exact=True).click()
    for key, face in (("ArrowRight", 14), ("ArrowLeft", 13)):
        dashboard.wait_until_idle()
        explore.page.keyboard.press(key)
        dashboard.wait_until_idle()
        expect(explore.panel("a")).to_have_attribute("alt", f"Original face {face}")
    dashboard.slider("Parts K").press("ArrowRight")
    dashboard.wait_until_idle()
    expect(explore.panel("a")).to_have_attribute("alt", "Original face 13")
    assert dashboard.slider("Parts K").get_attribute("aria-valuetext") == "26"

    # A click on a part shows who uses it, and one on them shows them.
    explore.page.get_by_role("button", name="AT-NMF, part 3").click()
    dashboard.wait_until_idle()
    expect(explore.page.get_by_text("Faces that use it most in AT-NMF")).to_be_visible()
    user = explore.page.get_by_role("button", name=re.compile(r"face \d+ *\d+% of it")).first
    number = re.search(r"\d+", user.inner_text()).group()
    user.click()
    dashboard.wait_until_idle()
    expect(explore.panel("a")).to_have_attribute("alt", f"Original face {number}")


def test_a_slider_whose_code_comes_late_stands_where_the_link_says(dashboard):
    held: list[Route] = []
    page = dashboard.page
    page.route("**/Slider.*.js", lambda route: held.append(route))
    page.goto(f"{dashboard.address}/?K=9")

    page.get_by_role("radio", name="W H alone", exact=True).click()
    page.wait_for_url("**restored=model**")
    assert held, "Streamlit keeps its slider in another file now"
    held[0].continue_()

    expect(dashboard.slider("Parts K")).to_have_attribute("aria-valuetext", "9", timeout=30_000)
    dashboard.wait_until_idle()
    assert page.url.partition("?")[2] == "K=9&restored=model"


def test_a_preset_sets_everything_with_one_click(dashboard):
    explore = Explore(dashboard, seed=4, K=7)

    for preset, query in PRESETS.items():
        card = explore.page.get_by_role("button", name=preset, exact=True)
        card.click()
        explore.page.wait_for_url(lambda url, query=query: url.partition("?")[2] == query)
        dashboard.wait_until_idle()

        expect(card).to_have_attribute("aria-pressed", "true")
        expect(explore.panel("e")).to_be_visible()


def test_the_switch_to_marked_lowers_both_errors(dashboard):
    explore = Explore(dashboard)
    explore.expect_in_callout("Marked instead")
    before = [float(number) for number in re.findall(r"0\.\d+", explore.callout())]

    dashboard.press("Mark hidden pixels")

    explore.expect_in_callout("Unmarked instead")
    after = [float(number) for number in re.findall(r"0\.\d+", explore.callout())]
    assert after == before[2:] + before[:2]
    assert after[0] < before[0]
    assert after[1] < before[1]


def test_a_click_on_a_point_of_the_curve_opens_its_lambda(dashboard):
    explore = Explore(dashboard)
    curve = explore.page.locator(".js-plotly-plot .scatterlayer .trace:has(.points path)").first
    points = curve.locator(".points path")
    expect(points).to_have_count(9, timeout=60_000)
    points.nth(5).scroll_into_view_if_needed()
    dashboard.wait_until_idle()

    box = points.nth(5).bounding_box()
    explore.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    explore.page.wait_for_url("**/?lam=5")
    dashboard.wait_until_idle()

    expect(dashboard.slider("Adversary's price λ")).to_have_attribute("aria-valuetext", "5")
    data = load_dataset("lfw")
    observed = hide_entries(data.shape, 0.2)
    fit = factorize(data.V, observed, K=25, method="atnmf", lam=5.0, missing="zero")
    assert f"AT-NMF {rmse(data.V, fit.V_hat, ~observed):.3f}" in explore.callout()


def test_the_film_replays_the_run_from_start_to_end(dashboard):
    explore = Explore(dashboard, detail="film")
    end = explore.pixels("e")
    slider = explore.page.get_by_role("slider", name="Iteration shown")
    frame = explore.page.get_by_alt_text("AT-NMF's restoration at the iteration shown")

    last = frame.get_attribute("src")
    slider.press("Home")
    first = frame.get_attribute("src")
    explore.page.get_by_role("button", name="Play", exact=True).click()

    assert first != last
    assert explore.panel("e").get_attribute("src") == last
    expect(explore.page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    slider.press("End")
    expect(frame).to_have_attribute("src", last)
    assert np.array_equal(end, explore.pixels("e"))


def test_the_numbers_shown_are_those_of_the_snippet_and_of_the_files(dashboard, repository):
    pytest.importorskip("matplotlib")
    explore = Explore(dashboard, detail="take", alpha=0.35, lam=3, K=12, pattern="block", image=5)
    shown = re.findall(r"0\.\d{3}", explore.callout())[:2]
    snippet = explore.page.get_by_test_id("stCode").first.locator("code").inner_text()

    command = [sys.executable, "-c", snippet]
    run = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=True)
    table = list(csv.DictReader(io.StringIO(dashboard.take("Measures, CSV").path().read_text())))

    again = re.findall(r"0\.\d+", run.stdout)
    assert [f"{float(number):.3f}" for number in again] == shown
    assert [row["RMSE"] for row in table[:2]] == again
    face = next(row for row in table if row["picture"] == "5" and row["method"] == "NMF")
    note = explore.page.locator("figure", has_text="(f)").first.inner_text()
    assert f"{float(face['RMSE']):.3f}" in note
    assert f"PSNR\u00a0{float(face['PSNR']):.1f}\u00a0dB" in note
    # Under a block some pixels are hidden in every face: nothing predicts them.
    assert not face["SSIM"]
    assert "SSIM" not in note

    explore.page.get_by_role("button", name="Size and background").click()
    explore.choose_segment("px")
    explore.page.get_by_label("Width, px").fill("600")
    explore.page.get_by_label("Width, px").press("Enter")
    dashboard.wait_until_idle()
    explore.page.keyboard.press("Escape")
    panel = np.asarray(Image.open(dashboard.take("(b)").path()).convert("RGB"))
    explore.choose_segment("SVG")
    figure = dashboard.take("All six pictures").path().read_text()
    factors = np.load(dashboard.take("Factors, NPZ").path())
    assert np.array_equal(panel[12::24, 12::24], explore.pixels("b"))
    assert 'width="450pt"' in figure
    assert ">(f) NMF</text>" in figure
    assert (factors["W_atnmf"].shape, factors["H_nmf"].shape) == ((625, 12), (12, 100))


def test_a_zip_of_images_is_read_solved_and_found_again_after_a_reload(dashboard):
    explore = Explore(dashboard, data="upload")

    file = {"name": "faces.zip", "mimeType": "application/zip", "buffer": zip_of_faces()}
    explore.page.locator("input[type=file]").set_input_files(file)
    dashboard.wait_until_idle()

    expect(explore.panel("f")).to_be_visible(timeout=60_000)
    before = explore.all_pixels()
    assert before["a"].shape == (12, 10, 3)
    explore.page.reload()
    dashboard.wait_until_idle()
    assert np.array_equal(explore.pixels("f"), before["f"])


def test_a_long_fit_asks_first_improves_survives_a_reload_and_can_be_cancelled(dashboard):
    explore = Explore(dashboard, K=30)
    last_good = explore.panel("e").get_attribute("src")

    explore.choose_segment("Algorithm 1")
    expect(explore.page.get_by_text("This setting takes about")).to_be_visible()
    expect(explore.panel("e")).to_have_attribute("src", last_good)
    explore.page.get_by_role("button", name="Run", exact=True).click()
    explore.expect_iteration()
    expect(explore.page.locator("figure", has_text="(e)").first).to_contain_text("iteration", timeout=30_000)

    explore.page.reload()
    cancel = explore.page.get_by_role("button", name="Cancel", exact=True)
    expect(cancel).to_be_visible(timeout=30_000)
    explore.expect_iteration()
    cancel.click()
    expect(explore.page.get_by_role("button", name="Run", exact=True)).to_be_visible(timeout=30_000)
    expect(cancel).to_have_count(0)


def zip_of_faces() -> bytes:
    random = np.random.default_rng(0)
    shapes, mixture = random.random((4, 12, 10)), random.random((30, 4))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for number, weights in enumerate(mixture):
            grey = (np.tensordot(weights / weights.sum(), shapes, 1) * 255).astype(np.uint8)
            picture = io.BytesIO()
            Image.fromarray(grey).save(picture, format="PPM")
            archive.writestr(f"face{number:02}.pgm", picture.getvalue())
    return file.getvalue()
