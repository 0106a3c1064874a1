"""Choosing the data: from the catalogue, the paper's on request, or one's own file."""

from __future__ import annotations

from collections.abc import Callable, Collection

import streamlit as st

from atnmf_core import Dataset, load_dataset
from atnmf_core.datasets import DataUnavailable, Entry, catalogue

from .address import change
from .markdown import plain
from .setting import start_of
from .upload_form import UPLOAD, show_upload_form, uploaded

__all__ = ["UPLOAD", "choose_data", "chosen_data", "entry_of", "load"]


@st.cache_resource(show_spinner=False, max_entries=8)
def load(name: str, **options: int) -> Dataset:
    """A data set from the catalogue, shared by all sessions."""
    return load_dataset(name, **options)


def entry_of(name: str) -> Entry | None:
    return next((entry for entry in catalogue() if entry.name == name), None)


def chosen_data(**options: int) -> Dataset | None:
    """The selected data, if it is available; its reader's notes are shown. `options` are those of
    `load_dataset`.
    """
    name = st.session_state["data"]
    if name == UPLOAD:
        return _with_notes(uploaded())
    entry = entry_of(name)
    if entry is None or not entry.available:
        return None
    try:
        return _with_notes(load(name, **options))
    except DataUnavailable as error:
        st.error(plain(str(error)), icon=":material/error:")
        return None


def _with_notes(data: Dataset | None) -> Dataset | None:
    """Show the notes of the data's reader, and return the data."""
    if data is not None and data.notes:
        st.caption("  \n".join(plain(note) for note in data.notes))
    return data


def choose_data(
    kinds: Collection[str] = ("faces", "cube", "matrix"), then: Callable[[], None] = lambda: None
) -> None:
    """The select box with all data of these kinds, and below it the form for an upload. `then` is called when
    other data is chosen.
    """
    entries = {entry.name: entry for entry in catalogue() if entry.kind in kinds}
    if st.session_state["data"] not in (*entries, UPLOAD):
        change(data=next(iter(entries)))

    def label(name: str) -> str:
        if name == UPLOAD:
            return "Your own file…"
        entry = entries[name]
        return entry.title if entry.available else f"{entry.title} · download"

    st.selectbox(
        "Data",
        (*entries, UPLOAD),
        (*entries, UPLOAD).index(st.session_state["data"]),
        format_func=label,
        key="data",
        on_change=_apply_defaults,
        args=(then,),
        help="Faces, a hyperspectral cube or a matrix. The paper's data is downloaded only on request.",
    )
    if st.session_state["data"] == UPLOAD:
        show_upload_form(kinds, then)


def _apply_defaults(then: Callable[[], None]) -> None:
    entry = entry_of(st.session_state["data"])
    if entry is not None:
        change(**start_of(entry.name, entry.kind, entry.shape))
    then()
