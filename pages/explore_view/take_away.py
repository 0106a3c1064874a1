"""Explore's pictures, factors and measures to download, and how to reproduce the numbers."""

from __future__ import annotations

import streamlit as st

from atnmf_core import Dataset
from atnmf_core.export import factors_npz, measures_csv
from atnmf_core.figures.images import enlarge, png
from atnmf_core.figures.panels import figure
from pages.common import fit_pair
from pages.common.data_choice import UPLOAD
from pages.common.markdown import plain
from pages.common.restored_files import WHAT_IS_KEPT, download_like_source, draw_written, entries_to_keep
from pages.common.setting import Setting
from pages.common.take_away import download, recipe, show_recipe, source_of, stem_of

from .panels_view import six_panels
from .sidebar import ADDRESS

PANEL_SIDE, FIGURE_SIDE = 600, 400


def show_take_away(setting: Setting, data: Dataset, pair: fit_pair.Pair) -> None:
    """Downloads on the left, the snippet on the right."""
    left, right = st.columns([2, 3], gap="large")
    with left:
        _downloads(setting, data, pair)
    with right:
        show_recipe(recipe(setting, source_of(setting, data)))


def _downloads(setting: Setting, data: Dataset, pair: fit_pair.Pair) -> None:
    panels = six_panels(setting, data, pair)
    stem = stem_of(setting, data)
    st.markdown("**Pictures**")
    download("The whole figure, PNG", lambda: png(figure(panels, FIGURE_SIDE)), f"{stem}.png", "image/png")
    with st.container(horizontal=True, gap="small"):
        for panel in panels:
            download(
                f"({panel.letter})",
                lambda panel=panel: png(enlarge(panel.pixels, PANEL_SIDE)),
                f"{stem}-{panel.letter}.png",
                "image/png",
                help=f"{panel.title}, PNG",
            )
    if setting.data == UPLOAD:
        _restored(setting, data, pair)
    st.markdown("**Numbers**")
    observed = fit_pair.mask(setting, data)
    with st.container(horizontal=True, gap="small"):
        download(
            "Factors, NPZ",
            lambda: factors_npz({"atnmf": pair.atnmf, "nmf": pair.nmf}, observed),
            f"{stem}.npz",
            "application/zip",
        )
        download(
            "Measures, CSV",
            lambda: measures_csv(
                data,
                observed,
                pair.atnmf,
                pair.nmf,
                lam=setting.lam,
                keep_observed=setting.restored == "observed",
            ),
            f"{stem}.csv",
            "text/csv",
        )
    st.caption(f"{plain(data.title)}. {plain(data.terms)}")


def _restored(setting: Setting, data: Dataset, pair: fit_pair.Pair) -> None:
    st.markdown(f"**Restored data** · {WHAT_IS_KEPT[entries_to_keep(setting, data)]}")
    draw_written(ADDRESS, setting, data)
    for method, run in (("AT-NMF", pair.atnmf), ("NMF", pair.nmf)):
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.markdown(method, width=64)
            download_like_source(setting, data, method, run.W, run.H)
