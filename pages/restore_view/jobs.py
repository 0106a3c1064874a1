"""Asking for a restoration, and what the page shows until it is there: a button, progress and Cancel."""

import hashlib
from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import streamlit as st

from atnmf_core import Dataset, Restoration
from atnmf_core.figures.plotting import error_against_K
from atnmf_core.jobs.fit_task import rough_duration
from atnmf_core.jobs.processes import Task
from atnmf_core.model.problem import Mask
from atnmf_core.restoration import Choice, ChoiceProgress
from atnmf_core.restoration.findings import Question, questions
from atnmf_core.restoration.restore import Side, restored_at, suspects_at
from atnmf_core.restoration.task import (
    Errors,
    Outcome,
    RestoreTask,
    bundled,
    damaged_dataset,
    expected_restore_seconds,
    run_task,
)
from pages.common.address import change
from pages.common.cache import ResultCache, cached
from pages.common.jobs import (
    JOB_POLL_SECONDS,
    JobProgress,
    long_fit_refusal,
    poll_interval,
    scheduler,
    show_job,
    visitor,
)
from pages.common.widgets import show_error

from .setting import RestoreSetting

# Finished work of this page by what was asked for; how new work is started, watched and cancelled.


class Restorations(ResultCache):
    """Results and failures by key, while there is room."""

    def start(self, key: Hashable, task: Task[Any]) -> None:
        """Run the task in the background, unless it is running already; its result, or why there is none, is
        stored under the key.
        """
        if scheduler().job(key) is None:
            job = scheduler().submit(key, task, visitor(), long=True)
            job.future.add_done_callback(partial(self.store, key))
        else:
            scheduler().join(key, visitor())


@st.cache_resource(show_spinner=False)
def restorations() -> Restorations:
    """Those of this server."""
    return Restorations()


def show_progress(key: Hashable, how_far: Callable[[Any], JobProgress], **no_longer: object) -> None:
    """How far work is, and Cancel, which also sets controls as if it had not been asked for."""

    def look() -> JobProgress | None:
        job = scheduler().job(key)
        return None if job is None else how_far(job.progress)

    show_job(look, partial(_cancel, key, no_longer), key=f"wait_{next(iter(no_longer))}")


def _cancel(key: Hashable, no_longer: dict[str, object]) -> None:
    change(**no_longer)
    scheduler().cancel(key)


SECONDS_TO_START = 3.0  # Until the process of a restoration has begun


class Key(NamedTuple):
    """What determines a restoration. `data` is a content hash."""

    data: str
    task: RestoreTask

    @property
    def name(self) -> str:
        """As an address has it."""
        return hashlib.sha256(repr(self).encode()).hexdigest()[:16]


class Restored(NamedTuple):
    """What the page shows: the data as it was before it was damaged and as it was restored from.

    `wrong` and `errors` are known only for damage done on purpose. `seconds` is what the restoration took.
    """

    truth: Dataset | None
    data: Dataset
    wrong: Mask | None
    restoration: Restoration
    errors: Errors | None
    seconds: float

    @property
    def all_wrong(self) -> Mask:
        """Defects, what is missing, and what had an offset."""
        wrong = self.restoration.defects | ~self.data.observed
        return wrong if self.restoration.offsets is None else wrong | (self.restoration.offsets != 0)


def as_wanted(setting: RestoreSetting, shown: Restored) -> Restored:
    """With the suspects at the current threshold in place of those that the restoration named, and the model
    in place of measured values where that is the result in view.
    """
    restoration = shown.restoration
    if setting.losses == "unmarked" and (setting.threshold != 1 or setting.side != "both"):
        key = key_of(setting, shown.truth or shown.data)
        restoration = _judged(key, setting.threshold, setting.side, shown.data, restoration)
    if setting.result == "denoised":
        restoration = replace(restoration, V=restoration.denoised_where_known)
    return shown._replace(restoration=restoration)


@cached()
def _judged(key: Key, threshold: float, side: Side, _data: Dataset, _restoration: Restoration) -> Restoration:
    return restored_at(_data, _restoration, suspects_at(_data, _restoration, threshold, side))


def key_of(setting: RestoreSetting, data: Dataset) -> Key:
    return Key(data.content_hash, setting.task)


def damage(setting: RestoreSetting, data: Dataset) -> tuple[Dataset, Mask]:
    """The data to restore, and which of its entries were damaged on purpose."""
    task = setting.task
    if not task.damage:
        # Not from the cache: files with the same numbers may have other names and notes.
        return damaged_dataset(data, task)
    return _damaged(data.content_hash, RestoreTask(task.damage, task.losses), data)


@cached()
def _damaged(content_hash: str, task: RestoreTask, _data: Dataset) -> tuple[Dataset, Mask]:
    return damaged_dataset(_data, task)


def request(setting: RestoreSetting, data: Dataset) -> Restored | None:
    """The restoration of this setting if it is known; started if somebody has asked for it."""
    key = key_of(setting, data)
    outcome = _bundled(setting) or restorations().get(key)
    if outcome is None:
        scheduler().join(key, visitor())
        wanted = setting.run == key.name and restorations().failure(key) is None
        if wanted and (scheduler().job(key) is not None or not long_fit_refusal()):
            restorations().start(key, partial(run_task, data=data, task=setting.task))
        return None
    spoiled, wrong = damage(setting, data)
    restoration = _unpacked(key, outcome, spoiled)
    ours = bool(setting.task.damage)
    truth, wrong = (data, wrong) if ours else (None, None)
    return Restored(truth, spoiled, wrong, restoration, outcome.errors, outcome.seconds)


def _bundled(setting: RestoreSetting) -> Outcome | None:
    """What comes with the program, for data in which nobody has marked anything."""
    return None if setting.marks or setting.mask else bundled(setting.data, setting.task)


@cached()
def _unpacked(key: Key, _outcome: Outcome, _data: Dataset) -> Restoration:
    return _outcome.packed.unpack(_data)


@cached()
def questions_of(content_hash: str, _data: Dataset) -> tuple[Question, ...]:
    """What to ask about values in the data."""
    return questions(_data)


def choice_of(setting: RestoreSetting, data: Dataset) -> Choice | None:
    """What a search found for this data and damage, even if K, lambda and leash are now set by hand."""
    searched = replace(setting, by="search")
    outcome = _bundled(searched) or restorations().get(key_of(searched, data))
    return None if outcome is None else outcome.packed.choice


FRESH = "restore_fresh"  # In the session while nobody has seen the result that was asked for


def ask(key: Key) -> None:
    """Start this restoration, and resume it after a reload or a restart."""
    restorations().forget_failure(key)
    change(restore_run=key.name, **{FRESH: True})


def show_wait(setting: RestoreSetting, data: Dataset) -> None:
    """A button that starts it; while it runs, its progress and Cancel."""
    key = key_of(setting, data)
    if scheduler().job(key) is not None:
        show_progress(key, how_far, restore_run="")
        return
    failure = restorations().failure(key)
    if failure is not None:
        show_error(failure.error, "This could not be restored:")
    refusal = long_fit_refusal()
    if failure is None and setting.run == key.name and not refusal:
        # It has finished since this run of the page asked for it.
        st.rerun()
    with st.container(key="wait", horizontal=True, vertical_alignment="center"):
        st.button("Restore", type="primary", icon=":material/healing:", on_click=ask, args=(key,))
        what = (
            "Finds the model that predicts entries best from others, and restores with it"
            if setting.by == "search"
            else "Restores with the K, λ and leash in the sidebar"
        )
        seconds = SECONDS_TO_START + expected_restore_seconds(data)
        st.markdown(refusal or f"{what}: about **{rough_duration(seconds)}**.")


def show_so_far(setting: RestoreSetting, data: Dataset) -> None:
    """The chart of a search under way, as it draws itself."""
    key = key_of(setting, data)
    if scheduler().job(key) is not None:
        st.fragment(_so_far, run_every=poll_interval(JOB_POLL_SECONDS))(key)


CHOSEN = 0.6  # The share of the work that is done once the model is chosen, about


def how_far(progress: ChoiceProgress | None) -> JobProgress:
    """The share of the work that is done, and the same in words."""
    if progress is None:
        return JobProgress(0.0, "Starting")
    if progress.stage == "fit":
        return JobProgress(CHOSEN, f"Restoring with {progress.best}")
    elapsed = f"{rough_duration(progress.seconds)} elapsed"
    words = f"Choosing, {progress.done} of at most {progress.total} models · {elapsed}"
    return JobProgress(
        CHOSEN * progress.done / max(progress.total, 1), f"{words} · best so far: {progress.best}"
    )


def _so_far(key: Key) -> None:
    job = scheduler().job(key)
    choice = None if job is None or job.progress is None else job.progress.so_far
    if choice is not None:
        st.markdown("**Error of entries predicted from others, by number of parts**")
        figure = error_against_K(choice, height=300, mark="best so far")
        st.plotly_chart(figure, key="so_far", config={"displayModeBar": False})
