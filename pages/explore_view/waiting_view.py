"""What is shown in place of the learned panels while a fit is under way."""

from __future__ import annotations

import streamlit as st

from atnmf_core import Dataset
from pages.common import fit_pair
from pages.common.fit_request import POLL_SECONDS, ShownFits, latest_frames
from pages.common.setting import Setting
from pages.common.visitors import poll_interval

from .panels_view import show_improving, show_learned, show_nothing_yet


def show_while_waiting(setting: Setting, data: Dataset, shown: ShownFits | None) -> None:
    """The picture as it improves; before the first frame, the last solved one."""
    running = bool(fit_pair.jobs(setting, data))
    st.fragment(_panels, run_every=poll_interval(POLL_SECONDS) if running else None)(setting, data, shown)


def _panels(setting: Setting, data: Dataset, shown: ShownFits | None) -> None:
    frames = latest_frames(setting, data)
    if frames:
        show_improving(setting, data, frames)
    elif shown is not None:
        show_learned(shown.setting, data, shown.pair)
    else:
        show_nothing_yet(data)
