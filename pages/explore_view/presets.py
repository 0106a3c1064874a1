"""Settings worth a look, one click each."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cache

import streamlit as st

from atnmf_core.analysis import pictures
from atnmf_core.analysis.comparison import compare_picture
from atnmf_core.figures.images import data_url
from atnmf_core.figures.palette import HIDDEN
from atnmf_core.figures.panels import given_panels, learned_panels
from pages.common import fit_pair
from pages.common.address import change
from pages.common.components import component
from pages.common.data_choice import load
from pages.common.setting import Setting


@dataclass(frozen=True)
class Preset:
    """A setting with a name, and its most telling panel."""

    title: str
    setting: Setting
    panel: str


PRESETS = (
    Preset("Figure 4 of the paper", Setting(data="cbcl", K=49, image=2401), "b"),
    Preset("Half the pixels gone", Setting(alpha=0.5), "b"),
    Preset("90% gone", Setting(alpha=0.9, missing="ignore", K=10), "b"),
    Preset("Unmarked dead pixels, strong adversary", Setting(alpha=0.3, lam=1.05), "e"),
    Preset("No adversary", Setting(lam=100.0), "f"),
    Preset("Marked instead of unmarked", Setting(alpha=0.5, missing="ignore"), "e"),
)


def show_presets(setting: Setting) -> None:
    """The row of presets; a click sets everything except the view."""
    cards = [
        {"title": preset.title, "src": _thumbnail(number), "active": preset.setting.solved == setting.solved}
        for number, preset in enumerate(PRESETS)
    ]
    component("cards")(data={"cards": cards}, key="presets", on_chosen_change=_choose)


def _choose() -> None:
    preset = PRESETS[int(st.session_state["presets"]["chosen"])].setting
    chosen = {name: value for name, value in asdict(preset).items() if name not in Setting.VIEW}
    if preset.data != st.session_state["data"]:
        chosen["image"] = preset.image
    change(**chosen, part=0)
    st.session_state["run_asked"] = True


@cache
def _thumbnail(number: int) -> str:
    """A small picture of the bundled faces; the paper's own data may not be available."""
    preset = PRESETS[number]
    setting = preset.setting if preset.setting.data == "lfw" else Setting(alpha=preset.setting.alpha)
    data, index = load("lfw"), Setting().image - 1
    observed = fit_pair.mask(setting, data)
    if preset.panel == "b":
        v, seen = (pictures.picture(data, matrix, index) for matrix in (data.V, observed))
        return data_url(given_panels(v, seen, HIDDEN["red"], "")[1].pixels)
    pair = fit_pair.solve_both(setting, data)
    factors = [(run.W, run.H) for run in (pair.atnmf, pair.nmf)]
    how = {"lam": setting.lam, "leash": setting.bound, "missing": setting.missing}
    picture = compare_picture(data, observed, *factors, index, keep_observed=False, **how)
    drawn = learned_panels(picture, HIDDEN["red"], "")
    return data_url(next(panel.pixels for panel in drawn if panel.letter == preset.panel))
