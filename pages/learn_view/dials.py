"""Chapters whose picture carries its own sliders, so that it follows a finger without a pause."""

from __future__ import annotations

import streamlit as st

from pages.common.setting import LAMBDAS

from .chapter import Stage
from .components import moving_picture
from .control import Stops

__all__ = ["dials_of_one_number", "show_with_dials"]

V_MOST = 1.0
STEP = 0.05


def dials_of_one_number(v: float, p: float, p_most: float) -> tuple[Stops, ...]:
    """A number, its prediction and the price of changing it; v and p are where they stand at first."""
    return (
        Stops("v", "v, the number in the data", v, _stops(V_MOST), "{:.2f}", inside=True),
        Stops("p", "p, its prediction", p, _stops(p_most), "{:.2f}", inside=True),
        Stops("lam", "λ, the attacker's price", 2.0, LAMBDAS, inside=True),
    )


def _stops(most: float) -> tuple[float, ...]:
    return tuple(round(STEP * step, 2) for step in range(round(most / STEP) + 1))


def show_with_dials(picture: str, controls: tuple[Stops, ...], stage: Stage) -> None:
    """Mount a picture with a dial for every control that is not hidden; where they come to rest is kept."""
    key = stage.key("picture")

    def stay() -> None:
        said = st.session_state[key]["values"]
        for control in controls:
            value = control.read(str(said[control.name]))
            st.session_state[stage.key(control.name)] = control.default if value is None else value

    dials = [
        {
            "name": control.name,
            "label": control.label,
            "stops": control.stops,
            "texts": [control.form.format(stop) for stop in control.stops],
        }
        for control in controls
        if control.name not in stage.hidden
    ]
    values = {control.name: stage[control.name] for control in controls}
    moving_picture(picture, "agree", "chart", "dials", "closed_form")(
        data={"dials": dials, "values": values}, key=key, on_values_change=stay
    )
