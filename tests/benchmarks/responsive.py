"""Whether the Curves page answers while a sweep runs: ``python -m tests.benchmarks.responsive``.

A sweep of 200 fits runs from its first to its last. Meanwhile a slider of the page is moved about twice a
second, and timed until the page tells the new number of fits; the same is done before and afterwards, when
nothing runs. The server's memory is told as a series.
"""

import os
import re
import statistics
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from atnmf_core.sweep import default_store, open_store
from atnmf_core.sweep.queue import Queue
from tests.browser.chromium import launch
from tests.browser.curves import Curves
from tests.browser.dashboard import Dashboard
from tests.browser.server import serve

from .sessions import memory_of_server

SWEEP = {"data": "lfw", "K": 49, "count": 39, "starts": 5, "alphas": "0.3", "missing": "ignore"}
FITS = 200
IDLE_MOVES, PAUSE_MS = 16, 300
"""An even number, so that the sweep is the one that the address describes."""
ALLOWED = 3.0
SECONDS = 600
# Resolves when the sidebar tells another number of fits; the time is taken in the browser.
CHANGED = """() => {
    const sidebar = document.querySelector('[data-testid="stSidebar"]');
    const told = () => sidebar.innerText.match(/[\\d,]+ fits/)?.[0];
    const before = told();
    window.changed = new Promise(done => {
        document.addEventListener('keydown', () => {
            const start = performance.now();
            const look = () => told() !== before
                ? done(performance.now() - start) : requestAnimationFrame(look);
            look();
        }, {once: true, capture: true});
    });
}"""


class Mover:
    """Moves the number of starts up and down, around that of the sweep."""

    def __init__(self, curves: Curves) -> None:
        self._page = curves.page
        self._handle = curves.dashboard.slider("Starts")
        self._up = True

    def milliseconds(self) -> float:
        """From one key to the number of fits that it means."""
        self._handle.focus()
        self._page.evaluate(CHANGED)
        self._page.keyboard.press("ArrowRight" if self._up else "ArrowLeft")
        self._up = not self._up
        return float(self._page.evaluate("window.changed"))

    def several(self, number: int) -> list[float]:
        taken = []
        for _ in range(number):
            taken.append(self.milliseconds())
            self._page.wait_for_timeout(PAUSE_MS)
        return taken


def measure() -> tuple[dict[str, list[float]], list[float], float]:
    """Milliseconds before, during and after the sweep; megabytes meanwhile; seconds that the sweep took."""
    with sync_playwright() as playwright, launch(playwright) as browser, serve() as address:
        curves = Curves(Dashboard(browser.new_context().new_page(), address), **SWEEP)
        mover = Mover(curves)
        taken = {"before": mover.several(IDLE_MOVES), "during": []}
        curves.start()
        began = time.monotonic()
        memory = [memory_of_server()]
        end = re.compile(rf"{FITS} of {FITS} fits, in")
        while not curves.page.get_by_text(end).first.is_visible():
            if time.monotonic() - began > SECONDS:
                raise TimeoutError(f"the sweep was not through after {SECONDS} s")
            taken["during"] += mover.several(1)
            memory.append(memory_of_server())
        seconds = time.monotonic() - began
        curves.dashboard.wait_until_idle()
        taken["after"] = mover.several(IDLE_MOVES)
        memory.append(memory_of_server())
        curves.dashboard.check()
    return taken, memory, seconds


def report() -> None:
    """Print medians, the ratio, and the memory."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ATNMF_STORE"] = str(Path(folder) / "store.sqlite")
        try:
            taken, memory, seconds = measure()
        finally:
            with open_store(default_store()) as store:
                for record in store.sweeps():
                    Queue(store).cancel(record.name)
    middle = {name: statistics.median(values) for name, values in taken.items()}
    for name, values in taken.items():
        print(f"{name:<7} {middle[name]:5.0f} ms, {max(values):5.0f} at worst ({len(values)} moves)")
    ratio = middle["during"] / statistics.median(taken["before"] + taken["after"])
    verdict = "within" if ratio <= ALLOWED else "ABOVE"
    print(f"{FITS} fits in {seconds:.0f} s; meanwhile {ratio:.2f} times as long, {verdict} {ALLOWED:g} times")
    step = max(1, len(memory) // 12)
    print(f"server memory, MB: {' '.join(f'{one:.0f}' for one in (*memory[:-1:step], memory[-1]))}")


if __name__ == "__main__":
    report()
