"""The six pictures of the cube: original and masked, restored and wrong by either method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

import numpy as np
import numpy.typing as npt
import streamlit as st

from atnmf_core import Dataset
from atnmf_core.analysis.recovery import band_error, band_rmse, hidden_error, restored_band
from atnmf_core.figures.cube_view import CubeView, error_top
from atnmf_core.figures.images import data_url
from atnmf_core.figures.palette import HIDDEN
from atnmf_core.running.film import Frame
from pages.common import fit_pair
from pages.common.components import component
from pages.common.fit_request import POLL_SECONDS, ShownFits, latest_frames
from pages.common.limits_view import reach, show_unreached
from pages.common.picture_view import ERROR_SCALE
from pages.common.setting import FitKey

from .cube_setting import CubeSetting
from .view_bar import bands_in_words, is_joint, shown_bands

METHODS = {"AT-NMF": "orange", "NMF": "blue"}
FactorsByMethod = Mapping[str, tuple[Any, Any]]
Panels = list[dict[str, str]]


def factors_of(pair: fit_pair.Pair) -> FactorsByMethod:
    """W and H by method."""
    return {"AT-NMF": (pair.atnmf.W, pair.atnmf.H), "NMF": (pair.nmf.W, pair.nmf.H)}


def show_pictures(setting: CubeSetting, data: Dataset, shown: ShownFits | None) -> None:
    """All six pictures if they are ready; while a fit runs, what it has so far."""
    if shown is not None and shown.is_current:
        _mount(setting, data, _given(setting, data), _learned(shown.setting, data, shown.pair))
        return
    running = bool(fit_pair.jobs(setting, data))
    st.fragment(_meanwhile, run_every=POLL_SECONDS if running else None)(setting, data, shown)


def _meanwhile(setting: CubeSetting, data: Dataset, shown: ShownFits | None) -> None:
    frames = latest_frames(setting, data)
    if frames:
        learned = _improving(setting, data, frames)
    elif shown is not None:
        learned = _learned(shown.setting, data, shown.pair)
    else:
        learned = [_panel(f"{method} restores", tone) for method, tone in METHODS.items()]
        learned += [_panel(f"{method}'s error", tone) for method, tone in METHODS.items()]
    _mount(setting, data, _given(setting, data), learned)


def _mount(setting: CubeSetting, data: Dataset, given: Panels, learned: Panels) -> None:
    """In columns: the data, AT-NMF, NMF."""
    rows, cols = data.image_shape
    component("views")(
        key="views",
        data={
            "rows": rows,
            "cols": cols,
            "columns": 3,
            "pairs": True,
            "panels": [given[0], *learned[:2], given[1], *learned[2:]],
            "pixel": [number - 1 for number in setting.place(data)],
            "pins": [[row - 1, col - 1] for row, col in setting.pinned(data)],
        },
    )


def _panel(title: str, tone: str = "", src: str = "", alt: str = "", note: str = "") -> dict[str, str]:
    return {"title": title, "tone": tone, "src": src, "alt": alt, "note": note}


def _view(setting: CubeSetting, data: Dataset) -> CubeView:
    return CubeView(
        data,
        shown_bands(setting, data),
        float(setting.clip),
        is_joint(setting, data),
        HIDDEN[setting.colour],
    )


def _drawn_from(setting: CubeSetting, data: Dataset) -> tuple[object, ...]:
    """Everything that determines the pictures, except the fit."""
    looks = (setting.clip, is_joint(setting, data), setting.colour, setting.restored)
    return setting.mask_key(data.content_hash), shown_bands(setting, data), looks


def _given(setting: CubeSetting, data: Dataset) -> Panels:
    return _given_drawn(_drawn_from(setting, data), setting, data)


@st.cache_data(show_spinner=False, max_size="32 MB")
def _given_drawn(key: tuple[object, ...], _setting: CubeSetting, _data: Dataset) -> Panels:
    view, words = _view(_setting, _data), bands_in_words(_setting, _data)
    observed = fit_pair.mask(_setting, _data)
    hidden = 1 - float(observed.mean())
    return [
        _panel("Original", "", data_url(view.original()), f"Original, {words}", words),
        _panel(
            "Masked",
            "",
            data_url(view.masked(observed)),
            f"What the learner sees of {words}, {hidden:.0%} of the cube hidden",
            f"{hidden:.0%} of the cube hidden",
        ),
    ]


def _learned(setting: CubeSetting, data: Dataset, pair: fit_pair.Pair) -> Panels:
    return _learned_drawn(fit_pair.keys(setting, data), _drawn_from(setting, data), setting, data, pair)


@st.cache_data(show_spinner=False, max_size="32 MB")
def _learned_drawn(
    keys: tuple[FitKey, FitKey],
    key: tuple[object, ...],
    _setting: CubeSetting,
    _data: Dataset,
    _pair: fit_pair.Pair,
) -> Panels:
    view, factors = _view(_setting, _data), factors_of(_pair)
    if view.is_single:
        given = _data.V, fit_pair.mask(_setting, _data), reach(_setting, _data)
        f, keep = view.bands[0], _setting.restored == "observed"
        errors = [band_error(*given, W, H, f, keep_observed=keep) for W, H in factors.values()]
        figures = [band_rmse(*given, W, H, f) for W, H in factors.values()]
    else:
        errors = [_hidden_error(one, _data, W, H) for one, (W, H) in zip(keys, factors.values(), strict=True)]
        figures = [run.rmse_hidden for run in (_pair.atnmf, _pair.nmf)]
    where = "hidden here" if view.is_single else "hidden"
    restored = [
        _restored(_setting, _data, view, method, factors[method], _figure(figures, number, where))
        for number, method in enumerate(METHODS)
    ]
    top = error_top(errors)
    what = "|v − restored|" if view.is_single else "RMSE of a pixel's hidden bands"
    scale = f'<img class="scale" src="{ERROR_SCALE}" alt="">0 … {top:g}<br>{what}'
    wrong = [
        _panel(
            f"{method}'s error",
            tone,
            data_url(view.error_picture(error, top, ~reach(_setting, _data).pixels)),
            f"Error of {method}, {what}, dark where large",
            scale,
        )
        for (method, tone), error in zip(METHODS.items(), errors, strict=True)
    ]
    return [*restored, *wrong]


def _improving(setting: CubeSetting, data: Dataset, frames: Sequence[Frame]) -> Panels:
    view = _view(setting, data)
    restored = [
        _restored(setting, data, view, method, (frame.W, frame.H), f"iteration {frame.iteration}")
        for method, frame in zip(METHODS, frames, strict=True)
    ]
    return restored + [_panel(f"{method}'s error", tone) for method, tone in METHODS.items()]


def _restored(
    setting: CubeSetting, data: Dataset, view: CubeView, method: str, factors: tuple[Any, Any], note: str
) -> dict[str, str]:
    given = data.V, fit_pair.mask(setting, data), reach(setting, data), *factors
    keep = setting.restored == "observed"
    picture = view.picture([restored_band(*given, f, keep_observed=keep) for f in view.bands])
    alt = f"{bands_in_words(setting, data)} restored by {method}"
    return _panel(f"{method} restores", METHODS[method], data_url(picture), alt, note)


def _figure(figures: Sequence[float], number: int, where: str) -> str:
    """The RMSE of one method among two, and whether it is the lower."""
    if isnan(figures[number]):
        return "nothing known is hidden: no error measured"
    mine, other = (f"{figure:.3g}" for figure in (figures[number], figures[1 - number]))
    best = (
        ' <span class="best">better</span>' if figures[number] < figures[1 - number] and mine != other else ""
    )
    return f'<b class="{list(METHODS.values())[number]}">{mine}</b> RMSE {where}{best}'


@st.cache_data(show_spinner=False, max_size="32 MB")
def _hidden_error(key: FitKey, _data: Dataset, _W: Any, _H: Any) -> npt.NDArray[np.float64]:
    observed = fit_pair.mask_of(key.mask, _data)
    return hidden_error(_data.V, observed, _W, _H)


def show_limits_of_recovery(setting: CubeSetting, data: Dataset) -> None:
    """Say what cannot be recovered, and what hardly can."""
    show_unreached(setting, data)
    weak = reach(setting, data).weak(setting.K)
    if weak:
        st.caption(
            f"{weak:,} pixels have fewer than K = {setting.K} observed bands: what is restored there is a "
            "guess."
        )
