"""From a setting to its mask and to the two fits that every picture compares."""

from __future__ import annotations

import time
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import streamlit as st

from atnmf_core import Dataset, hide_entries
from atnmf_core.analysis.pictures import Reach, reach_of, unreached_in_words
from atnmf_core.jobs.fit_task import (
    Frame,
    Run,
    RunProgress,
    expected_bytes,
    expected_seconds,
    fit_run,
    hidden_rmse,
    rough_duration,
)
from atnmf_core.jobs.processes import ProcessDied
from atnmf_core.jobs.scheduler import Job, Rank, Scheduler
from atnmf_core.model.problem import Mask, Missing

from .cache import CACHE, Cache, Failure, ResultCache, cached
from .jobs import JobProgress, long_fit_refusal, scheduler, show_job, visitor
from .setting import FitKey, MaskKey, Setting
from .widgets import show_error

SOLVE_AGAIN_SECONDS, PAUSE_SECONDS = 30.0, 0.5


class _ErrorOf(NamedTuple):
    """The key of a fit of which only the error is wanted."""

    key: FitKey


class FitCache(ResultCache):
    """Finished runs by key, their errors for much longer, and the fits under way."""

    def __init__(self, scheduler: Scheduler, cache: Cache = CACHE) -> None:
        super().__init__(cache)
        self.scheduler = scheduler

    def rmse_hidden(self, key: FitKey) -> float | None:
        return self._cache.get(_ErrorOf(key))

    def job(self, key: FitKey) -> Job | None:
        """The fit under way for this key, whoever started it; until its run is available here."""
        return self.scheduler.job(key)

    def start(
        self, key: FitKey, data: Dataset, observed: Mask, owner: object, *, long: bool = False
    ) -> Future[Run]:
        cached = self.get(key)
        if cached is not None:
            done: Future[Run] = Future()
            done.set_result(cached)
            return done
        self.forget_failure(key)
        task = partial(fit_run, V=data.V, observed=observed, **_parameters(key))
        job = self.scheduler.submit(key, task, owner, long=long)
        job.future.add_done_callback(partial(self.store, key))
        return job.future

    def start_error(
        self, key: FitKey, data: Dataset, observed: Mask, owner: object, *, long: bool = False
    ) -> None:
        """Compute the error of this fit when there is nothing more urgent to do; the run is not cached."""
        if self.rmse_hidden(key) is None and self.job(key) is None:
            task = partial(hidden_rmse, V=data.V, observed=observed, **_parameters(key))
            job = self.scheduler.submit(_ErrorOf(key), task, owner, rank=Rank.EXTRA, long=long)
            job.future.add_done_callback(partial(self.store, key))

    def solve(self, key: FitKey, data: Dataset, observed: Mask, owner: object) -> Run:
        """Wait for the run; try again for a while where a process was killed or the machine fell short."""
        ends = time.monotonic() + SOLVE_AGAIN_SECONDS
        while True:
            future = self.start(key, data, observed, owner)
            self.scheduler.wait([key])
            try:
                return future.result()
            except CancelledError:
                continue  # Somebody else, who looked at the same fit, has cancelled it
            except (ProcessDied, OSError):
                if time.monotonic() > ends:
                    raise
                time.sleep(PAUSE_SECONDS)

    def cancel(self, key: FitKey) -> None:
        self.scheduler.cancel(key)

    def _keep(self, key: FitKey, result: Run | float) -> None:
        if isinstance(result, Run):
            super()._keep(key, result)
            result = result.rmse_hidden
        super()._keep(_ErrorOf(key), result)


def _parameters(key: FitKey) -> dict[str, Any]:
    method = "nmf" if key.lam is None else "atnmf"
    names = ("K", "lam", "leash", "missing", "solver", "seed", "unit_sum")
    init = None if key.start == "random" else key.start
    return {"method": method, "init": init} | {name: getattr(key, name) for name in names}


@st.cache_resource(show_spinner=False)
def fit_cache() -> FitCache:
    return FitCache(scheduler())


LIVE_SECONDS = 1.5  # Fits that take less are solved as soon as a control moves; longer ones wait for Run


@dataclass(frozen=True)
class Case:
    """A setting on its data, with what follows from both, each computed once."""

    setting: Setting
    data: Dataset

    @cached_property
    def keys(self) -> tuple[FitKey, FitKey]:
        """Of AT-NMF's fit and of NMF's."""
        return tuple(self.setting.fit_key(self.data.content_hash, method) for method in ("atnmf", "nmf"))

    @cached_property
    def mask_key(self) -> MaskKey:
        return self.keys[0].mask

    @cached_property
    def observed(self) -> Mask:
        return observed_of(self.mask_key, self.data)

    @cached_property
    def reach(self) -> Reach:
        return _reach(self.mask_key, self.observed)

    @property
    def other_treatment(self) -> Case:
        """The same with hidden entries treated the other way."""
        other: Missing = "ignore" if self.setting.missing == "zero" else "zero"
        return Case(replace(self.setting, missing=other), self.data)


@cached()
def observed_of(key: MaskKey, _data: Dataset) -> Mask:
    """The mask of a key, for the data that it names."""
    not_hidden = hide_entries(_data.shape, key.alpha, key.seed, key.pattern, _data.image_shape, _data.order)
    observed = not_hidden & _data.observed
    observed.flags.writeable = False
    return observed


@cached()
def _reach(key: MaskKey, _observed: Mask) -> Reach:
    return reach_of(_observed)


class Pair(NamedTuple):
    atnmf: Run
    nmf: Run


def cached_pair(case: Case) -> Pair | None:
    atnmf, nmf = map(fit_cache().get, case.keys)
    return None if atnmf is None or nmf is None else Pair(atnmf, nmf)


def expected(case: Case) -> float:
    missing = [key for key in case.keys if fit_cache().get(key) is None]
    names = ("K", "solver", "missing", "start", "unit_sum")
    return sum(
        expected_seconds(case.data.shape, **{name: getattr(key, name) for name in names}) for key in missing
    )


def start(case: Case, *, long: bool) -> None:
    for key in case.keys:
        fit_cache().start(key, case.data, case.observed, visitor(), long=long)


def solve_both(case: Case) -> Pair:
    start(case, long=False)
    return Pair(*(fit_cache().solve(key, case.data, case.observed, visitor()) for key in case.keys))


def jobs(case: Case) -> list[Job]:
    found = map(fit_cache().job, case.keys)
    return [job for job in found if job is not None]


def show_unreached(case: Case) -> None:
    lost = unreached_in_words(case.data, case.reach)
    if lost:
        st.warning(
            f"Nothing is observed of {lost}, so nothing can be predicted there. The restored pictures and "
            f"the parts are {case.setting.colour} in these places, and files with restored data have NaN.",
            icon=":material/visibility_off:",
        )


# Requesting the fits of a setting, and what a page shows until they are ready: Run, progress and Cancel.

FIRST_VIEW_SECONDS = 60.0  # A link to something longer asks before it computes
PATIENCE_SECONDS = 4.0  # A fit that takes longer than expected delays the rest of the page by at most this
LOOK_SECONDS = 0.1
RETRY_SECONDS = 5.0
MUCH_MEMORY = 500_000_000


class ShownFits(NamedTuple):
    """The fits to show: of the current setting or, until that is solved, of the last one."""

    case: Case
    pair: Pair
    is_current: bool


def request_fits(case: Case) -> ShownFits | None:
    """The fits of this setting if they are cached or quick, else the last ones of this data."""
    asked = st.session_state.pop("run_asked", False)
    scheduler().move_on(visitor(), keep=case.keys)
    pair = cached_pair(case)
    if pair is None:
        _begin(case, asked=asked)
        _wait_for_quick_fits(case)
        pair = cached_pair(case)
    last_solved = _last_solved(case)
    if pair is not None:
        st.session_state[last_solved] = case.setting.solved, case.data.content_hash
        return ShownFits(case, pair, is_current=True)
    last, content_hash = st.session_state.get(last_solved, (None, ""))
    if last is None or content_hash != case.data.content_hash:
        return None
    before = Case(last.with_view_of(case.setting), case.data)
    pair = cached_pair(before)
    return None if pair is None else ShownFits(before, pair, is_current=False)


def _last_solved(case: Case) -> str:
    return f"last_solved_{type(case.setting).__name__}"


def _begin(case: Case, *, asked: bool) -> None:
    for key in case.keys:
        scheduler().join(key, visitor())
    seconds = expected(case)
    is_live = seconds < LIVE_SECONDS
    has_failed = not all(is_live and failure.may_be_over(RETRY_SECONDS) for failure in _failures(case))
    wanted = asked or (not has_failed and (is_live or _starts_without_asking(case, seconds)))
    if wanted and (is_live or not long_fit_refusal()):
        start(case, long=not is_live)


def _starts_without_asking(case: Case, seconds: float) -> bool:
    first_view = _last_solved(case) not in st.session_state
    cancelled = case.setting.solved == st.session_state.get("cancelled")
    return first_view and not cancelled and seconds < FIRST_VIEW_SECONDS


def _wait_for_quick_fits(case: Case) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        short = [job.key for job in jobs(case) if not job.long]
        if scheduler().wait(short, LOOK_SECONDS):
            return
        # Reading the session lets Streamlit end this run if a control has moved meanwhile.
        st.session_state.get("run_asked")


def show_wait(case: Case, *, something_shown: bool) -> None:
    """A Run button that says how long it will take; during the run, its progress and Cancel."""
    if jobs(case):
        show_job(partial(_progress, case, something_shown), partial(_cancel, case))
        return
    failures, seconds = _failures(case), expected(case)
    is_live = seconds < LIVE_SECONDS
    if is_live and not failures:
        # It was solved, or another session cancelled it, since this run of the page requested it.
        st.rerun()
    for failure in failures:
        show_error(failure.error, "This setting could not be solved:")
    if is_live and not any(failure.is_refusal for failure in failures):
        st.fragment(_try_again, run_every=RETRY_SECONDS)(time.monotonic())
    until = " Until then you see the last one." if something_shown else ""
    refusal = "" if is_live else long_fit_refusal()
    memory = 2 * expected_bytes(case.data.shape)
    room = f" and {memory / 1e9:.1f} GB of memory" if memory > MUCH_MEMORY else ""
    with st.container(key="wait", horizontal=True, vertical_alignment="center"):
        st.button("Run", type="primary", icon=":material/play_arrow:", on_click=_ask)
        st.markdown(refusal or f"This setting takes about **{rough_duration(seconds)}{room}**.{until}")


def latest_frames(case: Case) -> list[Frame]:
    """The latest frame of both running fits, AT-NMF's first; empty until each has one."""
    found = [frame for key in case.keys if (frame := _latest(key)) is not None]
    return found if len(found) == 2 and jobs(case) else []


def _latest(key: FitKey) -> Frame | None:
    run, job = fit_cache().get(key), fit_cache().job(key)
    if run is not None:
        return run.frames[-1]
    return None if job is None or job.progress is None else job.progress.frame


def _failures(case: Case) -> list[Failure]:
    found = map(fit_cache().failure, case.keys)
    return [failure for failure in found if failure is not None]


def _try_again(since: float) -> None:
    if time.monotonic() - since >= RETRY_SECONDS:
        st.rerun()


def _ask() -> None:
    st.session_state["run_asked"] = True


def _cancel(case: Case) -> None:
    st.session_state["cancelled"] = case.setting.solved
    for key in case.keys:
        fit_cache().cancel(key)


def _progress(case: Case, something_shown: bool) -> JobProgress | None:
    """How far the slower of both fits is; None when they have ended."""
    running = jobs(case)
    if not running:
        return None
    if not all(job.is_running for job in running):
        last = ", the last picture is shown" if something_shown else ""
        return JobProgress(0.0, f"Busy: this waits for its turn{last}")
    reports = [job.progress for job in running]
    slowest = None if None in reports else min(reports, key=lambda one: one.share)
    return how_far(slowest, case.setting.solver, expected(case))


def how_far(progress: RunProgress | None, solver: str, expected: float) -> JobProgress:
    """How much of a fit is done. `expected`: seconds of the missing fits; 0 if the last has just ended."""
    if progress is None:
        return JobProgress(0.0, "Starting")
    seconds, share = progress.seconds, max(progress.share, 1e-3)
    if solver == "fast":
        # It converges long before its iteration limit.
        left = max(0.0, expected - seconds)
        share = min(0.95, seconds / expected) if left else 0.95
    else:
        left = seconds * (1 - share) / share
    elapsed = f"Iteration {progress.frame.iteration} · {rough_duration(seconds)} elapsed"
    return JobProgress(share, f"{elapsed}, at most {rough_duration(left)} left" if left else elapsed)
