"""Hyperspectral: a cube as pictures, every pixel as a spectrum, and the materials that it is made of."""

from pathlib import Path

import streamlit as st

from pages.common.data import show_offer
from pages.common.fitting import Case, request_fits, show_wait
from pages.common.streamlit_patches import ensure_app_frame
from pages.common.widgets import show_main_sliders, show_style
from pages.hyperspectral_view.materials import show_materials
from pages.hyperspectral_view.pictures import (
    factors_of,
    show_cube_take_away,
    show_limits_of_recovery,
    show_pictures,
    show_spectrum,
)
from pages.hyperspectral_view.setting import ADDRESS, show_sidebar, show_view_bar

FOLDER = Path(__file__).parent
CUBES = "a cube as an ENVI pair (header and binary together), MATLAB, NumPy, GeoTIFF, NetCDF or HDF5"

ensure_app_frame()
show_style(FOLDER / "common" / "style.css", FOLDER / "hyperspectral_view" / "style.css")
setting, data = show_sidebar()
st.title("Every pixel a spectrum, every spectrum a mixture", anchor=False)
if data is None:
    show_offer(setting, CUBES)
    st.stop()

wait = st.container()
show_view_bar(setting, data)
case = Case(setting, data)
shown = request_fits(case)
if shown is None or not shown.is_current:
    with wait:
        show_wait(case, something_shown=shown is not None)
pictures, spectrum = st.columns([3, 2], gap="medium")
with pictures:
    show_pictures(case, shown)
    show_main_sliders(ADDRESS, data)
with spectrum:
    show_spectrum(case, {} if shown is None else factors_of(shown.pair))
show_limits_of_recovery(case)
if shown is not None:
    cards = show_materials(shown.case, shown.pair)
    show_cube_take_away(shown.case, shown.pair, cards)
