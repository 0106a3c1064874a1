"""Restore: damaged data made whole, what was wrong with it, and how far to trust that."""

from pathlib import Path

import streamlit as st

from pages.common.data import UPLOAD, show_offer
from pages.common.streamlit_patches import ensure_app_frame
from pages.common.widgets import show_style
from pages.restore_view.jobs import request, show_so_far, show_wait
from pages.restore_view.large_scene import show_scene
from pages.restore_view.league import show_league, show_title
from pages.restore_view.pictures import choose_picture, show_damage, show_marking, with_marks
from pages.restore_view.result import (
    show_choice,
    show_nothing_missing,
    show_result,
    show_verdict,
    show_when_reached,
)
from pages.restore_view.sidebar import show_presets, show_questions, show_sidebar

FOLDER = Path(__file__).parent

ensure_app_frame()
show_style(FOLDER / "common" / "style.css")
setting, data, path = show_sidebar()
show_title(setting)
if setting.league:
    show_league(setting)
    st.stop()
if data is None or setting.data != UPLOAD:
    show_presets(setting)
if path:
    show_scene(setting, path)
    st.stop()
if data is None:
    show_offer(setting)
    st.stop()

whole, data = data, with_marks(setting, data)
is_whole = setting.losses == "marked" and data.observed.all() and not setting.task.damage
shown = None if is_whole else request(setting, data)
show_questions(setting, whole, shown)
if is_whole:
    show_nothing_missing()
    choose_picture(setting, data)
    show_marking(setting, whole)
    show_damage(setting, data)
    st.stop()

if shown is None:
    show_wait(setting, data)
    choose_picture(setting, data)
    show_marking(setting, whole)
    show_damage(setting, data)
    show_so_far(setting, data)
    show_choice(setting, data)
    st.stop()
show_verdict(setting, shown)
show_result(setting, shown, whole)
show_when_reached(setting, data, shown)
