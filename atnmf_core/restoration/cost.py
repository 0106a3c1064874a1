"""Roughly how long a restoration will take, for people to know before they start it."""

from __future__ import annotations

from ..running.cost import expected_seconds
from .candidates import default_Ks
from .choice import Losses
from .search import MAX_ENTRIES

# Processor seconds on bundled data and Moffett Field, as multiples of one fit with `TYPICAL_K`.
SEARCH_FITS = {"unmarked": 100, "marked": 25}
FINAL_FITS = {"unmarked": 16, "marked": 8}
TYPICAL_K = 8


def expected_restore_seconds(
    shape: tuple[int, int], losses: Losses, *, K: int | None = None, workers: int = 1
) -> float:
    """Seconds that `restore` takes for an F x N matrix on a current machine.

    Parameters
    ----------
    losses : as in `restore`.
    K : number of parts; None if it is searched for, with lam and leash.
    workers : processes that the search runs on.
    """
    F, N = shape
    parts = K or min(TYPICAL_K, max(default_Ks(shape, F * N)))
    seconds = FINAL_FITS[losses] * expected_seconds(shape, parts)
    if K is None:
        sample = (F, min(N, MAX_ENTRIES[losses] // F + 1))
        seconds += SEARCH_FITS[losses] * expected_seconds(sample, parts) / workers
    return seconds
