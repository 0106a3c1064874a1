"""The Explore page: choosing, presets, parts, film, take-away, uploads, and long fits."""

import csv
import io
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Route, expect

from atnmf_core import factorize, hide_entries, load_dataset, rmse

from .dashboard import Dashboard
from .explore import Explore

PRESETS = {
    "Half the pixels gone": "alpha=0.5",
    "90% gone": "alpha=0.9&K=10&missing=ignore",
    "Unmarked dead pixels, strong adversary": "alpha=0.3&lam=1.05",
    "No adversary": "lam=100",
    "Marked instead of unmarked": "alpha=0.5&missing=ignore",
}


def test_faces_are_chosen_by_click_and_by_arrow_keys(dashboard: Dashboard) -> None:
    explore = Explore(dashboard)

    explore.page.get_by_role("button", name="Show face 13", exact=True).click()
    dashboard.wait_until_idle()
    expect(explore.panel("a")).to_have_attribute("alt", "Original face 13")
    explore.page.keyboard.press("ArrowRight")
    dashboard.wait_until_idle()
    expect(explore.panel("a")).to_have_attribute("alt", "Original face 14")
    explore.page.keyboard.press("ArrowLeft")
    dashboard.wait_until_idle()
    expect(explore.panel("a")).to_have_attribute("alt", "Original face 13")


def test_arrow_keys_on_a_slider_move_the_slider_only(dashboard: Dashboard) -> None:
    explore = Explore(dashboard)

    dashboard.slider("Parts K").press("ArrowRight")
    dashboard.wait_until_idle()

    expect(explore.panel("a")).to_have_attribute("alt", "Original face 8")
    assert dashboard.slider("Parts K").get_attribute("aria-valuetext") == "26"


def test_a_slider_whose_code_comes_late_stands_where_the_link_says(dashboard: Dashboard) -> None:
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


def test_a_preset_sets_everything_with_one_click(dashboard: Dashboard) -> None:
    explore = Explore(dashboard, seed=4, K=7)

    for preset, query in PRESETS.items():
        card = explore.page.get_by_role("button", name=preset, exact=True)
        card.click()
        explore.page.wait_for_url(lambda url, query=query: url.partition("?")[2] == query)
        dashboard.wait_until_idle()

        expect(card).to_have_attribute("aria-pressed", "true")
        expect(explore.panel("e")).to_be_visible()


def test_the_switch_to_marked_lowers_both_errors(dashboard: Dashboard) -> None:
    explore = Explore(dashboard)
    explore.expect_in_callout("Marked instead")
    before = [float(number) for number in re.findall(r"0\.\d+", explore.callout())]

    dashboard.press("Mark hidden pixels")

    explore.expect_in_callout("Unmarked instead")
    after = [float(number) for number in re.findall(r"0\.\d+", explore.callout())]
    assert after == before[2:] + before[:2]
    assert after[0] < before[0]
    assert after[1] < before[1]


def test_a_click_on_a_part_shows_who_uses_it(dashboard: Dashboard) -> None:
    explore = Explore(dashboard)

    explore.page.get_by_role("button", name="AT-NMF, part 3").click()
    dashboard.wait_until_idle()

    expect(explore.page.get_by_text("Faces that use it most in AT-NMF")).to_be_visible()
    user = explore.page.get_by_role("button", name=re.compile(r"face \d+ *\d+% of it")).first
    number = re.search(r"\d+", user.inner_text()).group()
    user.click()
    dashboard.wait_until_idle()
    expect(explore.panel("a")).to_have_attribute("alt", f"Original face {number}")


def test_a_click_on_a_point_of_the_curve_opens_its_lambda(dashboard: Dashboard) -> None:
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


def test_copy_link_puts_the_address_on_the_clipboard(dashboard: Dashboard) -> None:
    explore = Explore(dashboard, alpha=0.4, seed=2)
    explore.page.context.grant_permissions(["clipboard-read", "clipboard-write"])

    explore.page.get_by_role("button", name="Copy link", exact=True).click()

    expect(explore.page.get_by_role("button", name="Copied", exact=True)).to_be_visible()
    assert explore.page.evaluate("navigator.clipboard.readText()") == explore.page.url


def test_the_film_replays_the_run_from_start_to_end(dashboard: Dashboard) -> None:
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


def test_the_numbers_shown_are_those_of_the_snippet_and_of_the_files(
    dashboard: Dashboard, repository: Path
) -> None:
    explore = Explore(dashboard, detail="take", alpha=0.35, lam=3, K=12, pattern="block", image=5)
    shown = re.findall(r"0\.\d{3}", explore.callout())[:2]
    snippet = explore.page.get_by_test_id("stCode").first.locator("code").inner_text()

    run = subprocess.run(
        [sys.executable, "-c", snippet], cwd=repository, capture_output=True, text=True, check=True
    )
    table = list(csv.DictReader(io.StringIO(taken(explore, "Measures, CSV").decode())))

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


def test_panels_figure_and_factors_can_be_taken_away(dashboard: Dashboard) -> None:
    explore = Explore(dashboard, detail="take")

    panel = np.asarray(Image.open(io.BytesIO(taken(explore, "(b)"))))
    figure = Image.open(io.BytesIO(taken(explore, "The whole figure, PNG")))
    factors = np.load(io.BytesIO(taken(explore, "Factors, NPZ")))

    assert np.array_equal(panel[12::24, 12::24], explore.pixels("b"))
    assert figure.width > 6 * 400
    assert factors["W_atnmf"].shape == (625, 25)
    assert factors["H_nmf"].shape == (25, 100)


def test_a_zip_of_images_is_read_solved_and_found_again_after_a_reload(dashboard: Dashboard) -> None:
    explore = Explore(dashboard, data="upload")

    upload(explore, "faces.zip", zip_of_faces())

    expect(explore.panel("f")).to_be_visible(timeout=60_000)
    before = explore.all_pixels()
    assert before["a"].shape == (12, 10, 3)
    explore.page.reload()
    dashboard.wait_until_idle()
    assert np.array_equal(explore.pixels("f"), before["f"])


def test_a_broken_zip_is_refused_in_words(dashboard: Dashboard) -> None:
    explore = Explore(dashboard, data="upload")

    upload(explore, "broken.zip", zip_of_faces()[:500])

    alert = explore.page.get_by_test_id("stAlert").filter(has_text="broken.zip")
    expect(alert).to_be_visible()
    assert not dashboard.exceptions()


def test_a_name_in_a_file_is_shown_as_text(dashboard: Dashboard) -> None:
    """Rendered as Markdown it would make the browser ask another host, which fails the test."""
    explore = Explore(dashboard, data="upload")
    name, file = "![x](http://elsewhere.invalid/t.png)", io.BytesIO()
    np.savez(file, **{name: np.full((4, 5), -1.0)})

    upload(explore, "mine.npz", file.getvalue())

    expect(explore.page.get_by_test_id("stAlert").filter(has_text=f"{name} in mine.npz")).to_be_visible()


def test_a_long_fit_asks_first_improves_survives_a_reload_and_can_be_cancelled(dashboard: Dashboard) -> None:
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


def taken(explore: Explore, label: str) -> bytes:
    with explore.page.expect_download() as download:
        explore.page.get_by_role("button", name=label, exact=True).click()
    return Path(download.value.path()).read_bytes()


def upload(explore: Explore, name: str, content: bytes) -> None:
    file = {"name": name, "mimeType": "application/zip", "buffer": content}
    explore.page.locator("input[type=file]").set_input_files(file)
    explore.dashboard.wait_until_idle()


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
