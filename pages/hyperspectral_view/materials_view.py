"""Materials: what each column of W is made of and where each row of H says it is, by either method."""

from __future__ import annotations

from math import isfinite
from typing import Any

import streamlit as st

from atnmf_core import Dataset
from atnmf_core.analysis.unmixing import Materials, Score, materials_of, score
from atnmf_core.datasets import Truth
from atnmf_core.figures.composite import smaller
from atnmf_core.figures.cube_view import band_axis, spectra_top
from atnmf_core.figures.images import data_url
from atnmf_core.figures.palette import MATERIALS, tint
from pages.common import fit_pair
from pages.common.components import component
from pages.common.setting import FitKey

from . import COMPONENTS
from .cube_setting import CubeSetting
from .pictures import METHODS, factors_of

__all__ = ["show_materials"]

MOST_SIDE = 160
Key = tuple[tuple[FitKey, FitKey], str]
"""The fits, and what the truth is known to be."""


def show_materials(setting: CubeSetting, data: Dataset, pair: fit_pair.Pair) -> None:
    """A card per material, and how near the truth all of them are."""
    key = (fit_pair.keys(setting, data), "" if data.truth is None else data.truth.content_hash)
    found, truth = _found(key, data, pair)
    st.subheader("Materials", anchor=False)
    st.markdown(_summary(found, truth))
    component("materials", "chart", "spectra", folder=COMPONENTS)(
        key="materials", data=_cards(key, data, found, truth)
    )


@st.cache_resource(show_spinner=False, max_entries=4)
def _found(key: Key, _data: Dataset, _pair: fit_pair.Pair) -> tuple[tuple[Materials, ...], Truth | None]:
    return materials_of(list(factors_of(_pair).values()), _data.truth)


def _summary(found: tuple[Materials, ...], truth: Truth | None) -> str:
    alike = (
        "Columns of W as spectra, rows of H as abundance maps, scaled so that a pixel's abundances sum to "
        "about one. What stands on one card belongs together."
    )
    if truth is None:
        return alike
    scores = [score(one, truth) for one in found]
    told = [_mean(method, tone, one) for (method, tone), one in zip(METHODS.items(), scores, strict=True)]
    return f"Against the true materials: {' · '.join(told)}. {alike}"


def _mean(method: str, tone: str, one: Score) -> str:
    parts = []
    if isfinite(one.mean_angle):
        parts.append(f"mean spectral angle **{one.mean_angle:.2f}°**")
    if isfinite(one.mean_error):
        parts.append(f"abundance RMSE **{one.mean_error:.3f}**")
    return f":{tone}[{method}] {', '.join(parts)}"


@st.cache_data(show_spinner=False, max_size="32 MB")
def _cards(key: Key, _data: Dataset, _found: tuple[Materials, ...], _truth: Truth | None) -> dict[str, Any]:
    return band_axis(_data) | {
        "cards": [_card(_data, _found, _truth, place) for place in range(_found[0].spectra.shape[1])],
        "maps": len(_found) + (_truth is not None),
    }


def _card(data: Dataset, found: tuple[Materials, ...], truth: Truth | None, place: int) -> dict[str, Any]:
    colour = MATERIALS[place % len(MATERIALS)]
    is_known = truth is not None and place < truth.count
    name = truth.names[place] if is_known and truth.names else f"Material {place + 1}"
    lines, maps = [], []
    if is_known and truth.endmembers.size:
        lines.append({"tone": "truth", "values": truth.endmembers[:, place].tolist()})
    for (method, tone), one in zip(METHODS.items(), found, strict=True):
        lines.append({"tone": tone, "values": one.spectra[:, place].tolist()})
        figures = _figures(score(one, truth), place) if is_known else ""
        maps.append(_map(data, one.abundances[place], colour, method, tone, name, figures))
    if is_known and truth.abundances.size:
        maps.append(_map(data, truth.abundances[place], colour, "truth", "", name, ""))
    return {
        "name": name.capitalize(),
        "remark": f"{found[0].share(place):.0%} of the scene",
        "colour": colour,
        "top": spectra_top([line["values"] for line in lines]),
        "lines": lines,
        "maps": maps,
    }


def _figures(one: Score, place: int) -> str:
    angle, error = one.angles[place], one.errors[place]
    parts = [f"{angle:.2f}°"] if isfinite(angle) else []
    if isfinite(error):
        parts.append(f"RMSE {error:.3f}")
    return "<br>".join(parts)


def _map(
    data: Dataset, abundances: Any, colour: str, method: str, tone: str, name: str, figures: str
) -> dict[str, str]:
    picture = tint(smaller(data.image(abundances), MOST_SIDE), colour)
    alt = f"Where {name} is, by {method}" if method != "truth" else f"Where {name} truly is"
    return {"title": method, "tone": tone, "src": data_url(picture), "alt": alt, "figures": figures}
