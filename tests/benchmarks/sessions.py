"""Ten people at once for a minute: ``python -m tests.benchmarks.sessions``.

Each session keeps to a face of its own and moves sliders at random. Whatever it sees must be its own: the
original must be its face, and the number of red pixels must be that of its own alpha.
"""

import os
import random
import subprocess
import time
from dataclasses import dataclass, field

import numpy as np
from playwright.sync_api import Browser, sync_playwright

from atnmf_core import hide_entries, load_dataset
from atnmf_core.figures.palette import grey
from atnmf_core.figures.panels import grey_top
from tests.browser.chromium import launch
from tests.browser.dashboard import Dashboard
from tests.browser.explore import Explore
from tests.browser.server import serve

SESSIONS, SECONDS, PATIENCE_SECONDS = 10, 60, 150
SLIDERS = ("Hidden share α", "Adversary's price λ", "Parts K")
RED = (0xE5, 0x38, 0x3B)


@dataclass
class Person:
    """One session, its face, and what it found wrong."""

    explore: Explore
    face: int
    moves: int = 0
    wrong: list[str] = field(default_factory=list)

    def move(self) -> None:
        handle = self.explore.dashboard.slider(random.choice(SLIDERS))
        for _ in range(random.randint(1, 4)):
            handle.press(random.choice(("ArrowLeft", "ArrowRight")))
            self.moves += 1

    def look(self) -> None:
        """Compare what is shown with what this session asked for."""
        data = load_dataset("lfw")
        v = data.image(data.V[:, self.face - 1])
        alpha = float(self.explore.dashboard.slider(SLIDERS[0]).get_attribute("aria-valuetext"))
        hidden = ~data.image(hide_entries(data.shape, alpha)[:, self.face - 1])
        if not np.array_equal(self.explore.pixels("a"), grey(v, grey_top(v))):
            self.wrong.append(f"face {self.face} shows another face")
        if not self._comes_to_show(hidden):
            share = (self.explore.pixels("b") == RED).all(axis=2).mean()
            self.wrong.append(f"face {self.face} at alpha {alpha} hides {share:.0%}: {self.explore.page.url}")
        if f"face {self.face} restored" not in (self.explore.panel("e").get_attribute("alt") or ""):
            self.wrong.append(f"face {self.face} shows the restoration of another")

    def _comes_to_show(self, hidden: np.ndarray) -> bool:
        """Whether these pixels are red, now or after the last move has reached the server."""
        ends = time.monotonic() + PATIENCE_SECONDS
        while not np.array_equal((self.explore.pixels("b") == RED).all(axis=2), hidden):
            if time.monotonic() > ends:
                return False
            self.explore.page.wait_for_timeout(200)
        return True


def memory_of_server() -> float:
    """Resident megabytes of the Streamlit process that this script has started."""
    lines = subprocess.run(["ps", "-eo", "ppid,rss,args"], capture_output=True, text=True, check=True).stdout
    own = [line.split(None, 2) for line in lines.splitlines()[1:]]
    me = str(os.getpid())
    return sum(int(rss) for ppid, rss, args in own if ppid == me and "streamlit run" in args) / 1024


def people(browser: Browser, address: str) -> list[Person]:
    faces = range(1, SESSIONS + 1)
    return [
        Person(Explore(Dashboard(browser.new_context().new_page(), address), image=face), face)
        for face in faces
    ]


def report() -> None:
    with sync_playwright() as playwright, launch(playwright) as browser, serve() as address:
        crowd = people(browser, address)
        memory = [memory_of_server()]
        ends = time.monotonic() + SECONDS
        while time.monotonic() < ends:
            for person in crowd:
                person.move()
            memory.append(memory_of_server())
        for person in crowd:
            person.look()
        memory.append(memory_of_server())
        problems = [problem for person in crowd for problem in person.explore.dashboard.problems]
        boxes = [box for person in crowd for box in person.explore.dashboard.exceptions()]
    wrong = [words for person in crowd for words in person.wrong]
    print(f"{SESSIONS} sessions, {sum(person.moves for person in crowd)} moves in {SECONDS} s")
    print(f"exceptions {len(boxes)}, browser errors {len(problems)}, mixed-up pictures {len(wrong)}")
    first, most, last = memory[0], max(memory), memory[-1]
    print(f"server memory {first:.0f} MB at first, {most:.0f} MB at most, {last:.0f} MB at the end")
    for words in (*boxes, *problems, *wrong):
        print(f"  {words}")


if __name__ == "__main__":
    report()
