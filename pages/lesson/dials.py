"""Chapters whose picture carries its own sliders, so that it follows a finger without a pause."""

from __future__ import annotations

import streamlit as st

from .chapter import Stage
from .components import moving_picture
from .control import Stops

__all__ = ["show_with_dials"]


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
