"""How much memory and time the decoding of one file may take."""

import math
import os
import signal
from contextlib import suppress

MEGABYTE = 1 << 20
# SciPy unpacks 128 kB of a MATLAB file at once, which can grow a thousandfold, and joins the pieces.
SPARE = 320 * MEGABYTE
LEAST_SECONDS = 3
BYTES_PER_SECOND = 20 * MEGABYTE
# On a busy machine CPU time passes more slowly than the clock.
CLOCK_PER_PROCESSOR_SECOND = 6


def bound(extra_bytes: int) -> None:
    """Limit the process to this much memory beyond what it has now, and to a matching time."""
    try:
        import resource
    except ImportError:  # Windows has no such limits; the parent's clock remains
        return
    statm = "/proc/self/statm"
    if os.path.exists(statm):
        with open(statm) as pages:
            present = int(pages.read().split()[0]) * resource.getpagesize()
    else:
        present = 1024 * MEGABYTE
    used = resource.getrusage(resource.RUSAGE_SELF)
    allowed = LEAST_SECONDS + extra_bytes / BYTES_PER_SECOND
    # No handler: the alarm ends the process even inside a library that loops or waits.
    signal.alarm(math.ceil(CLOCK_PER_PROCESSOR_SECOND * allowed))
    seconds = used.ru_utime + used.ru_stime + allowed
    for limit, value in (
        (resource.RLIMIT_AS, present + extra_bytes + SPARE),
        (resource.RLIMIT_CPU, math.ceil(seconds)),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(limit)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        with suppress(ValueError, OSError):  # macOS lacks some limits; the parent's clock remains
            resource.setrlimit(limit, (value, hard))
