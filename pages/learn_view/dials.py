"""Chapters whose picture carries its own sliders, so that it follows a finger without a pause."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from pages.common.control import Stops
from pages.common.setting import LAMBDAS

from .chapter import Stage
from .components import moving_picture

__all__ = ["dials_of_one_number", "show_with_dials"]

MAX_V = 1.0
STEP = 0.05


def dials_of_one_number(v: float, p: float, max_p: float) -> dict[str, Stops]:
    """A number, its prediction and the price of changing it; v and p are where they stand at first."""
    return {
        "v": Stops(v, "v, the number in the data", _stops(MAX_V), "{:.2f}"),
        "p": Stops(p, "p, its prediction", _stops(max_p), "{:.2f}"),
        "lam": Stops(2.0, "λ, the attacker's price", LAMBDAS),
    }


def _stops(most: float) -> tuple[float, ...]:
    return tuple(round(STEP * step, 2) for step in range(round(most / STEP) + 1))


def show_with_dials(picture: str, controls: Mapping[str, Stops], stage: Stage) -> None:
    """Mount a picture with a dial for every control that is not hidden; at rest, they tell their values."""
    key = stage.key("picture")

    def stay() -> None:
        said = st.session_state[key]["values"]
        for name, control in controls.items():
            st.session_state[stage.key(name)] = control.understand(str(said[name]))

    dials = [
        {
            "name": name,
            "label": control.label,
            "stops": control.stops,
            "texts": [control.form.format(stop) for stop in control.stops],
        }
        for name, control in controls.items()
        if name not in stage.hidden
    ]
    values = {name: stage[name] for name in controls}
    moving_picture(picture, "agree", "chart", "dials", "closed_form")(
        data={"dials": dials, "values": values}, key=key, on_values_change=stay
    )
