"""How the cube is looked at: three bands or one, and how values become brightness."""

from __future__ import annotations

import streamlit as st

from atnmf_core import Dataset
from atnmf_core.figures.composite import INFRARED, NATURAL, nearest_bands
from pages.common.address import change

from .cube_setting import CLIPS, CubeSetting

__all__ = ["bands_in_words", "is_joint", "show_view_bar", "shown_bands"]

VIEW_NAMES = {"rgb": "Colour composite", "band": "Single band"}
TARGETS = {"natural": NATURAL, "infrared": INFRARED}
BALANCE_NAMES = {"auto": "as suits the bands", "channel": "each by itself", "joint": "all alike"}
CLIP_NAMES = {clip: "whole range" if clip == "0" else f"{clip} % off either end" for clip in CLIPS}
RESTORED_NAMES = {"kept": "observed kept", "model": "W H alone"}


def shown_bands(setting: CubeSetting, data: Dataset) -> tuple[int, int, int]:
    """The rows of V that are shown as red, green and blue."""
    if setting.view == "band":
        return (setting.image - 1,) * 3
    if setting.triplet == "own":
        return setting.red - 1, setting.green - 1, setting.blue - 1
    return nearest_bands(data.wavelengths, data.shape[0], TARGETS[setting.triplet])


def is_joint(setting: CubeSetting, data: Dataset) -> bool:
    """Whether the channels are stretched alike."""
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
        st.segmented_control(
            "Picture",
            VIEW_NAMES,
            format_func=VIEW_NAMES.get,
            key="view",
            required=True,
            label_visibility="collapsed",
        )
        if setting.view == "band":
            st.select_slider(
                "Band",
                range(1, data.shape[0] + 1),
                format_func=lambda number: data.wavelength_label(number - 1),
                key="image",
                label_visibility="collapsed",
            )
        else:
            _triplet(data)
        _stretch()


def _triplet(data: Dataset) -> None:
    names = {"natural": "natural", "infrared": "infrared", "own": "own bands"}
    if data.wavelengths is None:
        # Without wavelengths nobody knows which bands are infrared.
        names = {"natural": "spread bands", "own": "own bands"}
        if st.session_state["triplet"] == "infrared":
            change(triplet="natural")
    st.segmented_control(
        "Bands shown as red, green and blue",
        names,
        format_func=names.get,
        key="triplet",
        required=True,
        label_visibility="collapsed",
        on_change=_begin_own,
        args=(data,),
    )
    if st.session_state["triplet"] == "own":
        with st.popover("R G B"):
            for channel in ("red", "green", "blue"):
                st.select_slider(
                    channel.capitalize(),
                    range(1, data.shape[0] + 1),
                    format_func=lambda number: data.wavelength_label(number - 1),
                    key=channel,
                )


def _begin_own(data: Dataset) -> None:
    """The first bands of one's own are those that were shown, not the first three times over."""
    state = st.session_state
    if state["triplet"] == "own" and state["red"] == state["green"] == state["blue"]:
        bands = nearest_bands(data.wavelengths, data.shape[0], NATURAL)
        change(**{name: band + 1 for name, band in zip(("red", "green", "blue"), bands, strict=True)})


def _stretch() -> None:
    with st.popover("Stretch"):
        st.selectbox("Values from black to full brightness", CLIPS, format_func=CLIP_NAMES.get, key="clip")
        st.radio("Channels are stretched", BALANCE_NAMES, format_func=BALANCE_NAMES.get, key="balance")
        st.radio("Restored means", RESTORED_NAMES, format_func=RESTORED_NAMES.get, key="restored")
