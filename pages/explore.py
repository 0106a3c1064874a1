"""Explore: hide a share of the data, let the adversary attack the rest, and compare what comes back."""

from pathlib import Path

import streamlit as st

from pages.common import solving
from pages.common.callout import show_callout
from pages.common.controls import controls
from pages.common.lambda_curve import show_lambda_curve
from pages.common.panels_view import show_given, show_learned
from pages.common.parts_view import show_parts
from pages.common.pictures_shown import picture_strip
from pages.common.presets import show_presets

st.html(Path(__file__).parent / "common" / "style.css")
setting, data = controls()
st.title("What the adversary sees, and what comes back", anchor=False)
presets = st.container()
if data is None:
    st.stop()

given, learned = st.columns([2, 4], gap="small")
with given:
    show_given(setting, data)
pair = solving.solve_now(setting, data)
with learned:
    show_learned(setting, data, pair)
picture_strip(data, setting.image)
show_callout(setting, data, pair)
atnmf, nmf, curve = st.columns([2, 2, 4], gap="medium")
show_parts(data, pair, (atnmf, nmf))
with curve:
    st.markdown("**RMSE on hidden pixels against λ**")
    show_lambda_curve(setting, data)
with presets:
    show_presets(setting)
