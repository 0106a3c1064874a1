"""Damage worth a look, one click each; the restorations are bundled with the program."""

from __future__ import annotations

from dataclasses import asdict

import streamlit as st

from atnmf_core.figures.images import data_url
from atnmf_core.restoration.examples import EXAMPLES
from pages.common.address import change
from pages.common.components import component
from pages.common.data_choice import load

from .pictures import view_of
from .request import damage
from .setting import ADDRESS, DAMAGES, RestoreSetting


def _preset(example: str, **view: object) -> RestoreSetting:
    data, task = EXAMPLES[example]
    shares = {name: getattr(task.damage, name) for name in DAMAGES}
    return RestoreSetting(data=data, losses=task.losses, **shares, **view)


PRESETS = {
    "Dead pixels nobody marked": _preset("dead"),
    "Striped cube": _preset("striped"),
    "Cosmic rays": _preset("cosmic"),
    "Half the pixels lost": _preset("lost"),
    "Faces with dead pixels": _preset("faces", image=8),
}


def show_presets(setting: RestoreSetting) -> None:
    """The row of presets; a click sets everything but the colour."""
    now = (setting.data, setting.task)
    cards = [
        {"title": title, "src": _thumbnail(title), "active": (preset.data, preset.task) == now}
        for title, preset in PRESETS.items()
    ]
    component("cards")(data={"cards": cards}, key="restore_presets", on_chosen_change=_choose)


def _choose() -> None:
    preset = tuple(PRESETS.values())[int(st.session_state["restore_presets"]["chosen"])]
    values = ADDRESS.read({}) | {"data": preset.data, "image": preset.image}
    own = {f"restore_{name}": value for name, value in asdict(preset).items()}
    values |= {key: value for key, value in own.items() if key in values}
    change(**{name: value for name, value in values.items() if name != "colour"})


@st.cache_data(show_spinner=False)
def _thumbnail(title: str) -> str:
    setting = PRESETS[title]
    truth = load(setting.data)
    spoiled, _ = damage(setting, truth)
    return data_url(view_of(setting, truth, spoiled).picture(spoiled.V))
