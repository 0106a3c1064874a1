"""The Hyperspectral page: pictures, pixels, spectra, pins, zoom, and cubes to take away."""

import io
import zipfile
from typing import Literal

import numpy as np
import pytest
import spectral
from playwright.sync_api import Locator, expect

from atnmf_core import Dataset, factorize, hide_entries, load_dataset
from atnmf_core.datasets import write_envi
from atnmf_core.figures.views import SCREEN_GAMMA

from .dashboard import Dashboard
from .explore import decoded

PICTURES = ("Original", "AT-NMF restores", "NMF restores", "Masked", "AT-NMF's error", "NMF's error")


class Hyperspectral:
    """The Hyperspectral page in one tab, on a scene of `shape` pixels, half of it hidden or as asked for."""

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
        query = query or {"alpha": 0.5}
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


RED = (0xE5, 0x38, 0x3B)
SCENE = load_dataset("simulated-scene")
OBSERVED = hide_entries(SCENE.shape, 0.5)
FITS = {
    name: factorize(SCENE.V, OBSERVED, K=5, method=method, lam=lam, init="pure-pixels")
    for name, method, lam in (("AT-NMF", "atnmf", 2.0), ("NMF", "nmf", None))
}


def test_a_click_on_a_pixel_shows_exactly_its_spectrum_and_the_exported_envi_pair_has_it(dashboard, tmp_path):
    cube = Hyperspectral(dashboard)

    cube.click("NMF restores", 10, 41)

    cube.expect_pixel(10, 41)
    n = 41 * 64 + 10  # the scene is stored column after column
    shown = cube.table()
    numbers(shown["nm"], SCENE.wavelengths)
    numbers(shown["original"], SCENE.V[:, n])
    assert [word == "yes" for word in shown["observed"]] == OBSERVED[:, n].tolist()
    for method, fit in FITS.items():
        numbers(shown[method], fit.V_hat[:, n], rtol=1e-4)
    assert cube.marked() == {(10, 41)}
    assert cube.page.url.endswith("?pixel=11.42")
    assert cube.page.locator(".chart path.hidden").get_attribute("d").count("M") == int(
        (~OBSERVED[:, n]).sum()
    )

    with zipfile.ZipFile(dashboard.take("ENVI pair").path()) as archive:
        archive.extractall(tmp_path)
    image = spectral.open_image(str(next(tmp_path.glob("*.hdr"))))
    restored = np.asarray(image.load())
    np.testing.assert_allclose(image.bands.centers, SCENE.wavelengths)
    observed, hat = SCENE.images(OBSERVED), SCENE.images(FITS["AT-NMF"].V_hat)
    expected = np.where(observed, SCENE.images(), hat).transpose(1, 2, 0)
    np.testing.assert_allclose(restored, expected, rtol=1e-4, atol=1e-6)
    seen = np.array(shown["observed"]) == "yes"
    pixel = np.where(seen, np.array(shown["original"], float), np.array(shown["AT-NMF"], float))
    np.testing.assert_allclose(restored[10, 41], pixel, rtol=1e-4)


@pytest.mark.slow
def test_the_first_view_is_a_case_in_which_the_methods_differ(dashboard):
    page = dashboard.open("/hyperspectral")

    errors = [
        float(page.locator("figure", has_text=f"{name} restores").first.locator("b").first.inner_text())
        for name in ("AT-NMF", "NMF")
    ]
    assert 10 * errors[0] < errors[1]
    assert "pattern=stripes" in page.url
    dashboard.press("marked")
    dashboard.press("Reset")
    assert "missing=zero" in page.url


def test_pictures_maps_and_spectra_are_figures_with_letters(dashboard):
    pytest.importorskip("matplotlib")
    cube = Hyperspectral(dashboard)
    cube.page.get_by_role("radio", name="SVG", exact=True).click()
    dashboard.wait_until_idle()
    told = {
        "Six pictures": ("AT-NMF restores", "Masked"),
        "Abundance maps": ("Soil, AT-NMF", "Soil, truth"),
        "Material spectra": ("Soil", "wavelength, nm"),
    }
    for name, words in told.items():
        svg = dashboard.take(name).path().read_text()
        assert all(f">{word}</text>" in svg for word in words), name


def test_composite_and_single_band_are_what_an_independent_computation_gives(dashboard):
    cube = Hyperspectral(dashboard)
    bands = [int(np.argmin(abs(SCENE.wavelengths - nm))) for nm in (640, 550, 460)]
    low, high = np.percentile(SCENE.V[bands], (2, 98))
    seen, hats = OBSERVED[bands], {name: fit.V_hat[bands] for name, fit in FITS.items()}

    original = colours(SCENE.V[bands], low, high, SCREEN_GAMMA)

    assert np.array_equal(cube.pixels("Original"), original)
    reserved = np.array(RED)[:, None].repeat(4096, axis=1)
    masked = np.where(seen, flat(original), reserved)
    assert np.array_equal(flat(cube.pixels("Masked")), masked)
    for name, hat in hats.items():
        restored = colours(np.where(seen, SCENE.V[bands], hat), low, high, SCREEN_GAMMA)
        # A value on the border between two of 256 steps may fall on either side in single precision.
        assert np.abs(cube.pixels(f"{name} restores").astype(int) - restored).max() <= 1
    for title in PICTURES:
        assert cube.frame(title).locator("img:not(.before)").get_attribute("alt")

    dashboard.press("Single band")
    dashboard.set_slider("Band", "band 40, 1227 nm")

    low, high = np.percentile(SCENE.V[39], (2, 98))
    assert np.array_equal(cube.pixels("Original"), colours(SCENE.V[[39] * 3], low, high))
    hidden = (cube.pixels("Masked") == RED).all(axis=2)
    assert np.array_equal(hidden, ~SCENE.image(OBSERVED[39]))
    assert "view=band" in cube.page.url
    assert "image=40" in cube.page.url
    error = np.sqrt(np.mean((SCENE.V - FITS["NMF"].V_hat)[39][~OBSERVED[39]] ** 2))
    expect(cube.page.locator("figure", has_text="NMF restores").last).to_contain_text(f"{error:.3g} RMSE")
    cube.click("Original", 3, 4)
    cube.expect_pixel(3, 4)
    assert cube.page.url.endswith("?image=40&view=band&pixel=4.5")


def test_arrow_keys_move_the_pixel_and_stop_at_the_edge_of_a_picture_in_own_bands(dashboard):
    how = {"triplet": "own", "red": 80, "green": 60, "blue": 2, "clip": 0, "balance": "channel"}
    cube = Hyperspectral(dashboard, pixel="2.63", **how)

    channels = [SCENE.V[[band] * 3] for band in (79, 59, 1)]
    expected = [colours(channel, channel.min(), channel.max())[..., 0] for channel in channels]
    assert np.array_equal(cube.pixels("Original"), np.stack(expected, -1))

    cube.press("ArrowRight")
    cube.expect_pixel(1, 63)
    cube.press("ArrowRight", "ArrowUp", "ArrowUp", "Shift+ArrowDown")

    cube.expect_pixel(10, 63)
    assert cube.marked() == {(10, 63)}
    expect(cube.page.locator(".views")).to_be_focused()


def test_pins_stay_are_numbered_and_go_along_with_the_link(dashboard):
    cube = Hyperspectral(dashboard, pixel="5.5")

    cube.press("p")
    cube.click("Masked", 50, 20)
    cube.page.get_by_role("button", name="Pin", exact=True).click()
    dashboard.wait_until_idle()

    assert "pins=5.5_51.21" in cube.page.url
    expect(cube.page.locator(".frame").first.locator(".pin")).to_have_text(["1", "2"])
    expect(cube.page.locator(".pinned .go")).to_have_text(["Row 5, column 5", "Row 51, column 21"])
    again = Hyperspectral(dashboard, pixel="51.21", pins="5.5_51.21")
    expect(again.page.locator(".pinned")).to_have_count(2)
    again.page.get_by_role("button", name="Row 5, column 5", exact=True).click()
    again.expect_pixel(4, 4)
    assert again.marked() == {(4, 4)}
    again.page.get_by_role("button", name="Unpin Row 51, column 21").click()
    expect(again.page.locator(".pinned")).to_have_count(1)
    expect(again.page.locator(".frame").first.locator(".pin")).to_have_text(["1"])


def test_all_pictures_zoom_together_and_a_click_still_hits_its_pixel(dashboard):
    cube = Hyperspectral(dashboard, pixel="33.33")

    cube.press("+", "+")

    boxes = [cube.frame(title).locator("img:not(.before)").get_attribute("style") for title in PICTURES]
    assert len(set(boxes)) == 1
    expect(cube.page.locator(".zoom output")).to_have_text("4×")
    # 16 of 64 pixels are in sight, from row and column 24.5: the middle of the frame is pixel 32.
    box = cube.frame("Original").bounding_box()
    cube.frame("Original").click(position={"x": box["width"] * 5 / 16, "y": box["height"] * 2 / 16})
    cube.expect_pixel(26, 29)
    cube.page.get_by_role("button", name="Whole").click()
    expect(cube.page.locator(".zoom output")).to_have_text("1×")


def test_bad_bands_and_no_data_of_an_upload_are_respected(dashboard):
    """An ENVI pair whose header marks two bands as bad, with one pixel that has no data in any band."""
    V = np.random.default_rng(0).random((12, 80)) + 0.2
    V[:, 33] = -1.0
    pair = write_envi(Dataset(V, "cube", "own", image_shape=(8, 10), wavelengths=np.linspace(450, 900, 12)))
    flags = ", ".join(["1"] * 5 + ["0", "0"] + ["1"] * 5)
    header = pair.header + f"bbl = {{{flags}}}\ndata ignore value = -1\n".encode()
    cube = Hyperspectral(dashboard, (8, 10), data="upload", alpha=0.05, K=3)

    cube.page.locator('input[type="file"]').first.set_input_files(
        [
            {"name": "own.hdr", "mimeType": "text/plain", "buffer": header},
            {"name": "own.img", "mimeType": "application/octet-stream", "buffer": pair.binary},
        ]
    )
    expect(cube.page.get_by_text("2 of 12 bands are marked as bad")).to_be_visible()
    dashboard.wait_until_idle()

    expect(cube.page.get_by_text("Nothing is observed of 1 pixel")).to_be_visible()
    row, col = 33 % 8, 33 // 8
    for title in PICTURES:
        assert tuple(cube.pixels(title)[row, col]) == RED, title
    cube.click("Original", row, col)
    expect(cube.page.get_by_text("Nothing is observed of this pixel")).to_be_visible()
    shown = cube.table()
    assert len(shown["nm"]) == 12
    assert set(shown["original"]) == set(shown["NMF"]) == {""}


def test_known_abundances_of_a_file_are_compared_with(dashboard):
    own, known = io.BytesIO(), io.BytesIO()
    np.save(own, SCENE.images().transpose(1, 2, 0)[:32, :20])
    np.save(known, SCENE.images(SCENE.truth.abundances).transpose(1, 2, 0)[:32, :20])
    cube = Hyperspectral(dashboard, (32, 20), data="upload", K=5)

    cube.page.locator('input[type="file"]').first.set_input_files(
        {"name": "own.npy", "mimeType": "application/octet-stream", "buffer": own.getvalue()}
    )
    expect(cube.page.get_by_text("Materials", exact=True)).to_be_visible(timeout=60_000)
    dashboard.wait_until_idle()
    cube.page.get_by_text("Known materials").click()
    known_materials = cube.page.get_by_test_id("stExpander").filter(has_text="Known materials")
    known_materials.locator('input[type="file"]').set_input_files(
        {"name": "known.npy", "mimeType": "application/octet-stream", "buffer": known.getvalue()}
    )

    expect(cube.page.get_by_text("Against the true materials")).to_contain_text("abundance RMSE")


def test_on_a_narrow_screen_two_pictures_stand_side_by_side_in_the_colours_of_the_theme(dashboard):
    cube = Hyperspectral(dashboard, width=390)

    top, left = ({title: cube.frame(title).bounding_box()[side] for title in PICTURES} for side in "yx")

    assert abs(top["Original"] - top["Masked"]) < 2
    assert abs(top["AT-NMF restores"] - top["NMF restores"]) < 2
    assert left["Masked"] > left["Original"]
    assert top["AT-NMF's error"] > top["NMF restores"] > top["Original"]
    for theme, letters in (("light", "rgb(13, 23, 35)"), ("dark", "rgb(231, 236, 240)")):
        cube.page.emulate_media(color_scheme=theme)
        expect(cube.page.locator(".place")).to_have_css("color", letters)


@pytest.mark.slow
def test_a_large_cube_is_fitted_on_request_while_the_page_stays_alive(dashboard):
    cube = Hyperspectral(dashboard)

    cube.page.get_by_text("307²").click()
    expect(cube.page.get_by_text("This setting takes about")).to_be_visible(timeout=60_000)
    dashboard.wait_until_idle()
    cube.page.get_by_role("button", name="Run").click()
    expect(cube.page.get_by_role("button", name="Cancel")).to_be_visible(timeout=30_000)
    cube.page.locator(".views").press("ArrowRight")

    cube.expect_pixel(153, 154)
    expect(cube.page.get_by_role("button", name="Cancel")).to_be_visible()
    expect(cube.page.get_by_text("Against the true materials")).to_be_visible(timeout=120_000)


def numbers(shown: list[str], expected: np.ndarray, rtol: float = 1e-6) -> None:
    np.testing.assert_allclose(np.array(shown, dtype=float), expected, rtol=rtol, atol=1e-7)


def colours(channels: np.ndarray, low: float, high: float, gamma: float = 1.0) -> np.ndarray:
    """Three rows of pixels, stretched from low to high, as rows x cols x 3."""
    shades = np.rint(255 * np.clip((channels - low) / (high - low), 0, 1) ** (1 / gamma)).astype(np.uint8)
    return np.stack([SCENE.image(shade) for shade in shades], axis=-1)


def flat(picture: np.ndarray) -> np.ndarray:
    return np.stack([SCENE.vector(picture[..., c]) for c in range(3)])
