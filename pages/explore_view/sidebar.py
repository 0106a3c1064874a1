"""The sidebar of the Explore page."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import streamlit as st

from atnmf_core import Dataset
from atnmf_core.analysis import pictures
from atnmf_core.analysis.pictures import compare_picture
from atnmf_core.figures.images import HIDDEN, data_url
from atnmf_core.figures.panels import given_panels, learned_panels
from pages.common.cache import cached
from pages.common.data import choose_data, chosen_data, entry_of, is_cube, is_offered, load, take_over_cube
from pages.common.fitting import Case, solve_both
from pages.common.state import Address, Setting, change
from pages.common.uploads import FileSetting
from pages.common.widgets import (
    clamp_to_data,
    component,
    draw_hiding_and_model,
    draw_reset_and_link,
    draw_seeds_and_colour,
)


@dataclass(frozen=True)
class Preset:
    title: str
    setting: Setting
    panel: str


PRESETS = (
    Preset("Half the pixels gone", Setting(alpha=0.5), "b"),
    Preset("90% gone", Setting(alpha=0.9, missing="ignore", K=10), "b"),
    Preset("Unmarked dead pixels, strong adversary", Setting(alpha=0.3, lam=1.05), "e"),
    Preset("No adversary", Setting(lam=100.0), "f"),
    Preset("Marked instead of unmarked", Setting(alpha=0.5, missing="ignore"), "e"),
    Preset("Figure 4 of the paper (download)", Setting(data="cbcl", K=49, image=2401), "b"),
)


@cached()
def _offered() -> list[tuple[int, Preset]]:
    """The presets whose data people can choose, which stay the same, with their numbers."""
    return [(number, one) for number, one in enumerate(PRESETS) if is_offered(entry_of(one.setting.data))]


def show_presets(setting: Setting) -> None:
    cards = [
        {
            "title": preset.title,
            "src": _preset_thumbnail(number),
            "active": preset.setting.solved == setting.solved,
        }
        for number, preset in _offered()
    ]
    component("cards")(data={"cards": cards}, key="presets", on_chosen_change=_choose)


def _choose() -> None:
    preset = _offered()[int(st.session_state["presets"]["chosen"])][1].setting
    chosen = {name: value for name, value in asdict(preset).items() if name not in Setting.VIEW}
    if preset.data != st.session_state["data"]:
        chosen["image"] = preset.image
    change(**chosen, part=0)
    st.session_state["run_asked"] = True


@cached()
def _preset_thumbnail(number: int) -> str:
    """A small picture of the bundled faces; the paper's own data may not be available."""
    preset = PRESETS[number]
    setting = preset.setting if preset.setting.data == "lfw" else Setting(alpha=preset.setting.alpha)
    case, index = Case(setting, load("lfw")), Setting().image - 1
    if preset.panel == "b":
        v, seen = (pictures.picture(case.data, matrix, index) for matrix in (case.data.V, case.observed))
        return data_url(given_panels(v, seen, HIDDEN["red"], "")[1].pixels)
    factors = [(run.W, run.H) for run in solve_both(case)]
    how = {"lam": setting.lam, "leash": setting.bound, "missing": setting.missing}
    picture = compare_picture(case.data, case.observed, *factors, index, keep_observed=False, **how)
    drawn = learned_panels(picture, HIDDEN["red"], "")
    return data_url(next(panel.pixels for panel in drawn if panel.letter == preset.panel))


ADDRESS = Address("explore", Setting, FileSetting)


def show_sidebar() -> tuple[Setting, Dataset | None]:
    if ADDRESS.load_from_address() and is_cube(st.session_state):
        take_over_cube("hyperspectral")
    with st.sidebar:
        data = chosen_data(choose_data())
        if data is not None:
            clamp_to_data(data)
        draw_hiding_and_model(ADDRESS, data)
        draw_seeds_and_colour(ADDRESS)
        draw_reset_and_link(ADDRESS)
    ADDRESS.write()
    return ADDRESS.get(Setting), data
