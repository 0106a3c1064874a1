"""Asking for a restoration, and what the page shows until it is there: a button, progress and Cancel."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import streamlit as st

from atnmf_core import Dataset, Restoration
from atnmf_core.figures.restoration import error_against_K
from atnmf_core.restoration import Choice, ChoiceProgress
from atnmf_core.restoration.bench import (
    Errors,
    Outcome,
    RestoreTask,
    damaged_dataset,
    run_task,
    search_workers,
)
from atnmf_core.restoration.cost import TYPICAL_K, expected_restore_seconds
from atnmf_core.restoration.examples import bundled
from atnmf_core.restoration.lines import bad_lines
from atnmf_core.restoration.suspects import restored_at, suspects_at
from atnmf_core.running.duration import in_words
from atnmf_core.sweep import default_store
from pages.common.address import change
from pages.common.background import scheduler
from pages.common.markdown import plain
from pages.common.visitors import long_fit_refusal, visitor

from .outcomes import POLL_SECONDS, outcomes, show_progress
from .setting import RestoreSetting

SECONDS_TO_START = 3.0
"""Until the processes of a restoration have begun."""


class Key(NamedTuple):
    """What determines a restoration. `data` is a content hash."""

    data: str
    task: RestoreTask

    @property
    def name(self) -> str:
        """As an address has it, spelled so that links from before still name the same task."""
        fields = f"Key(data={self.data!r}, order={self.task!r})".replace("RestoreTask(", "Order(")
        kept = "keep_suspects" if self.task.keep_suspects else ""
        return hashlib.sha256(f"{fields}{kept}".encode()).hexdigest()[:16]


class Restored(NamedTuple):
    """What the page shows: the data as it was before it was damaged and as it was restored from.

    `wrong` and `errors` are known only for damage done on purpose.
    """

    truth: Dataset | None
    data: Dataset
    wrong: npt.NDArray[np.bool_] | None
    restoration: Restoration
    errors: Errors | None


def at_threshold(setting: RestoreSetting, shown: Restored) -> Restored:
    """With the suspects at the current threshold in place of those that the restoration named."""
    data, named = shown.data, shown.restoration
    if setting.losses == "marked" or (setting.threshold == 1 and setting.side == "both"):
        return shown
    suspects = suspects_at(data, named, setting.threshold, setting.side)
    replaced = suspects | ~data.observed
    restoration = replace(
        named,
        V=restored_at(data, named, suspects),
        defects=suspects,
        unrestorable=named.unrestorable & replaced,
        bounded=named.bounded & replaced,
        lines=bad_lines(suspects, data.observed, data.layout),
    )
    return shown._replace(restoration=restoration)


def key_of(setting: RestoreSetting, data: Dataset) -> Key:
    return Key(data.content_hash, setting.task)


def damage(setting: RestoreSetting, data: Dataset) -> tuple[Dataset, npt.NDArray[np.bool_]]:
    """The data to restore, and which of its entries were damaged on purpose."""
    task = setting.task
    if not task.damage:
        # Not from the cache: files with the same numbers may have other names and notes.
        return damaged_dataset(data, task)
    return _damaged(data.content_hash, RestoreTask(task.damage, task.losses), data)


@st.cache_resource(show_spinner=False, max_entries=6)
def _damaged(content_hash: str, task: RestoreTask, _data: Dataset) -> tuple[Dataset, npt.NDArray[np.bool_]]:
    return damaged_dataset(_data, task)


def request(setting: RestoreSetting, data: Dataset) -> Restored | None:
    """The restoration of this setting if it is known; started if somebody has asked for it."""
    key = key_of(setting, data)
    outcome = bundled(setting.data, setting.task) or outcomes().get(key)
    if outcome is None:
        scheduler().join(key, visitor())
        wanted = setting.run == key.name and outcomes().failure(key) is None
        if wanted and (scheduler().job(key) is not None or not long_fit_refusal()):
            restore = partial(
                run_task, data=data, task=setting.task, trials=default_store().parent / "trials"
            )
            outcomes().start(key, restore)
        return None
    spoiled, wrong = damage(setting, data)
    restoration = _unpacked(key, outcome, spoiled)
    ours = bool(setting.task.damage)
    return Restored(data if ours else None, spoiled, wrong if ours else None, restoration, outcome.errors)


@st.cache_resource(show_spinner=False, max_entries=4)
def _unpacked(key: Key, _outcome: Outcome, _data: Dataset) -> Restoration:
    return _outcome.packed.unpack(_data)


def choice_of(setting: RestoreSetting, data: Dataset) -> Choice | None:
    """What a search found for this data and damage, even if K, lambda and leash are now set by hand."""
    searched = replace(setting, by="search")
    outcome = bundled(searched.data, searched.task) or outcomes().get(key_of(searched, data))
    return None if outcome is None else outcome.packed.choice


def ask(key: Key) -> None:
    """Start this restoration, and resume it after a reload or a restart."""
    outcomes().forget_failure(key)
    change(restore_run=key.name)


def show_wait(setting: RestoreSetting, data: Dataset) -> None:
    """A button that starts it; while it runs, its progress and Cancel."""
    key = key_of(setting, data)
    if scheduler().job(key) is not None:
        show_progress(key, partial(how_far, expected=_expected(setting, data)), restore_run="")
        return
    failure = outcomes().failure(key)
    if failure is not None:
        st.error(f"This could not be restored: {plain(str(failure.error))}", icon=":material/error:")
    refusal = long_fit_refusal()
    if failure is None and setting.run == key.name and not refusal:
        # It has finished since this run of the page asked for it.
        st.rerun()
    searching = setting.by == "search"
    with st.container(key="wait", horizontal=True, vertical_alignment="center"):
        st.button(
            "Find the best setting" if searching else "Restore",
            type="primary",
            icon=":material/search:" if searching else ":material/healing:",
            on_click=ask,
            args=(key,),
        )
        what = (
            "Holds out some entries, finds the model that predicts them best, and restores with it"
            if searching
            else "Restores with the K, λ and leash in the sidebar"
        )
        seconds = SECONDS_TO_START + sum(_expected(setting, data))
        st.markdown(refusal or f"{what}: about **{in_words(seconds)}**.")


class Expected(NamedTuple):
    """Seconds that the search takes, if there is one, and those of the restoration after it."""

    search: float
    restoration: float


def _expected(setting: RestoreSetting, data: Dataset) -> Expected:
    task, workers = setting.task, search_workers()
    whole = expected_restore_seconds(data.shape, task.losses, K=task.K, workers=workers)
    K = task.K or TYPICAL_K
    last = min(whole, expected_restore_seconds(data.shape, task.losses, K=K, workers=workers))
    return Expected(whole - last, last)


def show_so_far(setting: RestoreSetting, data: Dataset) -> None:
    """The chart of a search under way, as it draws itself."""
    key = key_of(setting, data)
    if scheduler().job(key) is not None:
        st.fragment(_so_far, run_every=POLL_SECONDS)(key)


def how_far(progress: ChoiceProgress | None, expected: Expected) -> tuple[float, str]:
    """The share of the work that is done, and the same in words."""
    if progress is None:
        return 0.0, "Starting"
    searched = min(expected.search / sum(expected), 0.9)
    if progress.stage == "fit":
        return searched, f"Restoring with {progress.best}: about {in_words(expected.restoration)}"
    share = searched * progress.done / max(progress.total, 1)
    best = "" if progress.best is None else f" · best so far: {progress.best}"
    words = {"coarse": "First look", "fine": "Looking closer"}[progress.stage]
    return share, f"{words}, {progress.done} of {progress.total} · {in_words(progress.seconds)} so far{best}"


def _so_far(key: Key) -> None:
    job = scheduler().job(key)
    choice = None if job is None or job.progress is None else job.progress.so_far
    if choice is not None:
        st.markdown("**Error at entries that were held out, by number of parts**")
        figure = error_against_K(choice, height=300, mark="best so far")
        st.plotly_chart(figure, key="so_far", config={"displayModeBar": False})
