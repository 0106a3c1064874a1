"""The sidebar of Explore, its presets, and the panels of the picture in view."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from atnmf_core import Dataset
from atnmf_core.analysis import pictures
from atnmf_core.analysis.pictures import ComparedPicture, PictureMeasures, compare_picture
from atnmf_core.export import factors_npz, measures_csv
from atnmf_core.figures.images import (
    HIDDEN,
    LEARNED,
    Panel,
    attack_limit,
    data_url,
    error_panels,
    given_panels,
    learned_panels,
)
from atnmf_core.jobs.fit_task import Frame
from atnmf_core.model.adversary import curvature
from atnmf_core.model.result import HasFactors
from pages.common import fitting
from pages.common.address import Address, change
from pages.common.cache import F, cached
from pages.common.data import choose_data, chosen_data, entry_of, is_cube, is_offered, load, take_over_cube
from pages.common.fitting import Case, Pair, ShownFits, latest_frames, solve_both
from pages.common.jobs import JOB_POLL_SECONDS, poll_interval
from pages.common.setting import Setting
from pages.common.take_away import FigureFile, File, show_figures, show_take_away, source_of, stem_of
from pages.common.uploads import UPLOAD, FileSetting
from pages.common.widgets import (
    ERROR_SCALE,
    R_SCALE,
    clamp_to_data,
    component,
    draw_hiding_and_model,
    draw_reset_and_link,
    draw_seeds_and_colour,
    panels_data,
    show_panels,
    show_places,
    show_strip,
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


THUMBNAILS = 14


def picture_strip(setting: Setting, data: Dataset) -> None:
    strip, restored = st.columns([3, 2], gap="medium", vertical_alignment="center")
    with strip:
        if data.kind == "cube":
            ADDRESS.draw("image", high=pictures.count(data))
        elif data.kind == "faces":
            show_strip(data, setting.image, THUMBNAILS, "strip")
    with restored:
        ADDRESS.draw("restored", label_visibility="collapsed", width="stretch")


def drawn_once(*view: str) -> Callable[[F], F]:
    """Draw something of a case and its fits once for all; it depends on `view`, of `Setting.VIEW`."""
    return cached(key=lambda case, *fits: (case.keys, *(getattr(case.setting, name) for name in view)))


FRAMES = ("", "", "orange", "blue")
# Streamlit splits the gap unevenly between a narrow and a wide column; these make all six panels equal.
GAP_OF_TWO, GAP_OF_FOUR = 0.875, 0.75


def show_given(case: Case) -> None:
    """(a) and (b), which need no fit and so follow every move of a slider at once."""
    component("panels")(data=_given_data(case), key="given")


@drawn_once("image", "colour")
def _given_data(case: Case) -> dict[str, Any]:
    setting, data = case.setting, case.data
    name = pictures.picture_name(data, setting.image - 1)
    counted = f"{name} of {pictures.count(data)}" if data.kind == "faces" else name
    hidden = 1 - pictures.picture(data, case.observed, setting.image - 1).mean()
    unseen = "hidden" if data.observed.all() else "hidden or missing"
    return panels_data(_given(case), (counted, f"{hidden:.0%} of it {unseen}"), gap=GAP_OF_TWO)


def show_learned(case: Case, pair: Pair) -> None:
    component("panels")(data=_learned_data(case, pair), key="learned")


@drawn_once("image", "restored", "colour")
def _learned_data(case: Case, pair: Pair) -> dict[str, Any]:
    drawn = _compared(case, pair)
    at, nmf = drawn.measures()
    notes = (_scale(drawn), "what the learner fits", _measured(at, nmf, "orange"), _measured(nmf, at, "blue"))
    panels = _learned(case, drawn)
    return panels_data(panels, notes, frames=FRAMES, pixels=drawn, gap=GAP_OF_FOUR)


def show_improving(case: Case, frames: Sequence[Frame]) -> None:
    drawn = _compared(case, frames)
    notes = (_scale(drawn), "", *(f"iteration {frame.iteration}" for frame in frames))
    look = {"frames": FRAMES, "pixels": drawn, "gap": GAP_OF_FOUR}
    show_panels(_learned(case, drawn), notes, "learned", **look)


def frame_panels(case: Case, frames: Sequence[Frame]) -> tuple[Panel, ...]:
    return _learned(case, _compared(case, frames))


def show_errors(case: Case, pair: Pair) -> None:
    panels, words, walls = _errors_data(case, pair)
    left, right = st.columns([2, 4], gap="large")
    with left:
        component("panels")(data=panels, key="errors")
    with right:
        st.markdown(words)
        ADDRESS.draw("walls")
        st.caption(walls)


@drawn_once("image", "restored", "colour", "walls")
def _errors_data(case: Case, pair: Pair) -> tuple[dict[str, Any], str, str]:
    setting, drawn = case.setting, _compared(case, pair)
    name = pictures.picture_name(case.data, setting.image - 1)
    panels, top = error_panels(drawn, name, walls=setting.walls, hidden=HIDDEN[setting.colour])
    scale = f'<img class="scale" src="{ERROR_SCALE}" alt=""> 0 … {top:g}'
    at, nmf = drawn.closer_shares()
    hidden = (
        f"Of the hidden pixels, :orange[AT-NMF] is closer to the truth at **{at:.0%}**, :blue[NMF] at "
        f"**{nmf:.0%}**."
    )
    words = "Distance |v − restored| at every pixel, both on one scale. "
    words += hidden if setting.alpha else "Nothing is hidden, so no error is measured."
    shown = panels_data(panels, (scale, scale), frames=("orange", "blue"), gap=GAP_OF_TWO)
    return shown, words, _walls(drawn)


def error_figure(case: Case, pair: Pair) -> tuple[Panel, ...]:
    name, setting = pictures.picture_name(case.data, case.setting.image - 1), case.setting
    return error_panels(_compared(case, pair), name, walls=setting.walls, hidden=HIDDEN[setting.colour])[0]


def six_panels(case: Case, pair: Pair) -> tuple[Panel, ...]:
    return (*_given(case), *_learned(case, _compared(case, pair)))


def _compared(case: Case, fits: Iterable[HasFactors]) -> ComparedPicture:
    setting = case.setting
    return compare_picture(
        case.data, case.observed, *((fit.W, fit.H) for fit in fits), setting.image - 1,
        lam=setting.lam, keep_observed=setting.restored == "observed", leash=setting.bound,
        missing=setting.missing, reach=case.reach,
    )  # fmt: skip


def _given(case: Case) -> tuple[Panel, Panel]:
    data, index = case.data, case.setting.image - 1
    v, observed = (pictures.picture(data, matrix, index) for matrix in (data.V, case.observed))
    return given_panels(v, observed, HIDDEN[case.setting.colour], pictures.picture_name(data, index))


def _learned(case: Case, drawn: ComparedPicture) -> tuple[Panel, ...]:
    name = pictures.picture_name(case.data, case.setting.image - 1)
    return learned_panels(drawn, HIDDEN[case.setting.colour], name)


def _scale(drawn: ComparedPicture) -> str:
    """The colour scale of R*, and how many pixels have a dot."""
    held = f"<br>• {drawn.walls.mean():.0%} at a wall" if drawn.walls.any() else ""
    return f'<img class="scale" src="{R_SCALE}" alt=""> ± {attack_limit(drawn):g}{held}'


def _walls(drawn: ComparedPicture) -> str:
    halves = (~drawn.observed, drawn.observed)
    hidden, seen = (float(drawn.walls[where].mean()) if where.any() else 0.0 for where in halves)
    unmarked = drawn.missing == "zero"
    of_hidden = f"{hidden:.0%} of the hidden pixels, which it takes for zeros, and at " if unmarked else ""
    return (
        f"The adversary stands at a wall, where it can do no more harm, at {of_hidden}{seen:.0%} of the seen "
        f"ones. Such a pixel weighs 1/{curvature(drawn.lam):.3g} of one that it still attacks. "
        "Dots mark them in (c)."
    )


def _measured(mine: PictureMeasures, other: PictureMeasures, colour: str) -> str:
    better = ' <span class="best">better</span>' if mine.rmse < other.rmse else ""
    error = f'<b class="{colour}">{mine.rmse:.3f}</b> RMSE&nbsp;hidden{better}'
    return (
        f"{'nothing known is hidden' if np.isnan(mine.rmse) else error}<br>"
        f"PSNR&nbsp;{mine.psnr:.1f}&nbsp;dB{'' if np.isnan(mine.ssim) else f' · SSIM&nbsp;{mine.ssim:.2f}'}"
    )


def show_while_waiting(case: Case, shown: ShownFits | None) -> None:
    poll = poll_interval(JOB_POLL_SECONDS) if fitting.jobs(case) else None
    st.fragment(_panels, run_every=poll)(case, shown)


def _panels(case: Case, shown: ShownFits | None) -> None:
    frames = latest_frames(case)
    if frames:
        show_improving(case, frames)
    elif shown is not None:
        show_learned(shown.case, shown.pair)
    else:
        shape = pictures.picture(case.data, case.data.V, 0).shape
        show_places(LEARNED, shape, "learned", FRAMES, GAP_OF_FOUR)


def show_panels_take_away(case: Case, pair: Pair, figures: Callable[[Case, Pair], list[FigureFile]]) -> None:
    """Everything of the picture in view, and the restored data if it is one's own."""
    setting, stem = case.setting, stem_of(case.setting, case.data)
    factors = partial(factors_npz, pair._asdict(), case.observed)
    how = {"lam": setting.lam, "keep_observed": setting.restored == "observed"}
    measures = partial(measures_csv, case.data, case.observed, *pair, **how)
    show_take_away(
        case,
        pair,
        ADDRESS,
        source_of(setting, case.data),
        begin=lambda: show_figures(stem, figures(case, pair)),
        restored="Restored data" if setting.data == UPLOAD else "",
        numbers=(
            File("Factors, NPZ", factors, f"{stem}.npz", "application/zip"),
            File("Measures, CSV", measures, f"{stem}.csv", "text/csv"),
        ),
    )
