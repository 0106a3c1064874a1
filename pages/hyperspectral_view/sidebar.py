"""The sidebar of the Hyperspectral page: Explore's controls, and which part of which cube."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from atnmf_core import Dataset, InputError
from atnmf_core.datasets import Entry, SpectralLibrary, Truth, UnreadableData, read_library, read_truth
from pages.common.cache import cached
from pages.common.data import choose_data, chosen_data, take_over_cube
from pages.common.state import change, last_shown
from pages.common.uploads import keep_received, uploads
from pages.common.widgets import (
    clamp,
    clamp_to_data,
    draw_hiding_and_model,
    draw_reset_and_link,
    draw_seeds_and_colour,
    escape_markdown,
    show_error,
)

from .setting import ADDRESS, SCENE, SIZES, CubeSetting, span

# What is known about the materials of an uploaded cube, from files.

SUFFIXES = ["npy", "npz", "mat", "csv", "tif", "tiff"]


def known_truth(data: Dataset) -> Truth | None:
    """The truth that comes with the data or, if there is none, that of uploaded files."""
    if data.truth is not None:
        return data.truth
    with st.expander("Known materials"):
        files = st.file_uploader(
            "Abundance maps, spectra, or both",
            type=SUFFIXES,
            accept_multiple_files=True,
            key="truth_files",
            help="Maps as rows x columns x materials, or materials x pixels; spectra as bands x materials.",
        )
        if not files:
            return None
        upload = keep_received(files, "truth_received") or st.session_state.get("truth_upload", "")
        st.session_state["truth_upload"] = upload
        try:
            return _truth(upload, data.content_hash, data) if uploads().files(upload) else None
        except (InputError, UnreadableData) as error:
            show_error(error)
            return None


@cached()
def _truth(upload: str, content_hash: str, _data: Dataset) -> Truth:
    return read_truth(_data, list(uploads().files(upload)))


# Reference spectra from a file, which give names to the found materials.


def draw_library_choice() -> None:
    with st.expander("Reference spectra"):
        files = st.file_uploader(
            "A spectral library: ENVI (.sli and .hdr), or a table with wavelengths",
            accept_multiple_files=True,
            key="library_files",
            help="The nearest of its spectra are named on each material's card, with their angles.",
        )
        if library := keep_received(files, "library_received"):
            change(library=library)
        if not st.session_state["library"]:
            return
        try:
            library = _read(st.session_state["library"])
        except UnreadableData as error:
            show_error(error.message)
            return
        if library is None:
            st.caption("The library in this link is not on this server: choose its files again.")
            return
        low, high = library.wavelengths.min(), library.wavelengths.max()
        st.caption(f"{len(library.names):,} spectra, {low:.0f} to {high:.0f} nm")
        st.button("Leave it out", on_click=change, kwargs={"library": ""})


def chosen_library(upload: str) -> SpectralLibrary | None:
    """The library in an address, if it is on this server and can be read."""
    try:
        return _read(upload) if upload else None
    except UnreadableData:
        return None


@cached()
def _library(upload: str) -> SpectralLibrary:
    return read_library(list(uploads().files(upload)))


def _read(upload: str) -> SpectralLibrary | None:
    return _library(upload) if uploads().files(upload) else None


FIRST_VIEW = {"alpha": 0.1, "pattern": "stripes", "lam": 1.05, "missing": "zero"}
"""What the page shows where no address says anything: dead lines that nobody has marked, where the methods
differ. The defaults are those of existing links.
"""


def show_sidebar() -> tuple[CubeSetting, Dataset | None]:
    is_first = last_shown("hyperspectral") is None and not st.query_params
    arrived = ADDRESS.load_from_address()
    if is_first:
        change(**FIRST_VIEW)
    if arrived:
        take_over_cube("explore")
    with st.sidebar:
        data = _cube(choose_data(("cube",), then=_start_afresh))
        if st.session_state["materials"] == "sum":
            change(solver="fast")
        draw_hiding_and_model(ADDRESS, data)
        ADDRESS.draw("materials", width="stretch")
        if st.session_state["materials"] == "parts":
            ADDRESS.draw("start", width="stretch")
        draw_library_choice()
        draw_seeds_and_colour(ADDRESS)
        draw_reset_and_link(ADDRESS, FIRST_VIEW)
    ADDRESS.write()
    return ADDRESS.get(CubeSetting), data


def _cube(entry: Entry | None) -> Dataset | None:
    state = st.session_state
    options = {}
    if entry is not None and entry.name == SCENE:
        ADDRESS.draw("size", width="stretch", on_change=_start_afresh)
        options = SIZES[state["size"]]
    whole = chosen_data(entry, **options)
    if whole is None:
        return None
    if whole.kind != "cube":
        st.error(
            f"{escape_markdown(whole.title)} is not a cube: open it on the Explore page.",
            icon=":material/error:",
        )
        return None
    _cut_out(whole)
    truth = known_truth(whole)
    truth_hash = "" if truth is None else truth.content_hash
    cut = (state["rows"], state["cols"], state["bands"])
    data = _part(whole.content_hash, truth_hash, cut, whole, truth)
    clamp_to_data(data)
    clamp(dict.fromkeys(("red", "green", "blue"), data.shape[0]))
    return data


def _cut_out(whole: Dataset) -> None:
    rows, cols = whole.image_shape
    with st.expander("Cut out a part"):
        st.caption("The part becomes a cube of its own, counted from 1.")
        for name, length in (("rows", rows), ("cols", cols), ("bands", whole.shape[0])):
            if length > 1:
                key, wanted = f"{name}_span", span(st.session_state[name], length)
                if st.session_state.get(key) != wanted:
                    change(**{key: wanted})
                label = ADDRESS.controls[name].label
                st.slider(label, 1, length, wanted, key=key, on_change=_set_span, args=(name, length))


def _set_span(name: str, length: int) -> None:
    first, last = st.session_state[f"{name}_span"]
    change(**{name: "" if (first, last) == (1, length) else f"{first}-{last}"}, pixel="", pins="")


@cached()
def _part(
    content_hash: str, truth_hash: str, cut: tuple[str, str, str], _whole: Dataset, _truth: Truth | None
) -> Dataset:
    known = _whole if _truth is _whole.truth else replace(_whole, truth=_truth)
    rows, cols, bands = cut
    return CubeSetting(rows=rows, cols=cols, bands=bands).cut(known)


def _start_afresh() -> None:
    """Another cube: the part and the pixels chosen in the last one mean nothing in it."""
    first = CubeSetting()
    names = ("rows", "cols", "bands", "triplet", "pixel", "pins")
    change(**{name: getattr(first, name) for name in names})
