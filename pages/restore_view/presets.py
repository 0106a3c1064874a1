"""Damage worth a look, one click each; the restorations are bundled with the program."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import streamlit as st

from atnmf_core.figures.images import data_url
from atnmf_core.restoration.examples import EXAMPLES
from pages.common.address import change
from pages.common.components import component
from pages.common.data_choice import load

from .pictures import view_of
from .request import damage
from .setting import ADDRESS, DAMAGES, RestoreSetting

__all__ = ["PRESETS", "Preset", "show_presets"]


@dataclass(frozen=True)
class Preset:
    """A setting with a name."""

    title: str
    setting: RestoreSetting


def _preset(title: str, example: str, **view: object) -> Preset:
    data, order = EXAMPLES[example]
    shares = {name: getattr(order.damage, name) for name in DAMAGES}
    return Preset(title, RestoreSetting(data=data, losses=order.losses, **shares, **view))


PRESETS = (
    _preset("Dead pixels nobody marked", "dead"),
    _preset("Striped cube", "striped"),
    _preset("Cosmic rays", "cosmic"),
    _preset("Half the pixels lost", "lost"),
    _preset("Faces with dead pixels", "faces", image=8),
)


def show_presets(setting: RestoreSetting) -> None:
    """The row of presets; a click sets everything but the colour."""
    now = (setting.data, setting.order)
    cards = [
        {
            "title": preset.title,
            "src": _thumbnail(number),
            "active": (preset.setting.data, preset.setting.order) == now,
        }
        for number, preset in enumerate(PRESETS)
    ]
    component("cards")(data={"cards": cards}, key="restore_presets", on_chosen_change=_choose)


def _choose() -> None:
    preset = PRESETS[int(st.session_state["restore_presets"]["chosen"])].setting
    values = ADDRESS.read({}) | {"data": preset.data, "image": preset.image}
    own = {f"restore_{name}": value for name, value in asdict(preset).items()}
    values |= {key: value for key, value in own.items() if key in values}
    change(**{name: value for name, value in values.items() if name != "colour"})


@st.cache_data(show_spinner=False)
def _thumbnail(number: int) -> str:
    setting = PRESETS[number].setting
    truth = load(setting.data)
    spoiled, _ = damage(setting, truth)
    return data_url(view_of(setting, truth, spoiled).picture(spoiled.V))
