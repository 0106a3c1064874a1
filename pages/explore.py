"""Explore: hide a share of the data, let the adversary attack the rest, and compare what comes back."""

from functools import partial
from pathlib import Path

import streamlit as st

from pages.common.data import show_offer
from pages.common.fitting import Case, request_fits, show_unreached, show_wait
from pages.common.streamlit_patches import ensure_app_frame
from pages.common.widgets import show_main_sliders, show_style
from pages.explore_view.lambda_curve import show_callout, show_lambda_curve
from pages.explore_view.panels import (
    ADDRESS,
    picture_strip,
    show_errors,
    show_given,
    show_learned,
    show_panels_take_away,
    show_presets,
    show_sidebar,
    show_while_waiting,
)
from pages.explore_view.parts import figures_of, show_film, show_parts, show_users

SHOW = {"errors": show_errors, "film": show_film, "take": partial(show_panels_take_away, figures=figures_of)}

ensure_app_frame()
show_style(Path(__file__).parent / "common" / "style.css")
setting, data = show_sidebar()
st.title("Hide pixels, and compare what NMF and AT-NMF bring back", anchor=False)
st.markdown(
    "**NMF** (nonnegative matrix factorization) explains every picture as a sum of a few shared parts, and "
    "so predicts what is hidden. **AT-NMF** learns the parts while an *adversary* alters the data: "
    "then what is far too dark to be true misleads it less."
)
presets = st.container()
if data is None:
    show_offer(setting)
    with presets:
        show_presets(setting)
    st.stop()

case = Case(setting, data)
wait = st.container()
given, learned = st.columns([2, 4], gap="small")
with given:
    show_given(case)
shown = request_fits(case)
if shown is not None and shown.is_current:
    with learned:
        show_learned(case, shown.pair)
else:
    with wait:
        show_wait(case, something_shown=shown is not None)
    with learned:
        show_while_waiting(case, shown)
show_main_sliders(ADDRESS, data)
picture_strip(setting, data)
show_unreached(case)
if shown is not None:
    show_callout(shown.case, shown.pair)
    parts, curve = st.columns(2, gap="large")
    with parts:
        show_parts(shown.case, shown.pair)
    with curve:
        show_lambda_curve(shown.case)
    show_users(shown.case, shown.pair)
    ADDRESS.draw("detail")
    SHOW[setting.detail](shown.case, shown.pair)
with presets:
    show_presets(setting)
