"""The Restore page: presets and their verdicts, a search through reload and restart, a file taken home."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import spectral
from PIL import Image
from playwright.sync_api import Page, expect

from atnmf_core import Dataset, factorize, load_dataset, restore, rmse
from atnmf_core.datasets import write_envi
from atnmf_core.figures.plotting import candidate_at, error_against_K
from atnmf_core.reference.league import OURS, compared
from atnmf_core.restoration import Candidate, Choice
from atnmf_core.restoration.findings import findings, lines_mask
from atnmf_core.restoration.task import EXAMPLES, bundled, damaged_dataset

from .dashboard import Dashboard
from .server import serve
from .test_every_page import SIDEWAYS, violations

PRESETS = {
    "Dead pixels": "dead",
    "Stripes": "stripes",
    "Everything at once": "everything",
    "Half lost, marked": "lost",
    "Faces": "faces",
}
SECONDS = 300_000
"""For a search on a machine that has other things to do, in milliseconds."""


def scroll_to_the_end(dashboard: Dashboard) -> None:
    """What stands below the result is drawn when somebody gets there."""
    end = dashboard.page.get_by_role("button", name="Why this setting, and downloads")
    there = dashboard.page.get_by_role("heading", name="Download", exact=True)
    expect(end.or_(there)).to_be_visible()
    if end.is_visible():
        end.scroll_into_view_if_needed()
    expect(there).to_be_visible(timeout=30_000)
    dashboard.wait_until_idle()


def test_a_preset_leads_to_its_verdict(dashboard):
    page = dashboard.open("/restore")

    for title, example in PRESETS.items():
        preset = page.get_by_role("button", name=title, exact=True)
        preset.click()
        dashboard.wait_until_idle()

        errors = bundled(*EXAMPLES[example]).errors
        verdict = page.locator(".st-key-callout")
        expect(verdict).to_contain_text(f"{errors.restored:.3g}")
        expect(verdict).to_contain_text(f"{errors.nmf:.3g}")
        expect(preset).to_have_attribute("aria-pressed", "true")
        for picture in page.locator(".views img:not([hidden]):not(.before)").all():
            assert picture.get_attribute("alt")


def with_a_file(dashboard: Dashboard, *files: Path, **query: object) -> Page:
    page = dashboard.open("/restore", data="upload", dead=0, by="hand", **query)
    page.locator('[data-testid="stFileUploaderDropzoneInput"]').set_input_files(list(files))
    return page


def test_the_recipe_prints_the_errors_of_the_verdict(dashboard, repository, tmp_path):
    """With the setting by hand: the search has tests of its own."""
    page = dashboard.open("/restore", data="synthetic", dead=0.3, by="hand", K=4, lam=1.1)
    page.get_by_role("button", name="Restore", exact=True).click()
    verdict = page.locator(".st-key-callout")
    expect(verdict).to_be_visible(timeout=SECONDS)
    dashboard.wait_until_idle()
    scroll_to_the_end(dashboard)

    script = page.locator('[data-testid="stCode"]').first.inner_text()
    # With more threads sums round differently.
    alone = {"PYTHONPATH": str(repository), "PATH": "/usr/bin:/bin", "OPENBLAS_NUM_THREADS": "1"}
    printed = subprocess.check_output([sys.executable, "-c", script], cwd=tmp_path, env=alone, text=True)

    numbers = [float(number) for number in re.findall(r"\d+\.\d+", printed)]
    said = verdict.inner_text()
    assert len(numbers) == 3
    assert [number for number in numbers if f"{number:.3g}" not in said] == []


def test_a_striped_cube_with_gaps_is_taken_home_whole(dashboard, tmp_path):
    cube, truth = striped(tmp_path)
    # With a threshold left over from unmarked losses, which has no say here.
    files, how = (tmp_path / "scene.hdr", tmp_path / "scene.img"), {"K": 3, "lam": 1.5, "threshold": 0.5}
    page = with_a_file(dashboard, *files, losses="marked", **how)
    expect(page.get_by_text("have no value")).to_be_visible()
    page.get_by_role("button", name="Restore", exact=True).click()
    expect(page.get_by_text("missing entries are predicted")).to_be_visible(timeout=SECONDS)
    dashboard.wait_until_idle()

    with zipfile.ZipFile(dashboard.take("Download").path()) as archive:
        archive.extractall(tmp_path / "home")

    image = spectral.open_image(str(next((tmp_path / "home").glob("*.hdr"))))
    restored = np.asarray(image.load())
    measured = cube != -1
    assert np.array_equal(restored[measured], cube[measured])
    assert not (restored == -1).any()
    off = np.abs(restored - truth)[~measured]
    assert off.mean() < 0.05 * truth.mean()


def test_a_download_that_fails_says_so(dashboard, tmp_path):
    """The numbers of a palette stand for colours, so there is no way back to them."""
    numbers = np.random.default_rng(0).integers(1, 200, (12, 15), dtype=np.uint8)
    Image.fromarray(numbers).convert("P", palette=Image.Palette.ADAPTIVE).save(tmp_path / "map.tif")
    page = with_a_file(dashboard, tmp_path / "map.tif", losses="unmarked", K=2, lam=1.1)
    page.get_by_role("button", name="Restore", exact=True).click()
    wanted = page.get_by_role("button", name="Download", exact=True)
    expect(wanted).to_be_visible(timeout=SECONDS)
    dashboard.wait_until_idle()

    wanted.click()

    told = page.get_by_role("alert").filter(has_text="restored-map.tif cannot be made")
    expect(told).to_contain_text("its numbers stand for colours")
    dashboard.wait_until_idle()
    expect(wanted).to_be_enabled()


def striped(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """A cube of three materials with a no-data value in whole columns of some bands, as files."""
    rng = np.random.default_rng(0)
    spectra, shares = rng.random((30, 3)) + 0.1, rng.dirichlet((1, 1, 1), 16 * 12).T
    truth = (spectra @ shares).astype(np.float32)
    V = truth.copy()
    for band, col in ((3, 2), (4, 2), (5, 2), (11, 7), (20, 9)):
        V[band, col * 16 : (col + 1) * 16] = -1
    data = Dataset(V, "cube", "scene", image_shape=(16, 12))
    pair = write_envi(data)
    (folder / "scene.hdr").write_bytes(pair.header.rstrip() + b"\ndata ignore value = -1\n")
    (folder / "scene.img").write_bytes(pair.binary)
    return data.images().transpose(1, 2, 0), data.images(truth).transpose(1, 2, 0)


def test_a_search_goes_on_after_a_reload_and_can_be_cancelled(dashboard):
    page = dashboard.open("/restore", data="lfw", dead=0.2)

    page.get_by_role("button", name="Restore", exact=True).click()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible(timeout=SECONDS)
    expect(page.get_by_text(re.compile("best so far")).first).to_be_visible(timeout=SECONDS)
    page.get_by_role("button", name="Cancel").click()

    expect(page.get_by_role("button", name="Restore", exact=True)).to_be_visible()
    assert "run=" not in page.url


def test_a_search_goes_on_after_the_server_was_killed(browser):
    query = {"data": "synthetic", "dead": 0.2}
    with serve(abruptly=True) as first, browser.new_context() as context:
        tab = Dashboard(context.new_page(), first)
        page = tab.open("/restore", **query)
        page.get_by_role("button", name="Restore", exact=True).click()
        expect(page.get_by_role("button", name="Cancel")).to_be_visible()
        asked = page.url.partition("?")[2]

    assert "run=" in asked
    with serve() as second, browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{second}/restore?{asked}")
        expect(page.locator(".st-key-callout")).to_be_visible(timeout=SECONDS)


def test_a_click_on_a_point_of_the_choice_restores_with_it_to_be_taken_home(dashboard):
    truth, task = load_dataset("lfw"), EXAMPLES["faces"].task
    spoiled, _ = damaged_dataset(truth, task)
    page = dashboard.open("/restore", data="lfw", dead=0.3)
    choice = bundled("lfw", task).packed.choice
    wanted = next(s.candidate for s in choice.scores if s.candidate.treatment.lam is None)

    click_candidate(dashboard, choice, wanted)

    restored = restore(spoiled, "unmarked", K=wanted.K, lam=np.inf)
    error = f"denoised everywhere by {rmse(truth.V, restored.denoised):.3g}"
    expect(page.locator(".st-key-callout")).to_contain_text(error, timeout=SECONDS)
    page.wait_for_url(re.compile("by=hand"))
    dashboard.wait_until_idle()
    expect(dashboard.slider("Parts K")).to_have_attribute("aria-valuetext", str(wanted.K))
    expect(page.get_by_text("What the search found")).to_be_visible()
    np.testing.assert_allclose(np.load(dashboard.take("NPY").path()), truth.images(restored.V), atol=1e-3)


def click_candidate(dashboard: Dashboard, choice: Choice, wanted: Candidate) -> None:
    """Where the chart of the choice draws it."""
    page = dashboard.page
    curve, place = next(
        (curve, place)
        for curve, trace in enumerate(error_against_K(choice).data)
        for place, (K, error) in enumerate(zip(trace.x, trace.y, strict=True))
        if wanted.K == K and candidate_at(choice, K, error) == wanted
    )
    scroll_to_the_end(dashboard)
    plot = page.locator(".js-plotly-plot").first
    marker = plot.locator(".scatterlayer .trace").nth(curve).locator(".points path").nth(place)
    marker.scroll_into_view_if_needed()
    dashboard.wait_until_idle()

    box = marker.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def test_a_file_with_nothing_wrong_leads_to_what_can_be_done_next(dashboard, tmp_path):
    rng = np.random.default_rng(0)
    sound = rng.random((16, 12, 3)) @ (rng.random((3, 30)) + 0.1) + rng.normal(0, 0.0002, (16, 12, 30)) + 0.1
    np.save(tmp_path / "sound.npy", sound)
    page = with_a_file(dashboard, tmp_path / "sound.npy", losses="marked", K=3, lam=1.5)
    nothing = page.get_by_text("Nothing is missing in this data, so there is nothing to restore")
    expect(nothing).to_be_visible()

    page.get_by_role("button", name="Look for wrong entries").click()
    page.get_by_role("button", name="Restore", exact=True).click()

    right = page.get_by_text("No entry looks wrong: there is nothing to restore.")
    expect(right).to_be_visible(timeout=SECONDS)
    expect(page.get_by_text("try damage in the sidebar")).to_be_visible()


def test_others_restore_the_same_data_when_asked_until_that_is_cancelled(dashboard):
    truth, task = load_dataset("lfw"), EXAMPLES["faces"].task
    spoiled, _ = damaged_dataset(truth, task)
    restoration = bundled("lfw", task).packed.unpack(spoiled)
    nmf = factorize(spoiled.V, K=restoration.fit.W.shape[1]).V_hat
    page = dashboard.open("/restore", data="lfw", dead=0.3)
    panels = page.locator(".views figure")
    expect(panels).to_have_count(4)

    page.get_by_text("Compare with other methods").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("switch", name="Compare with other methods")).not_to_be_checked()
    expect(panels).to_have_count(4)
    page.wait_for_url(re.compile(r"restore(?!.*others)"))
    dashboard.wait_until_idle()

    page.get_by_text("Compare with other methods").click()
    expect(panels).to_have_count(9, timeout=SECONDS)
    where = ~restoration.unrestorable
    expect(panels.nth(1)).to_contain_text(f"{rmse(truth.V, restoration.V, where):.3g} RMSE")
    expect(panels.nth(1)).to_contain_text(f"{bundled('lfw', task).seconds:.2g} s")
    for place, name in enumerate(("PCP", "Soft-impute", "3 x 3 median", "L1-NMF", "NMF"), start=4):
        expect(panels.nth(place)).to_contain_text(name)
    expect(panels.nth(8)).to_contain_text(f"{rmse(truth.V, nmf, where):.3g} RMSE")
    expect(page.locator(".views").get_by_text("the lowest")).to_have_count(1)
    assert "others=1" in page.url


def test_files_to_take_away_are_laid_out_as_the_cube_and_follow_the_threshold(dashboard):
    suspicion = bundled(*EXAMPLES["dead"]).packed.suspicion
    page = dashboard.open("/restore")
    scroll_to_the_end(dashboard)

    deviations = np.load(dashboard.take("Deviations, NPY").path())
    dashboard.set_slider("Defect threshold", "3")
    expect(page.get_by_text(f"{(suspicion >= 3).sum():,} of 409,600")).to_be_visible()
    dashboard.wait_until_idle()
    mask = np.load(dashboard.take("Mask, NPY").path())
    pytest.importorskip("matplotlib")
    dashboard.press("SVG")
    named = ("Pictures", "All defects", "Error against K")
    pictures, defects, error = (dashboard.take(name).path().read_text("utf-8") for name in named)

    assert [
        title
        for title in ("Damaged", "Restored", "Truth", "Defects found")
        if f">{title}</text>" not in pictures
    ] == []
    assert ">number of parts K</text>" in error
    assert defects.count("<image") == 1
    assert deviations.shape == (64, 64, 100)
    assert (deviations > 0).all()
    assert mask.sum() == (suspicion >= 3).sum()


def test_a_kind_of_damage_leads_to_where_it_is_and_shows_it_alone(dashboard):
    data = load_dataset("simulated-scene")
    spoiled, _ = damaged_dataset(data, EXAMPLES["stripes"].task)
    outcome = bundled(*EXAMPLES["stripes"]).packed.unpack(spoiled)
    stripes = next(one for one in findings(spoiled, outcome) if one.kind == "stripes")
    most = int(stripes.mask.sum(axis=1).argmax())
    page = dashboard.open("/restore", dead=0, stripes=0.2)

    page.get_by_role("radio", name=f"{stripes.count:,} in stripes").or_(
        page.get_by_role("button", name=f"{stripes.count:,} in stripes")
    ).first.click()
    dashboard.wait_until_idle()

    expect(page.get_by_text("were taken off").first).to_be_visible()
    expect(page.locator(".views figure").last).to_contain_text("In stripes")
    expect(dashboard.slider("Band")).to_have_attribute("aria-valuetext", re.compile(f"band {most + 1}\\b"))
    assert "wrong=stripes" in page.url
    largest = max(stripes.lines, key=lambda line: abs(line.offset))
    dashboard.press(str(largest))
    expect(page.locator(".views figure").last).to_contain_text(
        f"{lines_mask(spoiled, (largest,)).sum():,} entries"
    )
    first, last = largest.bands
    assert first <= int(re.search(r"image=(\d+)", page.url)[1]) <= last
    assert re.search(rf"pixel=\d+\.{largest.first}\b", page.url)

    scroll_to_the_end(dashboard)
    offsets = np.load(dashboard.take("Offsets, NPY").path())
    np.testing.assert_array_equal(offsets.transpose(2, 0, 1), data.layout.unfold(outcome.offsets))


def test_the_denoised_data_is_the_other_result_to_take_home(dashboard):
    spoiled, _ = damaged_dataset(load_dataset("simulated-scene"), EXAMPLES["everything"].task)
    outcome = bundled(*EXAMPLES["everything"]).packed.unpack(spoiled)
    query = EXAMPLES["everything"].task.damage.shares
    page = dashboard.open("/restore", **{name: share for name, share in query.items() if share})

    page.get_by_text("Denoised everywhere", exact=True).click()
    dashboard.wait_until_idle()

    expect(
        page.get_by_text(f"Typically ±{outcome.denoised_error:#.3g} from what would have been measured")
    ).to_be_visible()
    expect(page.locator(".views figure").nth(1)).to_contain_text("Denoised")
    scroll_to_the_end(dashboard)
    download = dashboard.take("NPZ")
    home = np.load(download.path())
    cube = next(home[name] for name in home.files if home[name].size == outcome.denoised.size)
    assert "denoised" in download.suggested_filename
    np.testing.assert_allclose(np.sort(cube.ravel()), np.sort(outcome.denoised.ravel()), atol=1e-4)


def test_what_is_drawn_on_a_picture_is_missing_from_then_on(dashboard):
    page = dashboard.open("/restore", height=1200)
    page.get_by_text("This is wrong: mark it yourself").click()
    dashboard.press("Rectangle")

    drag(dashboard, (0.251, 0.251), (0.37, 0.499))
    expect(page.get_by_text(f"{8 * 16:,} entries are marked and count as missing.")).to_be_visible()
    assert "marks=33-33r17.17.32.24" in page.url
    dashboard.press("all bands")
    dashboard.press("Brush")
    drag(dashboard, (0.8, 0.8))
    expect(page.get_by_text(f"{8 * 16 + 9 * 100:,} entries are marked")).to_be_visible()
    expect(page.get_by_role("button", name="Restore", exact=True)).to_be_visible()

    dashboard.press("Undo")
    expect(page.get_by_text(f"{8 * 16:,} entries are marked and count as missing.")).to_be_visible()
    dashboard.press("Remove all marks")
    expect(page.locator(".st-key-callout")).to_be_visible()


def drag(dashboard: Dashboard, *places: tuple[float, float]) -> None:
    """Draw from place to place on the first picture, in shares of its width and height."""
    frame = dashboard.page.locator(".views .frame").first
    frame.scroll_into_view_if_needed()
    dashboard.wait_until_idle()
    box, mouse = frame.bounding_box(), dashboard.page.mouse
    for number, (x, y) in enumerate(places):
        mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"])
        if number == 0:
            mouse.down()
    mouse.up()
    dashboard.wait_until_idle()


def test_a_mask_file_says_what_is_wrong(dashboard, tmp_path):
    wrong = np.zeros((64, 64), bool)
    wrong[5:9, 10:12] = True
    np.save(tmp_path / "wrong.npy", wrong)
    page = dashboard.open("/restore", height=1200)
    page.get_by_text("This is wrong: mark it yourself").click()
    files = page.locator(".stMain [data-testid='stFileUploaderDropzoneInput']")

    files.set_input_files(tmp_path / "wrong.npy")
    expect(page.get_by_text("800 entries are marked and count as missing.")).to_be_visible(timeout=30_000)

    dashboard.press("Remove all marks")
    np.save(tmp_path / "other.npy", wrong[1:])
    files.set_input_files(tmp_path / "other.npy")
    expect(page.get_by_role("alert").filter(has_text="The mask cannot be used")).to_contain_text(
        "64 × 64 pixels", timeout=30_000
    )


@pytest.mark.parametrize("query", [{"league": "moffet"}, {"dead": 0, "stripes": 0.2, "wrong": "stripes"}])
def test_a_view_is_accessible_in_both_themes_and_fits_a_telephone(dashboard, query):
    page = dashboard.open("/restore", **query)
    if "league" not in query:
        scroll_to_the_end(dashboard)
        dashboard.press("Denoised everywhere")

    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        dashboard.wait_until_idle()
        # Colours fade from one theme to the other.
        page.wait_for_timeout(500)
        assert violations(page) == []

    page.set_viewport_size({"width": 390, "height": 844})
    dashboard.wait_until_idle()
    assert page.get_by_test_id("stMain").evaluate(SIDEWAYS) <= 0


def test_the_league_shows_every_cell_and_leads_to_the_damage(dashboard):
    page = dashboard.open("/restore")
    page.get_by_role("button", name=re.compile("How good is it")).click()
    dashboard.wait_until_idle()
    won = sum(row.best == OURS for row in compared())
    said = f"Measured against others in {len(compared())} cells, restore is best in {won}"
    expect(page.get_by_text(said)).to_be_visible()

    dashboard.press("Moffett Field")
    lost = [row for row in compared() if row.data == "moffet" and row.best != OURS]
    expect(page.locator(".league td.lost")).to_have_count(len(lost))
    dashboard.press("Six cases")
    for method in ("LRTDTV, published", "E-3DTV, published"):
        expect(page.get_by_role("columnheader", name=method)).to_be_visible()
    expect(page.locator(".league tbody th")).to_contain_text([f"case {number}" for number in range(1, 7)])

    dashboard.press("Simulated scene")
    row = page.get_by_role("row").filter(has_text="stripes in a third of the bands")
    row.get_by_role("link").first.click()
    expect(page.locator(".st-key-callout")).to_be_visible()
    dashboard.wait_until_idle()
    expect(page.get_by_role("button", name="Stripes", exact=True)).to_have_attribute("aria-pressed", "true")
