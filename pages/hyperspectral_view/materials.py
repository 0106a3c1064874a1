"""Materials by each method: spectra and maps, pure pixels beside them, and the library's nearest spectra."""

from collections.abc import Hashable
from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np
import streamlit as st

from atnmf_core import Dataset, InputError
from atnmf_core.analysis.unmixing import (
    MaterialErrors,
    Materials,
    materials_of,
    nearest_spectra,
    pure_materials,
    score,
)
from atnmf_core.datasets import Truth
from atnmf_core.figures.images import HIDDEN, MATERIALS, data_url, paint, tint
from atnmf_core.figures.views import band_axis, points, smaller, spectra_top
from pages.common.cache import cached
from pages.common.fitting import Case, Pair
from pages.common.widgets import component, escape_markdown

from .pictures import METHODS, factors_of
from .setting import ADDRESS, chosen_library

MOST_SIDE = 160
MAX_NAMES = 2  # Of library spectra on a card
WAYS = METHODS | {"Pure pixels": "pure"}


def show_materials(case: Case, pair: Pair) -> dict[str, Any]:
    with st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute"):
        st.header("Materials", anchor=False, width="content")
        ADDRESS.draw("pure")
    try:
        found, truth = _found(case, pair)
    except InputError as error:
        st.caption(escape_markdown(str(error)))  # This data has no pure pixels: show the fits alone
        case = Case(replace(case.setting, pure=False), case.data)
        found, truth = _found(case, pair)
    st.markdown(_summary(found, truth, SUMS[case.setting.materials]))
    if case.setting.library and case.data.wavelengths is None:
        st.caption("The cube has no wavelengths, so it cannot be compared with library spectra.")
    cards = _cards(case, found, truth)
    component("materials", "chart", "spectra", page="hyperspectral_view")(key="material_cards", data=cards)
    return cards


def _key(case: Case, *_found: object) -> Hashable:
    """What the materials follow from: the fits, the truth, and whether pure pixels are beside them."""
    return case.keys, "" if case.data.truth is None else case.data.truth.content_hash, case.setting.pure


@cached(key=_key)
def _found(case: Case, pair: Pair) -> tuple[tuple[Materials, ...], Truth | None]:
    setting, data, known = case.setting, case.data, case.reach
    pure = []
    if setting.pure:
        pure.append(pure_materials(data.V, case.observed, K=setting.K, seed=setting.seed))
    how = {"unit_sum": setting.materials == "sum", "bands": known.bands, "pixels": known.pixels}
    return materials_of(list(factors_of(pair).values()), data.truth, summing=pure, **how)


SUMS = {
    "parts": "scaled so that a pixel's abundances sum to about one.",
    "sum": "which sum to one in each pixel; brightness may vary from pixel to pixel.",
}


def _summary(found: tuple[Materials, ...], truth: Truth | None, sums: str) -> str:
    alike = "A card for each material: a column of W as its spectrum, a row of H as its map, " + sums
    if len(found) == len(WAYS):
        alike += (
            " **Pure pixels** are not fitted: spectra of single pixels, and abundances that sum to one "
            "(fully constrained least squares)."
        )
    if truth is None:
        return alike
    scores = [score(one, truth) for one in found]
    means = [_mean(way, tone, one) for (way, tone), one in zip(WAYS.items(), scores, strict=False)]
    return f"Against the true materials: {' · '.join(means)}. {alike}"


def _mean(method: str, tone: str, one: MaterialErrors) -> str:
    parts = []
    if isfinite(one.mean_angle):
        parts.append(f"mean spectral angle **{one.mean_angle:.2f}°**")
    if isfinite(one.mean_error):
        parts.append(f"abundance RMSE **{one.mean_error:.3f}**")
    return f"{f':{tone}[{method}]' if method in METHODS else method} {', '.join(parts)}"


@cached(key=lambda case, *found: (_key(case), case.setting.library, case.setting.colour))
def _cards(case: Case, found: tuple[Materials, ...], truth: Truth | None) -> dict[str, Any]:
    data, setting = case.data, case.setting
    places = range(found[0].spectra.shape[1])
    cards = [_card(data, found, truth, place, setting.colour) for place in places]
    for card, nearest in zip(cards, _nearest(setting.library, data, found), strict=True):
        card["nearest"] = nearest
    return band_axis(data) | {"cards": cards, "maps": len(found) + (truth is not None)}


def _nearest(library: str, data: Dataset, found: tuple[Materials, ...]) -> list[list[str]]:
    spectra = chosen_library(library)
    lines: list[list[str]] = [[] for _ in range(found[0].spectra.shape[1])]
    if spectra is None or data.wavelengths is None:
        return lines
    for way, one in zip(WAYS, found, strict=False):
        for line, matches in zip(
            lines, nearest_spectra(one.spectra, data.wavelengths, spectra, MAX_NAMES), strict=True
        ):
            names = ", ".join(f"{match.name} {match.angle:.1f}°" for match in matches)
            line.append(f"{way} is nearest to {names}" if names else f"{way}: the library has other bands")
    return lines


def _card(
    data: Dataset, found: tuple[Materials, ...], truth: Truth | None, place: int, unknown: str
) -> dict[str, Any]:
    colour = MATERIALS[place % len(MATERIALS)]
    is_known = truth is not None and place < truth.count
    name = truth.names[place] if is_known and truth.names else f"Material {place + 1}"
    spectra, maps = {}, []
    if is_known and truth.endmembers.size:
        spectra["truth"] = truth.endmembers[:, place]
    for (method, tone), one in zip(WAYS.items(), found, strict=False):
        spectra[tone] = one.spectra[:, place]
        figures = _figures(score(one, truth), place) if is_known else ""
        maps.append(_map(data, one.abundances[place], (colour, unknown), method, tone, name, figures))
    if is_known and truth.abundances.size:
        maps.append(_map(data, truth.abundances[place], (colour, unknown), "truth", "", name, ""))
    return {
        "name": name.capitalize(),
        "remark": f"{found[0].share(place):.0%} of the scene",
        "colour": colour,
        "top": spectra_top(list(spectra.values())),
        "lines": [{"tone": tone, "values": points(values)} for tone, values in spectra.items()],
        "maps": maps,
    }


def _figures(one: MaterialErrors, place: int) -> str:
    angle, error = one.angles[place], one.errors[place]
    parts = [f"{angle:.2f}°"] if isfinite(angle) else []
    if isfinite(error):
        parts.append(f"RMSE {error:.3f}")
    return "<br>".join(parts)


def _map(
    data: Dataset, abundances: Any, colours: tuple[str, str], method: str, tone: str, name: str, figures: str
) -> dict[str, str]:
    colour, unknown = colours
    image = smaller(data.image(abundances), MOST_SIDE)
    picture = paint(tint(image, colour), np.isnan(image), HIDDEN[unknown])
    alt = f"Where {name} is, by {method}" if method != "truth" else f"Where {name} truly is"
    return {"title": method, "tone": tone, "src": data_url(picture), "alt": alt, "figures": figures}
