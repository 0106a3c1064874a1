"""Explore: hide a share of the data, let the adversary attack the rest, and compare what comes back."""

from pathlib import Path

import streamlit as st

from pages.common.download_offer import show_offer
from pages.common.fit_request import request_fits, show_wait
from pages.common.limits_view import show_unreached
from pages.common.streamlit_private import ensure_app_frame
from pages.common.style import show_style
from pages.explore_view.callout import show_callout
from pages.explore_view.film_view import show_film
from pages.explore_view.lambda_curve import show_lambda_curve
from pages.explore_view.panels_view import show_errors, show_given, show_learned
from pages.explore_view.parts_view import show_parts, show_users
from pages.explore_view.picture_strip import picture_strip
from pages.explore_view.presets import show_presets
from pages.explore_view.sidebar import ADDRESS, show_sidebar
from pages.explore_view.take_away import show_take_away
from pages.explore_view.waiting_view import show_while_waiting

SHOW = {"errors": show_errors, "film": show_film, "take": show_take_away}

ensure_app_frame()
show_style(Path(__file__).parent / "common" / "style.css")
setting, data = show_sidebar()
st.title("What the adversary sees, and what comes back", anchor=False)
presets = st.container()
if data is None:
    show_offer(setting)
    with presets:
        show_presets(setting)
    st.stop()

wait = st.container()
given, learned = st.columns([2, 4], gap="small")
with given:
    show_given(setting, data)
shown = request_fits(setting, data)
if shown is not None and shown.is_current:
    with learned:
        show_learned(setting, data, shown.pair)
else:
    with wait:
        show_wait(setting, data, something_shown=shown is not None)
    with learned:
        show_while_waiting(setting, data, shown)
picture_strip(setting, data)
show_unreached(setting, data)
if shown is not None:
    show_callout(shown.setting, data, shown.pair)
    parts, curve = st.columns(2, gap="large")
    with parts:
        show_parts(shown.setting, data, shown.pair)
    with curve:
        show_lambda_curve(shown.setting, data)
    show_users(shown.setting, data, shown.pair)
    ADDRESS.draw("detail")
    SHOW[setting.detail](shown.setting, data, shown.pair)
with presets:
    show_presets(setting)
