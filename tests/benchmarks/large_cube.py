"""A cube of 307 x 307 pixels and 162 bands in the dashboard: ``python -m tests.benchmarks.large_cube``.

How long it takes to be shown and fitted, how quickly the page answers a click meanwhile, and what memory the
server and the processes of its fits take at most.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.chromium import launch
from tests.browser.dashboard import Dashboard
from tests.browser.hyperspectral import Hyperspectral
from tests.browser.server import serve

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
PATIENCE = 300_000


def resident_bytes(command: str) -> int:
    """Of all processes that run below this one and whose command line has these words."""
    parents, commands = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            commands[int(folder.name)] = (folder / "cmdline").read_text()
        except OSError:
            continue

    def is_ours(process: int) -> bool:
        while process in parents and process != os.getpid():
            process = parents[process]
        return process == os.getpid()

    total = 0
    for process, words in commands.items():
        if command in words and is_ours(process):
            try:
                total += int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE_BYTES
            except OSError:
                continue
    return total


@contextmanager
def watched_memory() -> Iterator[dict[str, int]]:
    """The most that the server and its fits were seen to take together, and each alone."""
    most = {"server": 0, "fits": 0, "together": 0}
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.1):
            server, fits = resident_bytes("streamlit\0run"), resident_bytes("atnmf_core.running.task_process")
            for name, taken in (("server", server), ("fits", fits), ("together", server + fits)):
                most[name] = max(most[name], taken)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield most
    finally:
        done.set()
        watcher.join()


def seconds_for(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def report() -> None:
    with (
        sync_playwright() as playwright,
        serve() as address,
        launch(playwright) as browser,
        watched_memory() as most,
    ):
        cube = Hyperspectral(Dashboard(browser.new_context().new_page(), address), (307, 307))
        page = cube.page
        before = most["together"]
        page.get_by_text("307²").click()
        shown = seconds_for(lambda: page.get_by_text("This setting takes about").wait_for(timeout=PATIENCE))
        estimate = page.get_by_text("This setting takes about").inner_text()
        cube.dashboard.wait_until_idle()
        page.get_by_role("button", name="Run").click()
        began = time.perf_counter()
        page.get_by_role("button", name="Cancel").wait_for(timeout=PATIENCE)
        answers = []
        while not page.get_by_text("Against the true materials").is_visible():
            answers.append(seconds_for(lambda: _move(cube)))
        fitted = time.perf_counter() - began
    print(f"307 x 307 x 162: shown after {shown:.1f} s, fitted by both methods after {fitted:.1f} s")
    print(f"the page said: {estimate}")
    print(f"{len(answers)} clicks meanwhile, answered within {max(answers, default=0):.2f} s")
    print(
        "most memory: "
        + ", ".join(f"{name} {taken / 1e9:.2f} GB" for name, taken in most.items())
        + f" ({before / 1e9:.2f} GB before)"
    )


def _move(cube: Hyperspectral) -> None:
    """One pixel to the right, until its spectrum is there."""
    name = cube.page.locator(".place").inner_text()
    cube.page.locator(".views").press("ArrowRight")
    cube.page.wait_for_function(
        "before => { const find = (root) => { for (const one of root.querySelectorAll('*')) {"
        " if (one.className === 'place') return one;"
        " const inside = one.shadowRoot && find(one.shadowRoot); if (inside) return inside; } };"
        " const now = find(document); return now && now.textContent !== before; }",
        arg=name,
        timeout=PATIENCE,
    )


if __name__ == "__main__":
    report()
