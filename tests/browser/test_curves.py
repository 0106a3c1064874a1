"""The Curves page: sweeps grow before one's eyes, survive everything, and open their points in Explore."""

import re
import sqlite3
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, expect

from atnmf_core import load_dataset
from atnmf_core.sweep import Grid, Measures, default_store, open_store, read_store
from atnmf_core.sweep.grid import identify

from .dashboard import Dashboard
from .server import serve

SECONDS = 120
FITS_TOLD = re.compile(r"(\d+) of \d+ fits")


class Curves:
    """The Curves page in one tab."""

    def __init__(self, dashboard: Dashboard, **query: object) -> None:
        self.dashboard = dashboard
        self.page = dashboard.page
        dashboard.open("/curves", height=1300, **query)

    def start(self) -> str:
        """Press Start; the name of the sweep that is shown then."""
        before = self.title()
        self.page.get_by_role("button", name="Start", exact=True).click()
        expect(self._title()).not_to_have_text(before, timeout=SECONDS * 1000)
        return self.title()

    def title(self) -> str:
        """Of the curve that is shown."""
        return self._title().inner_text()

    def _title(self) -> Locator:
        return self.page.get_by_test_id("stMain").get_by_role("heading", level=2).first

    def line(self, name: str) -> Locator:
        """What the list of sweeps says about one."""
        lines = self.page.locator("[class*='st-key-curves_line_']")
        return lines.filter(has=self.page.get_by_text(name, exact=True))

    def press(self, name: str) -> None:
        """The first button of that name, whether the page is polling or not."""
        self.page.get_by_role("button", name=name, exact=True).first.click()

    def fits(self) -> int:
        """How many fits of the sweep in view are done, as the page says."""
        state = self.page.locator(".st-key-curves_progress, .st-key-curves_stopped").first
        expect(state).to_contain_text(FITS_TOLD, timeout=SECONDS * 1000)
        return int(FITS_TOLD.search(state.inner_text())[1])

    def expect_fits(self, least: int) -> None:
        """Wait until the page tells of so many."""
        deadline = SECONDS * 1000 // 200
        for _ in range(deadline):
            if self.fits() >= least:
                return
            self.page.wait_for_timeout(200)
        raise AssertionError(f"{self.fits()} fits after {SECONDS} s, not {least}")

    def expect_text(self, text: str) -> None:
        expect(self.page.get_by_text(text).first).to_be_visible(timeout=SECONDS * 1000)

    def points(self) -> Locator:
        """The markers of AT-NMF's line."""
        return (
            self.page.locator(".js-plotly-plot .scatterlayer .trace:has(path.js-line)")
            .filter(has=self.page.locator(".points path"))
            .last.locator(".points path")
        )


SLOW = {"data": "simulated-scene", "K": 8, "count": 10, "starts": 4, "alphas": "0.3", "missing": "ignore"}
FITS = 44
QUICK = {"data": "synthetic", "K": 3, "count": 3, "low": 2, "high": 20, "starts": 1}


def results(store: Path, name: str) -> dict[str, tuple[float, float]]:
    """By key, the error of each finished point and when it was finished; fails where one is there twice."""
    with read_store(store) as reader:
        found = list(reader.outcomes(name))
    by_key = {r.key: (r.measures["rmse_hidden"], r.finished) for r in found if r.measures is not None}
    assert len(by_key) == len(found)
    return by_key


def points_of_runs(store: Path) -> list[int]:
    """How many points each process has made."""
    with sqlite3.connect(store) as connection:
        query = "SELECT COUNT(*) FROM points WHERE status = 'done' GROUP BY run"
        return [number for (number,) in connection.execute(query)]


def test_a_sweep_grows_and_survives_reload_cancel_and_a_killed_server(browser, tmp_path, monkeypatch):
    store = tmp_path / "store.sqlite"
    monkeypatch.setenv("ATNMF_STORE", str(store))
    with serve(abruptly=True) as address, browser.new_context() as context:
        dashboard = Dashboard(context.new_page(), address)
        curves = Curves(dashboard, **SLOW)
        name = curves.start()
        expect(curves.points().first).to_be_visible(timeout=SECONDS * 1000)
        few = curves.fits()
        curves.expect_fits(few + 3)

        curves.page.reload()
        curves.expect_text(name)
        assert curves.fits() >= few + 3

        curves.press("Cancel")
        curves.expect_text("Stopped after")
        kept = curves.fits()
        assert few + 3 <= kept < FITS
        with read_store(store) as reader:
            assert reader.sweep(name).status == "stopped"
        stopped = results(store, name)

        curves.press("Resume")
        curves.expect_fits(kept + 3)
        dashboard.check()
        address_bar = urlsplit(curves.page.url).query
    survived = results(store, name)

    with serve() as address, browser.new_context() as context:
        dashboard = Dashboard(context.new_page(), address)
        curves = Curves(dashboard, **{key: value[0] for key, value in parse_qs(address_bar).items()})
        assert curves.title() == name
        expect(curves.page.get_by_text(f"{FITS} of {FITS} fits").first).to_be_visible(timeout=SECONDS * 1000)
        dashboard.wait_until_idle()
        expect(curves.points()).to_have_count(10)
        dashboard.check()
        whole = results(store, name)
        assert len(whole) == FITS
        assert sum(points_of_runs(store)) == FITS
        assert stopped.items() <= survived.items() <= whole.items()
        opens_a_point_in_explore(dashboard, curves, store, name)


def opens_a_point_in_explore(dashboard: Dashboard, curves: Curves, store: Path, name: str) -> None:
    box = curves.points().nth(4).bounding_box()
    curves.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(curves.page.locator(".st-key-callout")).to_be_visible(timeout=SECONDS * 1000)
    dashboard.wait_until_idle()

    query = {key: value[0] for key, value in parse_qs(urlsplit(curves.page.url).query).items()}
    lam = float(query["lam"])
    with read_store(store) as reader:
        grid = reader.sweep(name).grid
        errors = {
            r.identity["start"]: r.measures["rmse_hidden"]
            for r in reader.outcomes(name)
            if r.identity["lam"] == lam and r.measures
        }
    assert lam == sorted(grid.lams)[4]
    assert (query["alpha"], query["K"], query["missing"]) == ("0.3", "8", "ignore")
    error = errors[int(query.get("seed", 0))]
    said = curves.page.locator(".st-key-callout").inner_text().replace("\xa0", " ")
    assert f"AT-NMF {error:.3f}" in said or f"AT-NMF {error:.2g}" in said
    mean = sum(errors.values()) / len(errors)
    assert abs(error - mean) == min(abs(one - mean) for one in errors.values())


def test_two_sessions_have_a_sweep_each_one_after_the_other(dashboard, browser):
    with browser.new_context() as context:
        other = Dashboard(context.new_page(), dashboard.address)
        mine, theirs = Curves(dashboard, alphas="0.3", **QUICK), Curves(other, alphas="0.6", **QUICK)
        names = [mine.start(), theirs.start()]
        for curves, name in zip((mine, theirs), names, strict=True):
            # Both are in the list of either session.
            for listed in names:
                expect(curves.line(listed)).to_contain_text("4 of 4 fits", timeout=SECONDS * 1000)
            curves.dashboard.wait_until_idle()
            assert curves.title() == name
        other.check()

    assert len(set(names)) == 2
    with sqlite3.connect(default_store()) as connection:
        spans = list(
            connection.execute(
                "SELECT started, ended FROM runs JOIN sweeps ON sweeps.id = sweep WHERE name IN (?, ?)"
                " ORDER BY started",
                names,
            )
        )
    assert len(spans) == 2
    assert spans[0][1] <= spans[1][0]
    assert [len(results(default_store(), name)) for name in names] == [4, 4]


def test_the_chart_and_its_numbers_can_be_taken_away(dashboard):
    curves = Curves(dashboard)
    pytest.importorskip("matplotlib")
    curves.page.get_by_text("Download", exact=True).click()
    expect(curves.page.get_by_text("python -m atnmf_core sweep --data lfw")).to_be_visible()

    files = {}
    for name in ("PNG", "SVG", "PDF"):
        dashboard.press(name)
        files[name] = dashboard.take("Chart")
    files |= {name: dashboard.take(name) for name in ("HTML", "CSV")}

    assert [file.suggested_filename for file in files.values()] == [
        *(f"lfw-lambda-alpha0.5-zero.{suffix}" for suffix in ("png", "svg", "pdf", "html")),
        "lfw.csv",
    ]
    contents = {name: Path(file.path()).read_bytes() for name, file in files.items()}
    assert contents["PNG"].startswith(b"\x89PNG")
    assert b">RMSE on hidden entries</text>" in contents["SVG"]
    assert contents["PDF"].startswith(b"%PDF")
    assert len(contents["HTML"]) < 1_000_000
    assert contents["CSV"].startswith(b"alpha,method,lam,K,missing,solver,")
    assert not re.findall(rb'<(?:script|link)[^>]+(?:src|href)="http', contents["HTML"])


def test_a_click_on_the_map_opens_its_point(dashboard):
    grid = Grid("synthetic", alphas=(0.3, 0.6), Ks=(3,), lams=(2.0, 5.0, 10.0))
    with open_store(default_store()) as store:
        store.add_sweep("map", grid, load_dataset("synthetic").content_hash)
        for number, point in enumerate(grid.points()):
            error = 1.0 + 0.01 * number
            store.add_outcome(
                identify(point, load_dataset("synthetic").content_hash)[0],
                Measures(error, error, 1.0, 1.0, 5, True, 0.01),
            )
    curves = Curves(dashboard, view="map", show="sweep:map")
    cells = curves.page.locator(".js-plotly-plot .scatterlayer .trace").first.locator("path")
    box = cells.nth(4).bounding_box()

    curves.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(curves.page.locator(".st-key-callout")).to_be_visible(timeout=SECONDS * 1000)

    asked = {name: value[0] for name, value in parse_qs(urlsplit(curves.page.url).query).items()}
    assert (asked["data"], asked["alpha"], asked["lam"]) == ("synthetic", "0.6", "5")
