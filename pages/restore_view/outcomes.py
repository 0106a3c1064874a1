"""Finished work of this page by what was asked for; how new work is started, watched and cancelled."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

import streamlit as st

from atnmf_core.running.task_process import Task
from pages.common.address import change
from pages.common.background import scheduler
from pages.common.fit_cache import ResultCache
from pages.common.visitors import visitor

POLL_SECONDS = 0.7
MAX_BYTES = 400_000_000


class Outcomes(ResultCache):
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
def outcomes() -> Outcomes:
    """Those of this server."""
    return Outcomes(MAX_BYTES)


def show_progress(key: Hashable, how_far: Callable[[Any], tuple[float, str]], **no_longer: object) -> None:
    """A bar for work under way, and Cancel, which also sets controls as if it had not been asked for."""
    st.fragment(_progress, run_every=POLL_SECONDS)(key, how_far, no_longer)


def _progress(
    key: Hashable, how_far: Callable[[Any], tuple[float, str]], no_longer: dict[str, object]
) -> None:
    job = scheduler().job(key)
    if job is None:
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center"):
        name = f"cancel_{'_'.join(no_longer)}"
        st.button("Cancel", icon=":material/stop:", on_click=_cancel, args=(key, no_longer), key=name)
        st.progress(*how_far(job.progress))


def _cancel(key: Hashable, no_longer: dict[str, object]) -> None:
    change(**no_longer)
    scheduler().cancel(key)
