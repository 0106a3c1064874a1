"""How long a moved slider takes to show, beside a bare page: ``python -m tests.benchmarks.latency``.

Both pages are open in one Chromium and take turns, so that whatever else the machine does weighs on both.
"""

import statistics
import time
from pathlib import Path

from playwright.sync_api import Locator, Page, sync_playwright
from threadpoolctl import threadpool_limits

from atnmf_core import factorize, hide_entries, load_dataset
from tests.browser.chromium import launch
from tests.browser.dashboard import Dashboard
from tests.browser.explore import Explore
from tests.browser.server import serve

ROUNDS = 15
ALLOWED = 3.0
# Resolves when the image is another one and can be seen; the time is taken in the browser.
CHANGED = """image => new Promise(done => {
    const before = image.src, start = performance.now();
    const look = () => image.src !== before && image.complete && image.naturalWidth
        ? done(performance.now() - start) : requestAnimationFrame(look);
    window.waiting = true;
    look();
})"""


def milliseconds_to(picture: Locator, page: Page, handle: Locator, key: str) -> float:
    """From a key on a slider's handle to another picture."""
    handle.focus()
    image = picture.element_handle()
    waiting = page.evaluate_handle(f"image => {{ window.changed = ({CHANGED})(image); }}", image)
    page.keyboard.press(key)
    taken = page.evaluate("window.changed")
    waiting.dispose()
    return float(taken)


def solver_milliseconds(lam: float) -> float:
    data = load_dataset("lfw")
    observed = hide_entries(data.shape, 0.2)
    start = time.perf_counter()
    with threadpool_limits(limits=1, user_api="blas"):
        factorize(data.V, observed, K=25, method="atnmf", lam=lam, missing="zero")
    return 1000 * (time.perf_counter() - start)


def measure() -> dict[str, list[float]]:
    taken: dict[str, list[float]] = {"bare": [], "alpha": [], "lambda": [], "solver": []}
    bare_script = Path(__file__).with_name("bare_page.py")
    with (
        sync_playwright() as playwright,
        launch(playwright) as browser,
        serve(bare_script) as bare,
        serve() as app,
    ):
        plain = Dashboard(browser.new_context().new_page(), bare)
        plain.open()
        explore = Explore(Dashboard(browser.new_context().new_page(), app), alpha=0.05, lam=1.01)
        tab = explore.dashboard
        for number in range(ROUNDS):
            picture = plain.page.get_by_test_id("stImage").locator("img")
            taken["bare"].append(
                milliseconds_to(picture, plain.page, plain.slider("Hidden percent"), "ArrowRight")
            )
            plain.wait_until_idle()
            for name, panel, label in (
                ("alpha", "b", "Hidden share α"),
                ("lambda", "e", "Adversary's price λ"),
            ):
                tab.wait_until_idle()
                move = milliseconds_to(explore.panel(panel), explore.page, tab.slider(label), "ArrowRight")
                taken[name].append(move)
            taken["solver"].append(solver_milliseconds(lam=1.1 + number))
            tab.wait_until_idle()
    return taken


def report() -> None:
    """Print the medians and what they are allowed to be."""
    taken = {name: statistics.median(values) for name, values in measure().items()}
    allowed = {"alpha": ALLOWED * taken["bare"], "lambda": ALLOWED * taken["bare"] + taken["solver"]}
    print(f"bare page, one slider and one image   {taken['bare']:6.0f} ms (median of {ROUNDS})")
    print(f"AT-NMF's solver alone                 {taken['solver']:6.0f} ms")
    for name, words in (("alpha", "alpha to the new mask"), ("lambda", "lambda to the new restoration")):
        verdict = "within" if taken[name] <= allowed[name] else "ABOVE"
        print(f"{words:<37} {taken[name]:6.0f} ms, {verdict} {allowed[name]:.0f} ms")


if __name__ == "__main__":
    report()
