"""The view of the cube: three bands or one, and how values become brightness."""

from __future__ import annotations

import streamlit as st

from atnmf_core import Dataset
from atnmf_core.figures.composite import INFRARED, NATURAL, nearest_bands
from pages.common.address import change

from .cube_setting import ADDRESS, CubeSetting

TARGETS = {"natural": NATURAL, "infrared": INFRARED}
COLLAPSED = "collapsed"
CHANNELS = ("red", "green", "blue")


def shown_bands(setting: CubeSetting, data: Dataset) -> tuple[int, int, int]:
    """The rows of V that are shown as red, green and blue."""
    if setting.view == "band":
        return (setting.image - 1,) * 3
    if setting.triplet == "own":
        return setting.red - 1, setting.green - 1, setting.blue - 1
    return nearest_bands(data.wavelengths, data.shape[0], TARGETS[setting.triplet])


def is_joint(setting: CubeSetting, data: Dataset) -> bool:
    """Whether the channels are stretched together."""
    if setting.balance == "auto":
        return data.wavelengths is not None and setting.triplet == "natural"
    return setting.balance == "joint"


def bands_in_words(setting: CubeSetting, data: Dataset) -> str:
    """Such as "640 · 550 · 460 nm", or "bands 83 · 42 · 17"."""
    bands = shown_bands(setting, data)
    if setting.view == "band":
        return data.wavelength_label(bands[0])
    if data.wavelengths is None:
        return "bands " + " · ".join(str(band + 1) for band in bands)
    return " · ".join(f"{data.wavelengths[band]:.4g}" for band in bands) + " nm"


def show_view_bar(setting: CubeSetting, data: Dataset) -> None:
    """One row of controls above the pictures."""
    with st.container(key="view_bar", horizontal=True, vertical_alignment="center", gap="small"):
        ADDRESS.draw("view", label_visibility=COLLAPSED)
        if setting.view == "band":
            _choose_band("image", data, label_visibility=COLLAPSED)
        else:
            _choose_triplet(data)
        _stretch()


def _choose_triplet(data: Dataset) -> None:
    names = None
    if data.wavelengths is None:
        # Without wavelengths nobody knows which bands are infrared.
        names = {"natural": "spread bands", "own": "own bands"}
        if st.session_state["triplet"] == "infrared":
            change(triplet="natural")
    ADDRESS.draw("triplet", among=names, label_visibility=COLLAPSED, on_change=_begin_own, args=(data,))
    if st.session_state["triplet"] == "own":
        with st.popover("R G B"):
            for channel in CHANNELS:
                _choose_band(channel, data)


def _choose_band(name: str, data: Dataset, **options: str) -> None:
    st.select_slider(
        ADDRESS.controls[name].label,
        range(1, data.shape[0] + 1),
        st.session_state[name],
        format_func=lambda number: data.wavelength_label(number - 1),
        key=name,
        **options,
    )


def _begin_own(data: Dataset) -> None:
    """Choosing one's own bands starts from those shown, not from three times the first."""
    state = st.session_state
    if state["triplet"] == "own" and state["red"] == state["green"] == state["blue"]:
        bands = nearest_bands(data.wavelengths, data.shape[0], NATURAL)
        change(**{name: band + 1 for name, band in zip(CHANNELS, bands, strict=True)})


def _stretch() -> None:
    with st.popover("Stretch"):
        ADDRESS.draw("clip", widget=st.selectbox)
        ADDRESS.draw("balance", widget=st.radio)
        ADDRESS.draw("restored", widget=st.radio)
