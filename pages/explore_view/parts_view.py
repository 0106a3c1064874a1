"""Learned parts of both methods side by side, and who uses a chosen one."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import streamlit as st

from atnmf_core import Dataset
from atnmf_core.analysis import pictures
from atnmf_core.analysis.parts import share_in_sample, side_by_side, top_users, use
from atnmf_core.analysis.recovery import known_factors
from atnmf_core.figures.images import data_url
from atnmf_core.figures.palette import HIDDEN, grey
from atnmf_core.figures.parts import columns_for, part_sheet
from atnmf_core.running.run import Run
from pages.common.address import change
from pages.common.components import component
from pages.common.fit_pair import Pair
from pages.common.limits_view import reach
from pages.common.setting import Setting

from .shared_pictures import shared
from .sidebar import ADDRESS

SHEETS = {"parts_atnmf": "AT-NMF", "parts_nmf": "NMF"}
USERS = 4
MEANING = {
    "faces": "Most used first, alike side by side. Click one to see which faces use it.",
    "cube": "Abundance maps (rows of H), most used first, alike side by side.",
    "matrix": "Columns of W, most used first, alike side by side.",
}


def show_parts(setting: Setting, data: Dataset, pair: Pair) -> None:
    """Two sheets of tiles: AT-NMF's most used part first, and in the same position the NMF part most
    like it.
    """
    titles = ("**Parts · :orange[AT-NMF]**", "**Parts · :blue[NMF]**")
    columns, sheets = st.columns(2, gap="medium"), _sheets(setting, data, pair)
    for column, title, key, sheet in zip(columns, titles, SHEETS, sheets, strict=True):
        with column:
            st.markdown(title)
            component("sheets", page="explore_view")(
                data=sheet, key=key, on_chosen_change=partial(_choose, key)
            )
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.caption(MEANING[data.kind], width="content")
        ADDRESS.draw("scale", label_visibility="collapsed")


def _choose(key: str) -> None:
    change(part=int(st.session_state[key]["chosen"]) + 1)


@shared("colour", "scale", "part")
def _sheets(setting: Setting, data: Dataset, pair: Pair) -> list[dict[str, Any]]:
    order = side_by_side(pair.atnmf, pair.nmf)
    runs = zip(SHEETS.values(), pair, (order.first, order.second), strict=True)
    return [_sheet(method, setting, data, run, places) for method, run, places in runs]


def _sheet(
    method: str, setting: Setting, data: Dataset, run: Run, places: npt.NDArray[np.intp]
) -> dict[str, Any]:
    W, H = run.W, run.H
    shares = use(W, H)
    parts = pictures.part_pictures(data, *known_factors(W, H, reach(setting, data)))[places]
    colour = HIDDEN[setting.colour]
    sheet = part_sheet(parts, shared_scale=setting.scale == "shared", ground=225, unknown=colour)
    names = [f"{method}, part {place}: {shares[part]:.1%} of W H" for place, part in enumerate(places, 1)]
    return {
        "src": data_url(sheet),
        "alt": f"The {len(places)} parts that {method} learned, most used first",
        "columns": columns_for(parts),
        "names": names,
        "chosen": setting.part - 1,
    }


def show_users(setting: Setting, data: Dataset, pair: Pair) -> None:
    """The samples that use the chosen part most, for each method."""
    if not 1 <= setting.part <= setting.K:
        return
    order = side_by_side(pair.atnmf, pair.nmf)
    place = setting.part - 1
    similarity = order.similarity[place]
    st.markdown(f"**Part {setting.part}** · the two methods' parts here are {similarity:.0%} alike (cosine)")
    columns = st.columns(2, gap="medium")
    chosen = (int(order.first[place]), int(order.second[place]))
    for column, method, run, part in zip(columns, SHEETS.values(), pair, chosen, strict=True):
        with column:
            _users(data, run, part, method)


def _users(data: Dataset, run: Run, part: int, method: str) -> None:
    users = top_users(run.H, part, USERS)
    if data.kind != "faces":
        where = ", ".join(pictures.sample_name(data, int(user)) for user in users) or "nowhere"
        st.caption(f"{method} uses it most at {where}.")
        return
    st.caption(f"Faces that use it most in {method}")
    component("cards")(
        data={
            "cards": [_card(data, run, part, int(user)) for user in users],
            "label": f"Faces that use it most in {method}",
            "wraps": True,
        },
        key=f"users_{method}",
        on_chosen_change=lambda: change(
            image=int(users[int(st.session_state[f"users_{method}"]["chosen"])]) + 1
        ),
    )


def _card(data: Dataset, run: Run, part: int, user: int) -> dict[str, Any]:
    v = pictures.picture(data, data.V, user)
    share = share_in_sample(run.W, run.H, part, user)
    return {
        "title": pictures.sample_name(data, user),
        "note": f"{share:.0%} of it",
        "src": data_url(grey(v, pictures.white_level(v))),
        "active": False,
    }
