"""The folder that `atnmf web` writes, in a real browser that reaches nothing but this machine."""

import os
import subprocess
import sys
import time
from urllib.parse import urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Locator, Page, Request, Route

from atnmf_core import factorize, hide_entries, load_dataset, rmse
from atnmf_core.__main__ import main
from atnmf_core.commands.app import PYODIDE
from tests.paper_data import REPOSITORY

from .server import free_port

pytestmark = pytest.mark.slow
OFFLINE = f"""no Pyodide {PYODIDE} with NumPy, SciPy and Pillow: set ATNMF_PYODIDE to a folder with them, for
instance open_webui/frontend/pyodide of the wheel open-webui 0.12.4"""
MAX_MB, MAX_TIMES_BARE, MAX_MOVE_SECONDS = 40, 6, 1.0
BARE = """<script type="module">
import { loadPyodide } from "./pyodide/pyodide.mjs";
const python = await loadPyodide({ packages: ["numpy"] });
document.title = python.runPython("import numpy; str(numpy.arange(5).sum())");
</script>"""
SETTINGS = [
    {},
    {"lam": 1.05},
    {"lam": 100.0},
    {"alpha": 0.5, "missing": "ignore"},
    {"alpha": 0.9, "missing": "ignore", "K": 10},
    {"K": 5, "seed": 3},
    {"mask_seed": 7, "lam": 1.2},
    {"pattern": "block"},
    {"leash": 0.5, "lam": 1.1},
    {"alpha": 0.3, "K": 49, "lam": 5.0},
]
LOOK = """place => [...place.querySelectorAll('*')]
    .map(one => one.shadowRoot?.innerHTML ?? JSON.stringify(one.data) ?? '').join('')"""
QUIET = "document.querySelector('[aria-busy]')?.ariaBusy === 'false'"
PLOTTED = """plot => plot.data.map(({ name, x, y }) => ({ name, x: Array.from(x), y: Array.from(y) }))"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Where the folder is served, and the folder."""
    source = os.environ.get("ATNMF_PYODIDE")
    if source is None:
        pytest.skip(OFFLINE)
    out = tmp_path_factory.mktemp("web") / "lab"
    assert main(["web", "--out", str(out), "--pyodide", source]) == 0
    port = free_port()
    words = ["-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory", str(out)]
    server = subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(1)
    yield f"http://127.0.0.1:{port}/", out
    server.terminate()
    server.wait()


class Lab:
    """The page in one tab."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self.address = page, address

    def open(self, path: str) -> None:
        self.page.goto(self.address + path)
        self.page.locator("h1").wait_for(timeout=300_000)
        self.rest()

    def go(self, path: str) -> None:
        """To another address of the page, without loading it anew."""
        self.page.evaluate(
            "to => { history.pushState(null, '', to); dispatchEvent(new Event('popstate')); }",
            self.address + path,
        )
        self.rest()

    def rest(self) -> None:
        """Until everything that was done has been answered."""
        self.page.wait_for_function(QUIET, timeout=300_000)
        assert self.page.get_by_text("Traceback").count() == 0

    def panel(self, letter: str) -> str:
        figure = self.page.locator("figure", has_text=f"({letter})")
        return figure.locator(".picture img").first.get_attribute("src")

    def shown(self) -> dict[str, str]:
        return {letter: self.panel(letter) for letter in "abcdef"}

    def errors(self) -> dict[str, dict[float, float]]:
        """Those over lambda that the curve shows, by the names of its lines."""
        self.page.locator(".js-plotly-plot").first.wait_for(timeout=60_000)
        # Plots are drawn a moment after the page has answered.
        self.page.wait_for_timeout(1000)
        drawn = self.page.locator(".js-plotly-plot").first.evaluate(PLOTTED)
        return {one["name"]: dict(zip(one["x"], one["y"], strict=True)) for one in drawn}

    def look(self, place: Locator) -> str:
        """All that is drawn there, inside components and plots too."""
        return place.evaluate(LOOK)

    def move(self, key: str, stop: int) -> float:
        """Move a slider to a stop, and return how many seconds the page took to follow."""
        began = time.perf_counter()
        self.page.locator(f".st-key-{key} input").fill(str(stop))
        self.page.wait_for_function(f"!({QUIET})")
        self.rest()
        return time.perf_counter() - began


@pytest.fixture(scope="module")
def lab(browser, site):
    """One page for all tests here: a browser takes seconds to load Python."""
    with browser.new_context(viewport={"width": 1440, "height": 1000}) as context:
        refuse_others(context, site[0])
        lab = Lab(context.new_page(), site[0])
        lab.open("")
        failures: list[str] = []
        lab.page.on("pageerror", lambda error: failures.append(str(error)))
        yield lab
        assert failures == []


def refuse_others(context: BrowserContext, address: str) -> None:
    def only_here(route: Route, request: Request) -> None:
        if request.url.startswith(address):
            route.continue_()
        else:
            route.abort()

    context.route(lambda url: url.startswith("http"), only_here)


def test_it_is_small_and_its_first_picture_comes_soon_after_a_bare_page(browser, site):
    address, folder = site
    megabytes = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6
    assert megabytes <= MAX_MB
    assert f"{megabytes:.0f} MB in all" in (REPOSITORY / "README.md").read_text("utf-8")
    (folder / "bare.html").write_text(BARE)
    seconds = {}
    for name, ready in (("bare.html", "document.title === '10'"), ("index.html", PICTURE)):
        with browser.new_context() as context:
            refuse_others(context, address)
            page = context.new_page()
            began = time.perf_counter()
            page.goto(address + name)
            page.wait_for_function(ready, timeout=300_000)
            seconds[name] = time.perf_counter() - began
    (folder / "bare.html").unlink()
    bare, first = seconds["bare.html"], seconds["index.html"]
    print(
        f"{megabytes:.1f} MB, bare {bare:.1f} s, first picture {first:.1f} s, load {os.getloadavg()[0]:.1f}"
    )
    assert first <= MAX_TIMES_BARE * bare
    with browser.new_context() as context:
        refuse_others(context, address)
        page = context.new_page()
        page.add_init_script("delete globalThis.WebAssembly")
        page.goto(address)
        assert "WebAssembly" in page.get_by_role("alert").inner_text()


PICTURE = """[...document.querySelectorAll('.st-key-learned')].some(
    one => one.shadowRoot?.querySelectorAll('.picture img[src^="data:"]').length === 4)"""


def test_controls_change_panels_and_numbers(lab):
    lab.go("")
    first, errors = lab.shown(), lab.errors()
    moves = [lab.move("lam", stop) for stop in (9, 7, 10)]
    print(f"moves of lambda {', '.join(f'{one:.2f}' for one in moves)} s, load {os.getloadavg()[0]:.1f}")
    moved = lab.shown()
    lab.move("alpha", 10)
    hidden = lab.shown()
    lab.move("K", 10)
    last = lab.shown()

    def changed(before, after):
        return {letter for letter in before if before[letter] != after[letter]}

    assert changed(first, moved) == {"c", "d", "e"}
    assert changed(moved, hidden) >= {"b", "c", "d", "e", "f"}
    assert "e" in changed(hidden, last)
    assert "a" not in changed(first, last)
    assert lab.errors() != errors
    assert lab.page.url.endswith("?alpha=0.5&lam=3&K=10")
    # A machine with other work to do takes longer; what counts is then said by the numbers printed.
    assert min(moves) <= MAX_MOVE_SECONDS * max(1.0, os.getloadavg()[0])


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_the_errors_are_those_of_the_core(lab, setting):
    how = {"alpha": 0.2, "lam": 2.0, "leash": None, "K": 25, "missing": "zero", "seed": 0} | setting
    data = load_dataset("lfw")
    hiding = (how["alpha"], setting.get("mask_seed", 0), setting.get("pattern", "entries"))
    observed = hide_entries(data.shape, *hiding, data.image_shape, data.order)

    lab.go(f"?{urlencode(setting)}")
    shown = lab.errors()

    for method, lam, leash in (("NMF", None, None), ("AT-NMF", how["lam"], how["leash"])):
        options = {name: how[name] for name in ("K", "missing", "seed")}
        kind = method.replace("-", "").lower()
        fit = factorize(data.V, observed, method=kind, lam=lam, leash=leash, **options)
        treatment = {"zero": "unmarked", "ignore": "marked"}[how["missing"]]
        line = shown.get(method) or shown[f"{method}, {treatment}"]
        there = line[lam] if lam else next(iter(line.values()))
        assert there == pytest.approx(rmse(data.V, fit.V_hat, ~observed), abs=1e-4)


@pytest.mark.parametrize("number", range(1, 9))
def test_every_chapter_opens_and_its_picture_reacts(lab, number):
    lab.go(f"learn/?chapter={number}")
    picture = lab.page.locator(".st-key-side_by_side [data-testid=stColumn]").nth(1)
    before = lab.look(picture)

    # What the last one sets, a leash, shows nothing where there is no adversary yet.
    slider = picture.locator("input[type=range]").nth(1 if number == 8 else -1)
    slider.focus()
    # The game starts at its left end, most others can go both ways.
    slider.press("ArrowRight" if number == 4 else "ArrowLeft")
    lab.page.wait_for_timeout(500)
    lab.rest()
    if number == 6:
        picture.get_by_role("button", name="Show the truth").click()
        lab.rest()

    assert lab.page.locator("h1").count() == 1
    assert lab.look(picture) != before
    assert f"chapter={number}" in lab.page.url or number == 1


@pytest.mark.parametrize(
    "path", ["", "?detail=film", *(f"learn/?chapter={number}" for number in range(1, 9))]
)
@pytest.mark.parametrize(("theme", "width"), [("light", 1440), ("dark", 390)])
def test_it_fits_its_screen_and_axe_finds_nothing_serious(lab, theme, width, path):
    lab.page.set_viewport_size({"width": width, "height": 1000})
    lab.page.emulate_media(color_scheme=theme)
    lab.go(path)
    lab.page.wait_for_timeout(1000)

    found = Axe().run(lab.page).response["violations"]

    assert [one for one in found if one["impact"] in ("serious", "critical")] == []
    assert lab.page.evaluate("document.documentElement.scrollWidth") <= width
