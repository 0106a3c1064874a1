"""The Reproduce page: the tables, choosing a cell, and running it again."""

import csv
import io
import re

import pytest
from playwright.sync_api import expect

from atnmf_core.reference import measured, published
from atnmf_core.reference.compare import compare_table

PAGE = "/reproduce"
QUICK = {"alpha": 0.8, "method": "nmf", "outer": 1}
SLOW = {"alpha": 0.3, "method": "atnmf-2", "starts": 10}


def test_each_table_shows_published_and_measured_numbers(dashboard):
    page = dashboard.open(PAGE)

    for title, name in (("CBCL faces", "cbcl"), ("Madonna", "madonna"), ("Synthetic", "synthetic")):
        page.get_by_role("button", name=title).click()
        dashboard.wait_until_idle()

        cells = compare_table(name, measured(name))
        shown = page.locator("td.published").all_inner_texts()
        assert shown == [
            f"{cell.mean:.{cells[0].digits}f} ± {cell.deviation:.{cells[0].digits}f}"
            for cell in published(name)
        ]
        marks = page.locator("td.unmarked .mark").all_inner_texts()
        assert len(marks) == sum(cell.zero is not None for cell in cells)
        assert marks.count("✓") == sum(cell.agreement == "within" for cell in cells)
        unknown = sum((cell.zero is None) + (cell.ignore is None) for cell in cells)
        expect(page.locator("td", has_text="not measured")).to_have_count(unknown)
        assert ("table=" in page.url) == (name != "synthetic")


def test_a_click_or_a_key_on_a_cell_chooses_it_and_the_address_keeps_it(dashboard):
    page = dashboard.open(PAGE, table="moffet")

    page.locator('td.published[data-cell="2"]').click()
    dashboard.wait_until_idle()
    expect(page.get_by_text("AT-NMF (λ = 2) at α = 0.3", exact=True)).to_be_visible()
    page.locator('td.unmarked[data-cell="4"] button').focus()
    page.keyboard.press("Enter")
    dashboard.wait_until_idle()

    expect(page.get_by_text("NMF at α = 0.4", exact=True)).to_be_visible()
    expect(page.locator("td.chosen")).to_have_count(3)
    assert "alpha=0.4" in page.url
    page.reload()
    dashboard.wait_until_idle()
    expect(page.locator('td.chosen[data-cell="4"]')).to_have_count(3)


@pytest.mark.slow
def test_the_table_can_be_taken_away_and_drawn(dashboard):
    page = dashboard.open(PAGE, table="cbcl")

    rows = list(csv.DictReader(io.StringIO(dashboard.take("Table, CSV").path().read_text())))
    alone = dashboard.take("Table, HTML").path().read_text()
    page.get_by_role("radio", name="Chart").click()
    dashboard.wait_until_idle()

    assert [float(row["published"]) for row in rows] == [cell.mean for cell in published("cbcl")]
    assert alone.count('class="published"') == 7 * 5
    expect(page.locator(".js-plotly-plot")).to_be_visible()
    assert rb"AT-NMF (\u03bb = 5)" in dashboard.take("Chart, HTML").path().read_bytes()


def test_a_cell_is_run_again_and_stands_beside_the_kept_number(dashboard, paper_data):
    page = dashboard.open(PAGE, **QUICK)
    expect(page.get_by_text(re.compile(r"^about (a moment|\d+ s)$"))).to_be_visible()
    fresh = page.locator("td.here", has_text="7.8")
    expect(fresh).to_have_count(0)

    page.get_by_role("button", name="Run this cell").click()

    expect(fresh).to_be_visible(timeout=60_000)
    expect(fresh).to_contain_text("1 start, 1 of 100")
    expect(page.get_by_role("button", name="Run it again")).to_be_visible()
    expect(page.get_by_text(re.compile(r"^Unmarked, run here 7\.8"))).to_be_visible()


def test_a_run_survives_a_reload_and_can_be_cancelled(dashboard, paper_data):
    page = dashboard.open(PAGE, **SLOW)
    page.get_by_role("button", name="Run this cell").click()
    cancel = page.get_by_role("button", name="Cancel")
    expect(
        page.get_by_text(re.compile(r"Synthetic, α = 0\.3, AT-NMF \(λ = 2\): 0 of 10 done"))
    ).to_be_visible(timeout=60_000)

    page.goto(f"{dashboard.address}{PAGE}?table=cbcl")
    expect(page.get_by_text("Synthetic, α = 0.3, AT-NMF (λ = 2)")).to_be_visible(timeout=30_000)
    cancel.click()

    expect(cancel).to_have_count(0, timeout=60_000)
    page.goto(f"{dashboard.address}{PAGE}?alpha=0.3&method=atnmf-2&starts=10")
    expect(page.get_by_text(re.compile(r"Stopped: \d+ of 10 starts are done"))).to_be_visible(timeout=30_000)
