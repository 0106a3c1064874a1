"""Learned parts of both methods side by side, and who uses a chosen one."""

from __future__ import annotations

import streamlit as st

from atnmf_core import Dataset, pictures
from atnmf_core.figures.images import data_url
from atnmf_core.figures.parts import columns_for, part_sheet
from atnmf_core.parts import side_by_side, use

from .components import component
from .fits import Run
from .solving import Pair

__all__ = ["show_parts"]


def show_parts(data: Dataset, pair: Pair, columns: tuple) -> None:
    """Two sheets of tiles, most used part of AT-NMF first, the NMF part that resembles it in the same place."""
    order = side_by_side(pair.atnmf.fit, pair.nmf.fit)
    shared = st.session_state.get("shared_scale", False)
    for column, title, run, places, key in (
        (columns[0], "Parts · :orange[AT-NMF]", pair.atnmf, order.first, "parts_atnmf"),
        (columns[1], "Parts · :blue[NMF], same order", pair.nmf, order.second, "parts_nmf"),
    ):
        with column:
            st.markdown(f"**{title}**")
            _sheet(data, run, places, key, shared)


def _sheet(data: Dataset, run: Run, places, key: str, shared: bool) -> None:
    fit = run.fit
    shares = use(fit.W, fit.H)
    component("sheets")(
        data={
            "src": data_url(
                part_sheet(
                    pictures.part_pictures(data, fit.W, fit.H)[places], shared_scale=shared, ground=225
                )
            ),
            "alt": f"{len(places)} learned parts of {'NMF' if fit.lam is None else 'AT-NMF'}, most used first",
            "columns": columns_for(len(places)),
            "names": [
                f"Part {place + 1}: {shares[part]:.1%} of everything" for place, part in enumerate(places)
            ],
            "chosen": st.session_state.get("part", -1),
        },
        key=key,
    )
