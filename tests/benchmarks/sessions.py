"""Ten people at once, then ten others: ``python -m tests.benchmarks.sessions --minutes 1``.

Each session keeps to a face of its own and moves sliders at random. Whatever it sees must be its own: the
original must be its face, and the red pixels must be those of its own alpha. The server's memory rises while
its caches fill, and must then stay: each ten people's memory is told as a series.
"""

import argparse
import os
import random
import subprocess
import time
from dataclasses import dataclass, field

import numpy as np
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from atnmf_core import hide_entries, load_dataset
from atnmf_core.analysis.pictures import white_level
from atnmf_core.figures.palette import grey
from tests.browser.chromium import launch
from tests.browser.dashboard import Dashboard
from tests.browser.explore import Explore
from tests.browser.server import serve

SESSIONS, PATIENCE_SECONDS = 10, 150
SAMPLES = 12
"""Of the memory, over the time that ten people stay."""
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
        if not np.array_equal(self.explore.pixels("a"), grey(v, white_level(v))):
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
    """Resident megabytes of the Streamlit process that this script has started, and of the processes that it
    has started.
    """
    lines = subprocess.run(
        ["ps", "-eo", "pid,ppid,rss,args"], capture_output=True, text=True, check=True
    ).stdout
    running = [line.split(None, 3) for line in lines.splitlines()[1:]]
    me = str(os.getpid())
    server = {pid for pid, parent, _, args in running if parent == me and "streamlit run" in args}
    return sum(int(rss) for pid, parent, rss, _ in running if pid in server or parent in server) / 1024


class Crowd:
    """Ten people who come, move sliders, look at what they got, and leave."""

    def __init__(self, browser: Browser, address: str) -> None:
        self._contexts: list[BrowserContext] = [browser.new_context() for _ in range(SESSIONS)]
        self.people = [
            Person(Explore(Dashboard(context.new_page(), address), image=face), face)
            for face, context in enumerate(self._contexts, start=1)
        ]

    def stay(self, seconds: float) -> list[float]:
        """Move sliders for so long; the server's memory meanwhile."""
        start, memory = time.monotonic(), [memory_of_server()]
        while (gone := time.monotonic() - start) < seconds:
            for person in self.people:
                person.move()
            if gone >= len(memory) * seconds / SAMPLES:
                memory.append(memory_of_server())
        for person in self.people:
            person.look()
        return [*memory, memory_of_server()]

    def leave(self) -> list[str]:
        """Close all pages; everything that was wrong on them."""
        found = []
        for person, context in zip(self.people, self._contexts, strict=True):
            tab = person.explore.dashboard
            found += [f"exception: {box}" for box in tab.exceptions()]
            found += [f"browser error: {problem}" for problem in tab.problems]
            found += [f"mixed up: {words}" for words in person.wrong]
            context.close()
        return found


def report(minutes: float) -> None:
    with sync_playwright() as playwright, launch(playwright) as browser, serve() as address:
        for who in ("ten people", "ten others"):
            crowd = Crowd(browser, address)
            memory = crowd.stay(60 * minutes)
            wrong = crowd.leave()
            moves = sum(person.moves for person in crowd.people)
            print(f"{who}: {moves} moves in {minutes:g} min; exceptions, errors and mix-ups: {len(wrong)}")
            print(f"  server memory, MB: {' '.join(f'{one:.0f}' for one in memory)}", flush=True)
            for words in wrong:
                print(f"  {words}")
        print(f"all have left: {memory_of_server():.0f} MB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Ten sessions at once, and the memory they take.")
    parser.add_argument("--minutes", type=float, default=1.0, help="how long each ten people stay")
    report(parser.parse_args().minutes)
