"""Files of other people, each from upload to restored picture by clicks alone; the address opens the same."""

import io
from pathlib import Path

import numpy as np
import pytest
import scipy.io
from playwright.sync_api import Page, expect

from .dashboard import Dashboard
from .explore import decoded

# Uploads of large files, each fitted twice: minutes in all.
pytestmark = pytest.mark.slow


def begin(dashboard: Dashboard, page: str) -> None:
    """As somebody who comes to the first page and goes on by the menu."""
    dashboard.open(height=1200)
    if page != "Explore":
        dashboard.page.get_by_role("link", name=page).first.click()
        dashboard.wait_until_idle()
    dashboard.choose("Data", "Your own file…")


def drop(dashboard: Dashboard, *files: Path | dict[str, object]) -> None:
    dashboard.page.locator("input[type=file]").first.set_input_files(list(files))
    dashboard.wait_until_idle()


def restored(page: Page) -> np.ndarray:
    picture = page.get_by_alt_text("restored by NMF").last
    expect(picture).to_be_visible(timeout=90_000)
    return decoded(picture)


def expect_the_same_in_another_tab(dashboard: Dashboard, shown: np.ndarray) -> None:
    other = Dashboard(dashboard.page.context.new_page(), dashboard.address)
    other.page.set_viewport_size({"width": 1440, "height": 1200})
    other.page.goto(dashboard.page.url)
    other.wait_until_idle()
    assert np.array_equal(restored(other.page), shown)
    assert other.page.url == dashboard.page.url
    other.check()


def sidebar(dashboard: Dashboard) -> str:
    return dashboard.page.get_by_test_id("stSidebar").inner_text()


@pytest.mark.parametrize(
    ("page", "names", "found"),
    [
        ("Explore", ["upc_moffett.mat"], "a cube, 50 × 50 × 184"),
        ("Hyperspectral", ["cubus_gamsberg_subset", "cubus_gamsberg_subset.hdr"], "a cube, 25 × 10 × 189"),
        ("Hyperspectral", ["enmap_potsdam_tile_128_128.tif"], "a cube, 32 × 32 × 224"),
        ("Hyperspectral", ["fake_EMIT_L2A_with_good_wavelengths.nc"], "a cube, 2 × 2 × 2"),
        ("Explore", ["Yale_32x32.mat"], "faces, 32 × 32 × 165"),
        ("Explore", ["hylite_library.csv"], "a matrix, 450 × 57"),
    ],
    ids=["mat", "envi", "geotiff", "emit", "faces", "csv"],
)
def test_a_file_is_restored(dashboard, foreign, page, names, found):
    begin(dashboard, page)

    drop(dashboard, *(foreign / name for name in names))
    shown = restored(dashboard.page)
    dashboard.wait_until_idle()

    assert found in sidebar(dashboard)
    expect_the_same_in_another_tab(dashboard, shown)


def test_a_scrambled_picture_is_seen_and_put_right(dashboard):
    """Two cubes in a file, one of them as pixels in rows: the array is asked for, then order is corrected."""
    y, x = np.mgrid[:16, :16]
    bands = np.stack([np.exp(-((x - 2 * i) ** 2 + (y - i) ** 2) / 40) for i in range(8)])
    file = io.BytesIO()
    scipy.io.savemat(file, {"first": bands.reshape(8, 256), "second": bands.reshape(8, 256)[::-1]})
    begin(dashboard, "Hyperspectral")
    drop(dashboard, {"name": "two.mat", "mimeType": "application/octet-stream", "buffer": file.getvalue()})

    expect(dashboard.page.get_by_text("several arrays that could be meant")).to_be_visible()
    dashboard.choose("Array", "first (8 x 256)")
    dashboard.page.get_by_role("button", name="Read a cube, images of 16 × 16").click()
    turned = restored(dashboard.page)
    dashboard.wait_until_idle()
    dashboard.page.get_by_text("How the file is read").click()
    dashboard.choose("Pixels of an image are stored", "row by row")
    upright = restored(dashboard.page)

    assert not np.array_equal(upright, turned)
    dashboard.wait_until_idle()
    expect_the_same_in_another_tab(dashboard, restored(dashboard.page))


def test_a_library_names_the_materials(dashboard, foreign):
    begin(dashboard, "Hyperspectral")
    drop(dashboard, foreign / "enmap_potsdam_tile_128_128.tif")
    restored(dashboard.page)
    dashboard.wait_until_idle()

    dashboard.page.get_by_text("Reference spectra").click()
    box = dashboard.page.get_by_test_id("stExpander").filter(has_text="Reference spectra")
    box.locator("input[type=file]").set_input_files(
        [foreign / "library_berlin.sli", foreign / "library_berlin.hdr"]
    )
    dashboard.wait_until_idle()

    expect(dashboard.page.get_by_text("AT-NMF is nearest to").first).to_contain_text("°")
    assert "library=" in dashboard.page.url
