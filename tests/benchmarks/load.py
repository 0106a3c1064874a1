"""Many people at once, at the protocol: ``python -m tests.benchmarks.load --people 10``.

Each moves a slider every few seconds, on Explore and on a bare page in turns, so that whatever else the
machine does weighs on both. Before that one person moves between settings whose fits are cached: what that
costs the server's processor and the wire.

With ``--people 25 --memory 10`` they stay on Explore for ten minutes, and the server's memory is told every
minute, how it changed in the second half of the time, and what it is after they have left. It rises in the
first minutes, until the caches are full: each minute has fits of its own.
"""

import argparse
import random
import statistics
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import psutil

from pages.common.hosting import COLLECT_SECONDS
from tests.browser.server import APP, serve

from .person import FAILURES, Answer, Person

PAGES = {"explore": (APP, "K"), "bare": (Path(__file__).with_name("bare_page.py"), "percent")}
PAUSE_SECONDS = 4.0
LAST_SECONDS = 10.0
FORGET_SECONDS = 10
CACHED_KS, ROUNDS = (20, 21, 22, 23, 24, 26), 6
"""More than a browser caches messages of."""


def server_of(script: Path) -> psutil.Process:
    """The server of a script that this process has started."""
    return next(one for one in psutil.Process().children() if str(script) in one.cmdline())


def megabytes(server: psutil.Process) -> float:
    total = 0
    for one in (server, *server.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            total += one.memory_info().rss
    return total / 1e6


def fill_cache(person: Person) -> None:
    person.open()
    for K in CACHED_KS:
        person.move(K)
        while person.is_polling:
            person.rest(1.0)


def cached_move(address: str, server: psutil.Process) -> tuple[float, float]:
    """Milliseconds of the server's processor and kilobytes on the wire, per move between cached fits."""
    with closing(Person(address, "K")) as person:
        fill_cache(person)
        before = server.cpu_times()
        answers = [person.move(K) for _ in range(ROUNDS) for K in CACHED_KS]
        after = server.cpu_times()
    seconds = after.user + after.system - before.user - before.system
    kilobytes = statistics.mean(answer.wire_bytes for answer in answers) / 1e3
    return 1e3 * seconds / len(answers), kilobytes


def visit(address: str, slider: str, seconds: float, query: str = "") -> tuple[list[Answer], list[str]]:
    """One person's moves, and what went wrong."""
    ends, answers = time.monotonic() + seconds, []
    time.sleep(random.uniform(0, PAUSE_SECONDS))
    try:
        person = Person(address, slider, query)
        person.open()
        while time.monotonic() < ends:
            person.rest(PAUSE_SECONDS * random.uniform(0.5, 1.5))
            value = random.randint(5, 40)
            answers.append(person.move(value))
            if slider == "K" and not _shows_own_setting(person, value):
                return answers, [f"not K = {value} is shown, but {person.shown_K}"]
        if answers and not _comes_to_rest(person, answers[-1]):
            return answers, [f"the last setting is not shown after {LAST_SECONDS:.0f} s"]
        person.close()
    except FAILURES as error:
        return answers, [f"{type(error).__name__}: {error}"]
    return answers, [words for answer in answers for words in answer.exceptions]


def _shows_own_setting(person: Person, value: int) -> bool:
    """Whether nothing but the person's own setting is shown. A run that a fragment had asked for just before
    the move may end first, with the setting before: then the move's own run follows.
    """
    if person.is_current and person.shown_K != value:
        person.rest(1.0)
    return not person.is_current or person.shown_K == value


def _comes_to_rest(person: Person, answer: Answer) -> bool:
    """Whether what was asked for last is shown, now or after so many seconds."""
    ends = time.monotonic() + LAST_SECONDS - answer.seconds
    while not person.is_current and time.monotonic() < ends:
        person.rest(0.5)
    return person.is_current


def crowd(
    address: str, slider: str, people: int, seconds: float, *, seed: int | None = None
) -> tuple[list[float], list[str]]:
    """Seconds until each move was answered, and every failure. With a seed the fits of these people are not
    those of people before.
    """
    query = "" if seed is None else f"seed={seed}"
    with ThreadPoolExecutor(people) as pool:
        visits = list(pool.map(lambda _: visit(address, slider, seconds, query), range(people)))
    taken = [answer.seconds for answers, _ in visits for answer in answers]
    return taken, [words for _, failures in visits for words in failures]


def memory(people: int, minutes: int) -> None:
    """Print the server's memory while people come and go, each for a minute, and after they have left."""
    with serve(APP, f"--server.disconnectedSessionTTL={FORGET_SECONDS}") as address:
        server, series = server_of(APP), []
        for minute in range(1, minutes + 1):
            taken, failures = crowd(address, "K", people, 60.0, seed=minute)
            series.append(megabytes(server))
            print(f"minute {minute}: {len(taken)} moves, {series[-1]:.0f} MB", flush=True)
            for words, times in Counter(failures).items():
                print(f"  {times} times: {words}", flush=True)
        time.sleep(FORGET_SECONDS)
        # Streamlit forgets who has left when somebody else leaves.
        visit(address, "K", 1.0)
        time.sleep(COLLECT_SECONDS)
        half = series[minutes // 2 :]
        print(f"from minute {minutes - len(half) + 1} to {minutes}: {half[-1] - half[0]:+.0f} MB")
        print(f"all have left: {megabytes(server):.0f} MB")


def report(people: int, seconds: float, turns: int) -> None:
    with ExitStack() as stack:
        addresses = {name: stack.enter_context(serve(script)) for name, (script, _) in PAGES.items()}
        servers = {name: server_of(script) for name, (script, _) in PAGES.items()}
        cost, kilobytes = cached_move(addresses["explore"], servers["explore"])
        print(f"a move between cached fits: {cost:.0f} ms of processor, {kilobytes:.0f} kB", flush=True)
        taken: dict[str, list[float]] = {name: [] for name in PAGES}
        for _ in range(turns):
            for name, (_, slider) in PAGES.items():
                found, failures = crowd(addresses[name], slider, people, seconds)
                taken[name] += found
                for words, times in Counter(failures).items():
                    print(f"  {name}, {times} times: {words}", flush=True)
        quantiles = {name: statistics.quantiles(values, n=20) for name, values in taken.items()}
        for name, values in taken.items():
            p50, p95 = quantiles[name][9], quantiles[name][18]
            print(f"{people} people, {name}: {len(values)} moves, p50 {p50:.2f} s, p95 {p95:.2f} s, ", end="")
            print(f"{megabytes(servers[name]):.0f} MB")
        p50, p95 = (quantiles["explore"][place] / quantiles["bare"][place] for place in (9, 18))
        print(f"explore takes {p50:.1f} times as long as the bare page, at p95 {p95:.1f} times")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Many people at once on Explore and on a bare page.")
    parser.add_argument("--people", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=30.0, help="how long each turn takes")
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--memory", type=int, metavar="MINUTES", help="watch the server's memory instead")
    options = parser.parse_args()
    if options.memory:
        memory(options.people, options.memory)
    else:
        report(options.people, options.seconds, options.turns)
