"""The spectrum of the chosen pixel, and of those pinned beside it."""

from __future__ import annotations

from dataclasses import replace
from math import isnan
from typing import Any

import numpy as np
import streamlit as st

from atnmf_core import Dataset
from atnmf_core.analysis.recovery import PixelSpectrum, pixel_spectrum
from atnmf_core.export import spectra_csv
from atnmf_core.figures.cube_view import band_axis, points, spectra_top
from atnmf_core.figures.palette import HIDDEN
from pages.common import fit_pair
from pages.common.address import change
from pages.common.components import component
from pages.common.limits_view import reach
from pages.common.pixel import Pixel
from pages.common.take_away import download

from .cube_setting import ADDRESS, CubeSetting, spell_pixels
from .pictures import METHODS, FactorsByMethod

KEY = "spectrum"
NAMES = {"AT-NMF": "atnmf", "NMF": "nmf"}
LINES = (("truth", "original", "original"), ("orange", "atnmf", "AT-NMF"), ("blue", "nmf", "NMF"))
LEGEND = (
    ("truth", "original"),
    ("seen", "observed"),
    ("orange", "AT-NMF"),
    ("blue", "NMF"),
    ("unseen", "hidden"),
)


def show_spectrum(setting: CubeSetting, data: Dataset, factors: FactorsByMethod) -> None:
    """A fragment: choosing a pixel redraws nothing else on the page."""
    st.fragment(_spectrum)(setting, data, factors)


def _spectrum(setting: CubeSetting, data: Dataset, factors: FactorsByMethod) -> None:
    # With the current pixels: the rest of the page was drawn with earlier ones.
    now = replace(setting, pixel=st.session_state["pixel"], pins=st.session_state["pins"])
    given = (data, fit_pair.mask(setting, data), reach(setting, data), factors)
    pixels = (now.place(data), *now.pinned(data))
    current, *pins = (pixel_spectrum(*given, row - 1, col - 1) for row, col in pixels)
    component("spectrum", "chart", "spectra")(
        key=KEY,
        data=band_axis(data)
        | {
            "names": [data.wavelength_label(f) for f in range(data.shape[0])],
            "top": spectra_top([values for one in (current, *pins) for values in one.spectra()]),
            "hidden_colour": HIDDEN[setting.colour],
            "lines": LINES,
            "legend": [entry for entry in LEGEND if factors or entry[0] not in METHODS.values()],
            "flag": ("observed", "hidden"),
            "current": [_spectrum_data(current)],
            "pins": [_spectrum_data(pin) for pin in pins],
        },
        on_pixel_change=lambda: change(pixel=spell_pixels([_clicked("pixel")])),
        on_pin_change=lambda: change(pins=spell_pixels([*now.pinned(data), _clicked("pin")])),
        on_unpin_change=lambda: change(
            pins=spell_pixels([pixel for pixel in now.pinned(data) if pixel != _clicked("unpin")])
        ),
    )
    download(
        "Spectra, CSV",
        lambda: spectra_csv(data, [current, *pins]),
        f"{data.name}-spectra.csv",
        "text/csv",
        "This pixel and the pinned ones",
    )
    ADDRESS.write()


def _clicked(event: str) -> Pixel:
    row, col = st.session_state[KEY][event]
    return int(row) + 1, int(col) + 1


def _spectrum_data(spectrum: PixelSpectrum) -> dict[str, Any]:
    bands, seen = len(spectrum.original), int(spectrum.observed.sum())
    return {
        "place": [spectrum.row, spectrum.col],
        "name": f"Row {spectrum.row + 1}, column {spectrum.col + 1}",
        "seen": f"{seen} of {bands} bands observed",
        "measures": _measures(spectrum),
        "original": points(spectrum.original),
        "specks": points(np.where(spectrum.observed, spectrum.original, np.nan)),
        "observed": [bool(is_seen) for is_seen in spectrum.observed],
    } | {name: points(spectrum.predicted[method]) for method, name in NAMES.items() if spectrum.predicted}


def _measures(spectrum: PixelSpectrum) -> str:
    if not spectrum.observed.any():
        return "Nothing is observed of this pixel, so nothing can be predicted."
    lines = [
        f'<b class="{METHODS[method]}">{method}</b> {_error(spectrum.error(method))} · '
        f"{spectrum.angle(method):.2f}° from the original"
        for method in spectrum.predicted
    ]
    return "<br>".join(lines)


def _error(error: float) -> str:
    return "nothing known is hidden" if isnan(error) else f"{error:.4f} RMSE where hidden"
