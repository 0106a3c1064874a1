"""The spectrum of the chosen pixel: measured, restored with its deviation, and true."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from atnmf_core.figures.cube_view import band_axis, points, spectra_top
from atnmf_core.figures.palette import HIDDEN
from pages.common.address import change
from pages.common.components import component
from pages.common.pixel import spell_pixel

from .request import Restored
from .setting import RestoreSetting

KEY = "restore_spectrum"
LINES = (("truth", "truth", "true"), ("orange", "restored", "restored"), ("", "measured", "measured"))


def show_spectrum(setting: RestoreSetting, shown: Restored) -> None:
    """Of the pixel in view."""
    data = shown.data
    one = _spectrum_data(setting, shown)
    known = [np.array(one[name], float) for name in ("restored", "measured", "truth") if name in one]
    legend = [("truth", "true")] if shown.truth is not None else []
    legend += [
        ("seen", "measured"),
        ("orange", "restored"),
        ("within", "± one deviation"),
        ("unseen", "defect or missing"),
    ]
    component("spectrum", "chart", "spectra")(
        key=KEY,
        data=band_axis(data)
        | {
            "names": [data.wavelength_label(f) for f in range(data.shape[0])],
            "top": spectra_top(known),
            "hidden_colour": HIDDEN[setting.colour],
            "lines": [line for line in LINES if line[0]],
            "legend": legend,
            "flag": ("as measured", "restored"),
            "pinning": False,
            "current": [one],
            "pins": [],
        },
        on_pixel_change=_choose_pixel,
        on_pin_change=lambda: None,
        on_unpin_change=lambda: None,
    )


def _restored_bands(changed: np.ndarray, lost: np.ndarray) -> str:
    said = f"{int((changed & ~lost).sum())} of {len(changed)} bands restored"
    return f"{said}, {int(lost.sum())} cannot be" if lost.any() else said


def _choose_pixel() -> None:
    row, col = st.session_state[KEY]["pixel"]
    change(pixel=spell_pixel((int(row) + 1, int(col) + 1)))


def _spectrum_data(setting: RestoreSetting, shown: Restored) -> dict[str, Any]:
    data, restoration = shown.data, shown.restoration
    row, col = setting.place(data)
    n = int(data.vector_positions(np.array([row - 1]), np.array([col - 1]))[0])
    restored, changed = restoration.V[:, n], restoration.defects[:, n] | ~data.observed[:, n]
    deviation = np.where(changed, restoration.deviation[:, n], np.nan)
    told = {
        "place": [row - 1, col - 1],
        "name": f"Row {row}, column {col}",
        "seen": _restored_bands(changed, np.isnan(restored)),
        "measures": "",
        "measured": points(data.V[:, n]),
        "specks": points(data.V[:, n]),
        "restored": points(restored),
        "observed": [not is_changed for is_changed in changed.tolist()],
        "within": {
            "low": points(np.maximum(restored - deviation, 0)),
            "high": points(restored + deviation),
        },
    }
    return told if shown.truth is None else told | {"truth": points(shown.truth.V[:, n])}
