"""Hyperspectral: a cube as pictures, every pixel as a spectrum, and the materials that it is made of."""

from pathlib import Path

import streamlit as st

from pages.common.download_offer import show_offer
from pages.common.fit_request import request_fits, show_wait
from pages.common.streamlit_private import ensure_app_frame
from pages.common.style import show_style
from pages.hyperspectral_view.cube_take_away import show_cube_take_away
from pages.hyperspectral_view.materials_view import show_materials
from pages.hyperspectral_view.pictures import factors_of, show_limits_of_recovery, show_pictures
from pages.hyperspectral_view.sidebar import show_sidebar
from pages.hyperspectral_view.spectrum_view import show_spectrum
from pages.hyperspectral_view.view_bar import show_view_bar

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
shown = request_fits(setting, data)
if shown is None or not shown.is_current:
    with wait:
        show_wait(setting, data, something_shown=shown is not None)
pictures, spectrum = st.columns([3, 2], gap="medium")
with pictures:
    show_pictures(setting, data, shown)
with spectrum:
    show_spectrum(setting, data, {} if shown is None else factors_of(shown.pair))
show_limits_of_recovery(setting, data)
if shown is not None:
    show_materials(shown.setting, data, shown.pair)
    show_cube_take_away(shown.setting, data, shown.pair)
