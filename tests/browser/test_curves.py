"""The Curves page: sweeps grow before one's eyes, survive everything, and open their points in Explore."""

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, expect

from atnmf_core import SOLVER_VERSIONS
from atnmf_core.reference import lfw_curve
from atnmf_core.sweep import StoreError, read_store

from .curves import SECONDS, Curves
from .dashboard import Dashboard
from .server import serve

SLOW = {"data": "simulated-scene", "K": 8, "count": 10, "starts": 4, "alphas": "0.3", "missing": "ignore"}
FITS = 44
QUICK = {"data": "synthetic", "K": 3, "count": 3, "low": 2, "high": 20, "starts": 1}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the dashboards of this test keep their sweeps."""
    path = tmp_path / "store.sqlite"
    monkeypatch.setenv("ATNMF_STORE", str(path))
    return path


@pytest.fixture
def own_dashboard(browser: Browser, store: Path) -> Iterator[Dashboard]:
    with serve() as address, browser.new_context() as context:
        dashboard = Dashboard(context.new_page(), address)
        yield dashboard
        dashboard.check()


def results(store: Path, name: str) -> dict[str, tuple[float, float]]:
    """By key, the error of each finished point and when it was finished; fails where one is there twice."""
    with read_store(store) as reader:
        found = list(reader.results(name))
    by_key = {r.key: (r.measures.rmse_hidden, r.finished) for r in found if r.measures is not None}
    assert len(by_key) == len(found)
    return by_key


def points_of_runs(store: Path) -> list[int]:
    """How many points each process has made."""
    with sqlite3.connect(store) as connection:
        query = "SELECT COUNT(*) FROM points WHERE status = 'done' GROUP BY run"
        return [number for (number,) in connection.execute(query)]


def test_a_sweep_grows_and_survives_reload_cancel_and_a_killed_server(browser: Browser, store: Path) -> None:
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
        stopped = results(store, name)
        curves.page.wait_for_timeout(500)
        assert results(store, name) == stopped

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
            r.start: r.measures.rmse_hidden for r in reader.results(name) if r.lam == lam and r.measures
        }
    assert lam == sorted(grid.lams)[4]
    assert (query["alpha"], query["K"], query["missing"]) == ("0.3", "8", "ignore")
    error = errors[int(query.get("seed", 0))]
    said = curves.page.locator(".st-key-callout").inner_text()
    assert f"AT-NMF {error:.3f}" in said or f"AT-NMF {error:.2g}" in said
    mean = sum(errors.values()) / len(errors)
    assert abs(error - mean) == min(abs(one - mean) for one in errors.values())


def test_two_sessions_have_a_sweep_each_one_after_the_other(
    own_dashboard: Dashboard, browser: Browser, store: Path
) -> None:
    with browser.new_context() as context:
        other = Dashboard(context.new_page(), own_dashboard.address)
        mine, theirs = Curves(own_dashboard, alphas="0.3", **QUICK), Curves(other, alphas="0.6", **QUICK)
        names = [mine.start(), theirs.start()]
        for curves, name in zip((mine, theirs), names, strict=True):
            # Both are in the list of either session.
            expect(curves.page.get_by_text("4 of 4 fits")).to_have_count(2, timeout=SECONDS * 1000)
            curves.dashboard.wait_until_idle()
            assert curves.title() == name
        other.check()

    assert len(set(names)) == 2
    with sqlite3.connect(store) as connection:
        spans = list(connection.execute("SELECT started, ended FROM runs ORDER BY started"))
    assert len(spans) == 2
    assert spans[0][1] <= spans[1][0]
    assert [len(results(store, name)) for name in names] == [4, 4]


def test_a_range_that_is_none_is_explained_before_anything_starts(
    own_dashboard: Dashboard, store: Path
) -> None:
    curves = Curves(own_dashboard)
    field = curves.page.get_by_label("λ from", exact=True)

    field.fill("200")
    field.press("Enter")
    own_dashboard.wait_until_idle()

    expect(curves.page.get_by_text("The range of λ ends at 100, before it begins at 200")).to_be_visible()
    expect(curves.page.get_by_role("button", name="Start", exact=True)).to_be_disabled()
    with pytest.raises(StoreError):
        read_store(store)


@pytest.mark.parametrize(("name", "beginning"), [("PNG", b"\x89PNG"), ("SVG", b"<svg")])
def test_the_chart_is_saved_as_a_picture(dashboard: Dashboard, name: str, beginning: bytes) -> None:
    curves = Curves(dashboard)
    curves.page.get_by_text("Take away").click()
    dashboard.wait_until_idle()

    with curves.page.expect_download() as download:
        curves.page.get_by_role("button", name=name, exact=True).click()

    assert download.value.suggested_filename == f"lfw-lambda-alpha0.5-zero.{name.lower()}"
    assert Path(download.value.path()).read_bytes().startswith(beginning)


def test_the_chart_and_its_numbers_can_be_taken_away(dashboard: Dashboard) -> None:
    curves = Curves(dashboard)
    curves.page.get_by_text("Take away").click()
    dashboard.wait_until_idle()

    with curves.page.expect_download() as page:
        curves.page.get_by_role("button", name="HTML", exact=True).click()
    with curves.page.expect_download() as table:
        curves.page.get_by_role("button", name="CSV", exact=True).click()

    assert not re.findall(r'<(?:script|link)[^>]+(?:src|href)="http', Path(page.value.path()).read_text())
    assert Path(table.value.path()).read_text().startswith("dataset,version,alpha,K,method,lam")
    expect(curves.page.get_by_text("python -m atnmf_core sweep --data lfw")).to_be_visible()


@pytest.mark.skipif(
    lfw_curve()[0].version != SOLVER_VERSIONS["fast"], reason="the kept curve was made by an earlier solver"
)
def test_a_click_on_the_map_opens_its_point(dashboard: Dashboard) -> None:
    curves = Curves(dashboard, view="map")
    box = (
        curves.page.locator(".js-plotly-plot .scatterlayer .trace")
        .first.locator("path")
        .nth(3)
        .bounding_box()
    )

    curves.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(curves.page.locator(".st-key-callout")).to_be_visible(timeout=SECONDS * 1000)

    assert "lam=1.3" in curves.page.url
