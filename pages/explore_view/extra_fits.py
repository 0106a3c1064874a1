"""Errors of fits for comparison, which nobody has asked for: computed while the user is idle, dropped when
they move on.
"""

from __future__ import annotations

import time
from collections.abc import Collection

from atnmf_core import Dataset
from pages.common import fit_pair
from pages.common.fit_cache import fit_cache
from pages.common.setting import FitKey
from pages.common.visitors import visitor

REST_SECONDS = 1.0
RETRY_SECONDS = 60.0


def known_errors(keys: tuple[FitKey, FitKey]) -> tuple[float, float] | None:
    """RMSE over hidden entries of AT-NMF and of NMF, if both are known."""
    cache = fit_cache()
    atnmf, nmf = (cache.rmse_hidden(key) for key in keys)
    return None if atnmf is None or nmf is None else (atnmf, nmf)


def missing(keys: Collection[FitKey]) -> list[FitKey]:
    """The keys whose error is not known, except those that have just failed."""
    cache = fit_cache()
    failed = {key: cache.failure(key) for key in keys if cache.rmse_hidden(key) is None}
    return [key for key, why in failed.items() if why is None or why.may_be_over(RETRY_SECONDS)]


def failures(keys: Collection[FitKey]) -> list[BaseException]:
    """Why errors that should be known are not."""
    cache = fit_cache()
    found = (cache.failure(key) for key in keys if cache.rmse_hidden(key) is None)
    return [failure.error for failure in found if failure is not None]


def request_errors(keys: Collection[FitKey], data: Dataset, *, long: bool = False) -> None:
    """Compute the missing errors, in this order, when there is nothing more urgent to do."""
    for key in missing(keys):
        fit_cache().start_error(key, data, fit_pair.mask_of(key.mask, data), visitor(), long=long)


def has_rested(since: float) -> bool:
    """Whether the user has been idle since the page was drawn; only a fragment's timer gets to see that."""
    return time.monotonic() - since >= 0.9 * REST_SECONDS
