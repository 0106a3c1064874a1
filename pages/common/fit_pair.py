"""From a setting to its mask and to the two fits that every picture compares."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import NamedTuple

from cachetools import LRUCache, cached

from atnmf_core import Dataset, hide_entries
from atnmf_core.problem import Mask
from atnmf_core.running.cost import expected_seconds
from atnmf_core.running.run import Run
from atnmf_core.running.scheduler import Job

from .fit_cache import fit_cache
from .setting import FitKey, MaskKey, Setting
from .visitors import visitor

Keys = tuple[FitKey, FitKey]
"""Those of AT-NMF's fit and of NMF's."""
MAX_MASK_BYTES = 100_000_000
LIVE_SECONDS = 1.5
"""Fits that take less are solved as soon as a control moves; longer ones wait for Run."""


class Pair(NamedTuple):
    """The two fits of a setting."""

    atnmf: Run
    nmf: Run


def mask(setting: Setting, data: Dataset) -> Mask:
    """Which entries are observed; missing ones are not."""
    return mask_of(setting.mask_key(data.content_hash), data)


@cached(LRUCache(MAX_MASK_BYTES, lambda mask: mask.nbytes), key=lambda key, data: key, lock=threading.Lock())
def mask_of(key: MaskKey, data: Dataset) -> Mask:
    """The mask of a key for the data that it names."""
    not_hidden = hide_entries(data.shape, key.alpha, key.seed, key.pattern, data.image_shape, data.order)
    observed = not_hidden & data.observed
    observed.flags.writeable = False
    return observed


def keys(setting: Setting, data: Dataset) -> Keys:
    return keys_of(setting, data.content_hash)


def keys_of(setting: Setting, content_hash: str) -> Keys:
    """The keys for the data with this hash."""
    return setting.fit_key(content_hash, "atnmf"), setting.fit_key(content_hash, "nmf")


def cached_pair(setting: Setting, data: Dataset) -> Pair | None:
    """Both fits, if they are cached."""
    atnmf, nmf = (fit_cache().get(key) for key in keys(setting, data))
    return None if atnmf is None or nmf is None else Pair(atnmf, nmf)


def expected(setting: Setting, data: Dataset) -> float:
    """Seconds that the fits still missing will take."""
    missing = [key for key in keys(setting, data) if fit_cache().get(key) is None]
    how = {"solver": setting.solver, "missing": setting.missing}
    return sum(expected_seconds(data.shape, setting.K, start=key.start, **how) for key in missing)


def start(setting: Setting, data: Dataset, *, long: bool) -> None:
    """Start those of the two fits that are not cached."""
    for key in keys(setting, data):
        fit_cache().start(key, data, mask(setting, data), visitor(), long=long)


def solve_both(setting: Setting, data: Dataset) -> Pair:
    """Wait for both fits."""
    start(setting, data, long=False)
    observed = mask(setting, data)
    return Pair(*(fit_cache().solve(key, data, observed, visitor()) for key in keys(setting, data)))


def jobs(setting: Setting, data: Dataset) -> list[Job]:
    """The fits of this setting that are under way, whoever started them."""
    found = (fit_cache().job(key) for key in keys(setting, data))
    return [job for job in found if job is not None]


def other_treatment(setting: Setting) -> Setting:
    return replace(setting, missing="ignore" if setting.missing == "zero" else "zero")
