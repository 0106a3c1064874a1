"""Tasks that are run in other processes: quick ones, endless ones and bad ones."""

import os
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from atnmf_core.jobs.processes import Report


class Stubborn(Exception):
    def __reduce__(self) -> str:
        raise TypeError("no")


class Endless:
    """Something whose pickle does not come to an end, as if its sender had been stopped in the middle."""

    def __reduce__(self) -> tuple[object, ...]:
        return list, (), None, (np.zeros(1000) for _ in iter(int, 1))


def one(report: Report) -> int:
    return 1


def same(report: Report, value: object) -> object:
    return value


def note(report: Report, path: Path, word: str, seconds: float = 0.0) -> str:
    """Add a word to a file, so that the order of tasks can be read."""
    with path.open("a") as file:
        file.write(f"{word}\n")
    time.sleep(seconds)
    return word


def wait_for(report: Report, path: Path) -> None:
    """Goes on until a file is there, reporting all the time."""
    while not path.exists():
        report("waiting")
        time.sleep(0.01)


def report_for_ever(report: Report) -> None:
    for number in iter(int, 1):
        report(number)
        time.sleep(0.01)


def sleep_for_ever(report: Report) -> None:
    time.sleep(3600)


def send_for_ever(report: Report) -> Endless:
    return Endless()


def leave(report: Report) -> None:
    os._exit(3)


def raise_stubborn(report: Report) -> None:
    raise Stubborn("not to be pickled")


def print_much(report: Report) -> int:
    for _ in range(1000):
        print("a library says something")
    return 1


def die_once(report: Report, path: Path) -> int:
    if not path.exists():
        path.touch()
        os._exit(1)
    return 1


def report_stages(report: Report) -> None:
    """Many reports in no time, in two stages."""
    for stage in ("first", "second"):
        for _ in range(5):
            report(SimpleNamespace(stage=stage))
