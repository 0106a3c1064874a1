"""Runs mutants through the reader and says what came out."""

from __future__ import annotations

import resource
import signal
import sys
import warnings
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from types import FrameType

from atnmf_core.datasets import Limits, UnreadableData, read_dataset

from .mutate import mutated
from .seeds import SEEDS, File

LIMITS = Limits(entries=500_000, bytes=8 << 20, members=200)
# Processor time, so that a busy machine is not taken for a hang; the clock on the wall catches what waits for
# ever.
LONGEST_SECONDS = 5.0
LONGEST_BY_THE_CLOCK = 60.0
# What a reader within LIMITS may need: the file, its unpacked contents and a few copies of 500,000 float64
# entries.
MOST_MEGABYTES = 100


class Hang(BaseException):
    """Raised by the alarm clock; no `except Exception` on the way can swallow it."""


@dataclass
class Tally:
    read: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)


def case(number: int, formats: list[str], seeds: dict[str, list[File]]) -> tuple[str, list[File]]:
    """The mutant of this number: the same number always gives the same files."""
    random = Random(number)
    form = formats[number % len(formats)]
    other = random.choice(seeds[random.choice(formats)])[1]
    return form, mutated(seeds[form], random, other)


def run(count: int, formats: list[str]) -> Tally:
    """Read `count` mutants. Where a library takes the process down with it, the last case printed did it."""
    seeds = {form: SEEDS[form]() for form in SEEDS}
    for form in formats:
        read_dataset(seeds[form], limits=LIMITS)  # a seed that cannot be read would test nothing
    tally = Tally()
    before = most = _peak_megabytes()
    for alarm in (signal.SIGPROF, signal.SIGALRM):
        signal.signal(alarm, _ring)
    for number in range(count):
        print(f"case {number}", file=sys.stderr, flush=True)
        form, files = case(number, formats, seeds)
        _one(tally, number, form, files)
        if _peak_megabytes() > max(before + MOST_MEGABYTES, most):
            most = _peak_megabytes()
            tally.violations.append(f"case {number} ({form}): memory grew by {most - before:.0f} MB")
    return tally


def _one(tally: Tally, number: int, form: str, files: list[File]) -> None:
    signal.setitimer(signal.ITIMER_PROF, LONGEST_SECONDS)
    signal.setitimer(signal.ITIMER_REAL, LONGEST_BY_THE_CLOCK)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            read_dataset(files, limits=LIMITS, negative="zero")
        tally.read[form] += 1
    except UnreadableData as refusal:
        tally.refused[form] += 1
        if not str(refusal) or len(str(refusal)) > 2000 or "\n" in str(refusal):
            tally.violations.append(f"case {number} ({form}): the message is {str(refusal)[:200]!r}")
    except Hang:
        tally.violations.append(f"case {number} ({form}): did not end")
    except Exception as error:  # noqa: BLE001 - to find whatever leaves the reader is what fuzzing is for
        tally.violations.append(f"case {number} ({form}): {type(error).__name__}: {error}")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)


def _ring(signum: int, frame: FrameType | None) -> None:
    raise Hang


def _peak_megabytes() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return max(own, children) / 1024
