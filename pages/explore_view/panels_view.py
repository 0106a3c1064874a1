"""The panels of the picture in view."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import streamlit as st

from atnmf_core import Dataset
from atnmf_core.adversary import curvature
from atnmf_core.analysis import pictures
from atnmf_core.analysis.comparison import ComparedPicture, PictureMeasures, compare_picture
from atnmf_core.figures.palette import HIDDEN
from atnmf_core.figures.panels import (
    LEARNED,
    Panel,
    attack_limit,
    error_panels,
    given_panels,
    learned_panels,
)
from atnmf_core.result import HasFactors
from atnmf_core.running.film import Frame
from pages.common import fit_pair
from pages.common.components import component
from pages.common.limits_view import reach
from pages.common.picture_view import ERROR_SCALE, R_SCALE, panels_data, show_panels, show_places
from pages.common.setting import Setting

from .shared_pictures import shared
from .sidebar import ADDRESS

FRAMES = ("", "", "orange", "blue")
# Streamlit splits the gap unevenly between a narrow and a wide column; these make all six panels equal.
GAP_OF_TWO, GAP_OF_FOUR = 0.875, 0.75


def show_given(setting: Setting, data: Dataset) -> None:
    """(a) and (b), which need no fit and so follow every move of a slider at once."""
    component("panels")(data=_given_data(setting, data), key="given")


@shared("image", "colour")
def _given_data(setting: Setting, data: Dataset) -> dict[str, Any]:
    name = pictures.picture_name(data, setting.image - 1)
    counted = f"{name} of {pictures.count(data)}" if data.kind == "faces" else name
    hidden = 1 - pictures.picture(data, fit_pair.mask(setting, data), setting.image - 1).mean()
    unseen = "hidden" if data.observed.all() else "hidden or missing"
    return panels_data(_given(setting, data), (counted, f"{hidden:.0%} of it {unseen}"), gap=GAP_OF_TWO)


def show_learned(setting: Setting, data: Dataset, pair: fit_pair.Pair) -> None:
    """(c) to (f), their scale and their measures."""
    component("panels")(data=_learned_data(setting, data, pair), key="learned")


@shared("image", "restored", "colour")
def _learned_data(setting: Setting, data: Dataset, pair: fit_pair.Pair) -> dict[str, Any]:
    drawn = _compared(setting, data, pair)
    at, nmf = drawn.measures()
    notes = (_scale(drawn), "what the learner fits", _measured(at, nmf, "orange"), _measured(nmf, at, "blue"))
    panels = _learned(setting, data, drawn)
    return panels_data(panels, notes, frames=FRAMES, pixels=drawn, gap=GAP_OF_FOUR)


def show_improving(setting: Setting, data: Dataset, frames: Sequence[Frame]) -> None:
    """(c) to (f) of fits under way, AT-NMF's frame first."""
    drawn = _compared(setting, data, frames)
    iterations = [f"iteration {frame.iteration}" for frame in frames]
    show_panels(
        _learned(setting, data, drawn),
        (_scale(drawn), "", *iterations),
        "learned",
        frames=FRAMES,
        pixels=drawn,
        gap=GAP_OF_FOUR,
    )


def frame_panels(setting: Setting, data: Dataset, frames: Sequence[Frame]) -> tuple[Panel, ...]:
    """(c) to (f) at an iteration, AT-NMF's frame first."""
    return _learned(setting, data, _compared(setting, data, frames))


def show_nothing_yet(data: Dataset) -> None:
    """Placeholders for (c) to (f) before anything is learned."""
    show_places(LEARNED, pictures.picture(data, data.V, 0).shape, "learned", FRAMES, GAP_OF_FOUR)


def show_errors(setting: Setting, data: Dataset, pair: fit_pair.Pair) -> None:
    """Where both methods err, on one scale."""
    panels, words, walls = _errors_data(setting, data, pair)
    left, right = st.columns([2, 4], gap="large")
    with left:
        component("panels")(data=panels, key="errors")
    with right:
        st.markdown(words)
        ADDRESS.draw("walls")
        st.caption(walls)


@shared("image", "restored", "colour", "walls")
def _errors_data(setting: Setting, data: Dataset, pair: fit_pair.Pair) -> tuple[dict[str, Any], str, str]:
    drawn = _compared(setting, data, pair)
    name = pictures.picture_name(data, setting.image - 1)
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


def six_panels(setting: Setting, data: Dataset, pair: fit_pair.Pair) -> tuple[Panel, ...]:
    """(a) to (f) as pictures."""
    return (*_given(setting, data), *_learned(setting, data, _compared(setting, data, pair)))


def _compared(setting: Setting, data: Dataset, fits: Iterable[HasFactors]) -> ComparedPicture:
    """The picture in view under AT-NMF's fit and under NMF's."""
    return compare_picture(
        data,
        fit_pair.mask(setting, data),
        *((fit.W, fit.H) for fit in fits),
        setting.image - 1,
        lam=setting.lam,
        keep_observed=setting.restored == "observed",
        leash=setting.bound,
        missing=setting.missing,
        reach=reach(setting, data),
    )


def _given(setting: Setting, data: Dataset) -> tuple[Panel, Panel]:
    index = setting.image - 1
    v, observed = (pictures.picture(data, matrix, index) for matrix in (data.V, fit_pair.mask(setting, data)))
    return given_panels(v, observed, HIDDEN[setting.colour], pictures.picture_name(data, index))


def _learned(setting: Setting, data: Dataset, drawn: ComparedPicture) -> tuple[Panel, ...]:
    return learned_panels(drawn, HIDDEN[setting.colour], pictures.picture_name(data, setting.image - 1))


def _scale(drawn: ComparedPicture) -> str:
    """The colour scale of R*, and how many pixels have a dot."""
    held = f"<br>• {drawn.walls.mean():.0%} at a wall" if drawn.walls.any() else ""
    return f'<img class="scale" src="{R_SCALE}" alt=""> ± {attack_limit(drawn):g}{held}'


def _walls(drawn: ComparedPicture) -> str:
    """Where the adversary has given up, in numbers."""
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
