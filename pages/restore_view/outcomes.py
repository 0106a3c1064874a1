"""Finished work of this page by what was asked for, and how new work is started."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial
from typing import Any

import streamlit as st

from atnmf_core.running.task_process import Task
from pages.common.background import scheduler
from pages.common.fit_cache import ResultCache
from pages.common.visitors import visitor

__all__ = ["outcomes"]

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
