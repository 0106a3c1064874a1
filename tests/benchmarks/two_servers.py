"""One server and two behind HAProxy, in turns: ``python -m tests.benchmarks.two_servers --people 12``.

People move without a pause between settings whose fits are cached, so that the interpreters of the servers
are what they wait for. It needs Debian's haproxy, and three cores that are free: two servers and the people.
What the people and the proxy themselves take of the processors is told: of two cores, the servers lack it.
"""

import argparse
import os
import statistics
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import cycle
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from tests.browser.server import APP, LOOPBACK, free_port, serve, wait_for_health

from .load import CACHED_KS
from .person import Person, new_browser

CONFIGURATION = Path(__file__).with_name("haproxy.cfg")


@contextmanager
def proxy(first: str, second: str) -> Iterator[str]:
    """HAProxy before two servers; yields its address."""
    address = f"{LOOPBACK}:{free_port()}"
    places = {"FRONT": address, "FIRST": urlsplit(first).netloc, "SECOND": urlsplit(second).netloc}
    process = subprocess.Popen(["haproxy", "-f", CONFIGURATION, "-q"], env=os.environ | places)
    try:
        wait_for_health(process, f"http://{address}")
        yield f"http://{address}"
    finally:
        process.terminate()
        process.wait()


def fill_caches(address: str) -> None:
    with closing(Person(address, "K")) as person:
        person.open()
        for K in CACHED_KS:
            person.move(K)
            while person.is_polling:
                person.rest(1.0)


def moves(address: str, first: int, ends: float) -> list[float]:
    """Seconds that each move of one person took."""
    taken = []
    with closing(Person(address, "K", cookie=new_browser(address))) as person:
        person.open()
        for K in cycle((*CACHED_KS[first:], *CACHED_KS[:first])):
            if time.monotonic() > ends:
                return taken
            taken.append(person.move(K).seconds)
    return taken


def throughput(address: str, people: int, seconds: float) -> tuple[float, float]:
    """Moves per second of all people together, and the 95th percentile of the seconds that one takes."""
    ends = time.monotonic() + seconds
    with ThreadPoolExecutor(people) as pool:
        found = pool.map(lambda one: moves(address, one % len(CACHED_KS), ends), range(people))
        taken = [one for visit in found for one in visit]
    return len(taken) / seconds, statistics.quantiles(taken, n=20)[18]


def busy_seconds() -> dict[str, float]:
    """Seconds of processor that the people, the proxy and the servers have used so far."""
    used = {"people": time.process_time(), "proxy": 0.0, "servers": 0.0}
    for process in psutil.Process().children(recursive=True):
        times = process.cpu_times()
        used["proxy" if process.name() == "haproxy" else "servers"] += times.user + times.system
    return used


def system_seconds() -> float:
    """Seconds of processor that everything on this machine has used so far."""
    times = psutil.cpu_times()
    return float(times.user + times.nice + times.system)


def report(people: int, seconds: float, turns: int) -> None:
    with serve(APP, ATNMF_HOSTED="1") as first, serve(APP, ATNMF_HOSTED="1") as second:
        for server in (first, second):
            fill_caches(server)
        with proxy(first, second) as both:
            rates: dict[str, list[float]] = {"one server": [], "two servers": []}
            for _ in range(turns):
                for name, address in zip(rates, (first, both), strict=True):
                    rates[name].append(turn(name, address, people, seconds))
    one, two = (statistics.median(found) for found in rates.values())
    print(f"two servers answer {two / one:.2f} times as many moves")


def turn(name: str, address: str, people: int, seconds: float) -> float:
    """Moves per second, told with what the processors were busy with meanwhile."""
    before, everything = busy_seconds(), system_seconds()
    rate, p95 = throughput(address, people, seconds)
    used = {who: now - before[who] for who, now in busy_seconds().items()}
    used["others"] = system_seconds() - everything - sum(used.values())
    cores = ", ".join(f"{who} {amount / seconds:.2f}" for who, amount in used.items())
    print(f"{name}, {people} people: {rate:.1f} moves/s, p95 {p95:.2f} s; cores used: {cores}", flush=True)
    return rate


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="One server, and two behind a proxy.")
    parser.add_argument("--people", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=15.0, help="how long each turn takes")
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    report(options.people, options.seconds, options.turns)
