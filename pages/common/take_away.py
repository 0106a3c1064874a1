"""Everything on the page to take away: pictures, factors, measures, and how to get them again."""

from __future__ import annotations

import streamlit as st

from atnmf_core import Dataset
from atnmf_core.export import factors_npz, measures_csv
from atnmf_core.figures.images import enlarge, png
from atnmf_core.figures.panels import figure
from atnmf_core.recipe import Recipe
from pages.explore_view.panels_view import six_panels

from . import fit_pair
from .data_choice import UPLOAD
from .setting import Setting

__all__ = ["download", "recipe", "show_recipe", "show_take_away", "source_of", "stem_of"]

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
    st.markdown("**Numbers**")
    observed = fit_pair.mask(setting, data)
    with st.container(horizontal=True, gap="small"):
        download(
            "Factors, NPZ",
            lambda: factors_npz({"atnmf": pair.atnmf.fit, "nmf": pair.nmf.fit}, observed),
            f"{stem}.npz",
            "application/zip",
        )
        download(
            "Measures, CSV",
            lambda: measures_csv(
                data, observed, pair.atnmf.fit, pair.nmf.fit, keep_observed=setting.restored == "kept"
            ),
            f"{stem}.csv",
            "text/csv",
        )
    st.caption(f"{data.title}. {data.terms}")


def download(label: str, make: object, file_name: str, mime: str, help: str | None = None) -> None:
    """A file that is made by calling `make` when somebody asks for it."""
    # Made when it is asked for, so that a page that nobody takes from costs nothing.
    st.download_button(
        label, make, file_name=file_name, mime=mime, help=help, on_click="ignore", key=f"take_{file_name}"
    )


def stem_of(setting: Setting, data: Dataset) -> str:
    """How the names of files made from this setting begin."""
    return f"{data.name}-alpha{setting.alpha:g}-lam{setting.lam:g}-K{setting.K}-{setting.missing}"


def source_of(setting: Setting, data: Dataset, **options: int) -> str:
    """The expression that gives the data."""
    if setting.data != UPLOAD:
        told = "".join(f", {name}={value}" for name, value in options.items())
        return f'load_dataset("{setting.data}"{told})'
    normalised = "" if data.normalisation == "none" else f', normalisation="{data.normalisation}"'
    return f'read_dataset("your-file"{normalised})'


def recipe(setting: Setting, source: str, start: str = "random") -> Recipe:
    """How this setting's numbers are made without the dashboard."""
    names = ("alpha", "mask_seed", "pattern", "K", "lam", "missing", "solver", "seed")
    return Recipe(
        source=source,
        data=setting.data if source == f'load_dataset("{setting.data}")' else "",
        start=start,
        **{name: getattr(setting, name) for name in names},
    )


def show_recipe(again: Recipe) -> None:
    """As Python and, where there is one, as a command line."""
    st.markdown("**The same numbers again**")
    # Without colours: Streamlit's are too pale to read on the dark theme.
    st.code(again.python(), language=None, wrap_lines=True)
    if again.command_line():
        st.code(again.command_line(), language=None, wrap_lines=True)
