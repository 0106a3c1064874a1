"""Chapters 3 and 5: what an adversary does to one entry, and the resulting loss.

Their pictures have their own sliders, and follow them without waiting for the server.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from pages.common.control import Stops
from pages.common.setting import LAMBDAS, LEASHES, OpenStops

from ..chapter import Chapter, Stage
from ..components import moving_picture

MAX_V = 1.0
STEP = 0.05


@dataclass(frozen=True)
class Leash(OpenStops):
    """A dial has no values between its stops."""

    def read(self, text: str) -> float | None:
        value = super().read(text)
        if value is None or math.isinf(value):
            return value
        return min(self.stops, key=lambda stop: abs(stop - value))


def _chapter(
    name: str, short: str, picture: str, *, v: float, p: float, max_p: float, leash: bool = False
) -> Chapter:
    """A picture with sliders for v, p, lambda and perhaps the leash; v and p are their first values."""
    controls: dict[str, Stops] = {
        "v": Stops(v, "v, the entry of the data", _stops(MAX_V), "{:.2f}"),
        "p": Stops(p, "p, its prediction", _stops(max_p), "{:.2f}"),
        "lam": Stops(2.0, "λ, the adversary's price", LAMBDAS),
    }
    if leash:
        controls["g"] = Leash(math.inf, "g, the adversary's leash", LEASHES, none="no leash")
    return Chapter(
        name=name,
        short=short,
        controls=controls,
        show=lambda stage: _show(picture, controls, stage),
        in_picture=controls,
    )


def _stops(end: float) -> tuple[float, ...]:
    return tuple(round(STEP * step, 2) for step in range(round(end / STEP) + 1))


def _show(picture: str, controls: Mapping[str, Stops], stage: Stage) -> None:
    key = stage.key("picture")

    def remember() -> None:
        chosen = st.session_state[key]["values"]
        for name, control in controls.items():
            said = "inf" if chosen[name] is None else str(chosen[name])
            st.session_state[stage.key(name)] = control.understand(said)

    dials = [
        {
            "name": name,
            "label": control.label,
            "stops": [_finite(stop) for stop in control.stops],
            "texts": [control.word(stop) for stop in control.stops],
        }
        for name, control in controls.items()
        if name not in stage.hidden
    ]
    values = {name: _finite(stage[name]) for name in controls}
    moving_picture(picture, "agree", "chart", "legend", "dials", "closed_form")(
        data={"dials": dials, "values": values}, key=key, on_values_change=remember
    )


def _finite(stop: float) -> float | None:
    """None for infinity, which JSON does not know."""
    return None if math.isinf(stop) else stop


ADVERSARY = _chapter("adversary", "Adversary", "attack", v=0.6, p=0.2, max_p=1.5)
LOSS = _chapter("loss", "Loss", "loss", v=0.4, p=1.2, max_p=2.0, leash=True)
