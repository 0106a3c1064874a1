"""From a setting to its two fits: at once where that is quick, on request where it is not."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import streamlit as st

from atnmf_core import Dataset, hide_entries
from atnmf_core.running.cost import expected_seconds

from .fit_cache import Job, Run, store
from .kept import Kept
from .setting import FitKey, MaskKey, Setting

__all__ = [
    "LIVE_SECONDS",
    "Pair",
    "expected",
    "jobs",
    "kept_pair",
    "keys",
    "mask",
    "mask_of",
    "other_treatment",
    "solve_now",
    "start",
    "wait_a_little",
]

Mask = npt.NDArray[np.bool_]
MASK_BYTES = 100_000_000
LIVE_SECONDS = 1.5
PATIENCE_SECONDS = 4.0
"""A fit that was expected to be quick and is not holds up nothing else for longer than this."""


@dataclass(frozen=True, eq=False)
class Pair:
    """The two fits that every picture compares."""

    atnmf: Run
    nmf: Run


def mask(setting: Setting, data: Dataset) -> Mask:
    """Which entries stay observed; those that V does not have are hidden anyway."""
    return mask_of(setting.mask_key(data.content_hash), data)


def mask_of(key: MaskKey, data: Dataset) -> Mask:
    """The mask of a key; the data must be the one that it names."""
    kept = _masks().get(key)
    if kept is not None:
        return kept
    hidden_by_us = hide_entries(data.shape, key.alpha, key.seed, key.pattern, data.image_shape, data.order)
    observed = hidden_by_us & data.observed
    observed.flags.writeable = False
    _masks().keep(key, observed)
    return observed


@st.cache_resource(show_spinner=False)
def _masks() -> Kept[MaskKey, Mask]:
    return Kept(MASK_BYTES, lambda mask: mask.nbytes)


def keys(setting: Setting, data: Dataset) -> tuple[FitKey, FitKey]:
    return setting.fit_key(data.content_hash, "atnmf"), setting.fit_key(data.content_hash, "nmf")


def kept_pair(setting: Setting, data: Dataset) -> Pair | None:
    """Both fits, where they are already there."""
    atnmf, nmf = (store().get(key) for key in keys(setting, data))
    return None if atnmf is None or nmf is None else Pair(atnmf, nmf)


def expected(setting: Setting, data: Dataset) -> float:
    """Seconds that the fits still missing will take."""
    missing = [key for key in keys(setting, data) if store().get(key) is None]
    how = {"solver": setting.solver, "missing": setting.missing}
    return sum(expected_seconds(data.shape, setting.K, start=key.start, **how) for key in missing)


def solve_now(setting: Setting, data: Dataset) -> Pair:
    """Both fits, waited for."""
    observed = mask(setting, data)
    atnmf, nmf = (store().solve(key, data, observed) for key in keys(setting, data))
    return Pair(atnmf, nmf)


def start(setting: Setting, data: Dataset, *, long: bool) -> None:
    """Begin what is missing of both fits."""
    for key in keys(setting, data):
        store().start(key, data, mask(setting, data), long=long)


def wait_a_little(setting: Setting, data: Dataset) -> Pair | None:
    """Both fits, where they are there or come in a moment; long ones are not waited for."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    short = [job for job in jobs(setting, data) if not job.long]
    with ExitStack() as waiting:
        # For all of them from now on: the second must not be given up while the first is made.
        for job in short:
            waiting.enter_context(job.wanted())
        for job in short:
            job.wait(max(0.0, deadline - time.monotonic()))
    return kept_pair(setting, data)


def jobs(setting: Setting, data: Dataset) -> list[Job]:
    """The fits of this setting that are under way, whoever began them."""
    found = (store().job(key) for key in keys(setting, data))
    return [job for job in found if job is not None]


def other_treatment(setting: Setting) -> Setting:
    return replace(setting, missing="ignore" if setting.missing == "zero" else "zero")
