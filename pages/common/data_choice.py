"""Choosing the data: from the catalogue, the paper's on request, or a file of one's own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection

import streamlit as st
from cachetools import LRUCache

from atnmf_core import Dataset, load_dataset, read_dataset
from atnmf_core.datasets import SUFFIXES, DataUnavailable, Entry, UnreadableData, catalogue

from .address import change
from .markdown import plain
from .setting import start_of

__all__ = ["UPLOAD", "choose_data", "chosen_data", "entry_of", "load", "uploads"]

UPLOAD = "upload"
MAX_BYTES = 2_000_000_000
MEGABYTES = 200
NORMALISATIONS = {
    "none": "as they are",
    "maximum": "largest value to 1",
    "lee-seung": "each image to mean and deviation ¼",
}


class Uploads:
    """Data that was uploaded to this server, by content hash, so that a reload or a link finds it again."""

    def __init__(self) -> None:
        # The last one must find room, however large it is.
        self._cached = LRUCache[str, Dataset](MAX_BYTES, lambda data: min(data.V.nbytes, MAX_BYTES))
        self._lock = threading.Lock()

    def keep(self, data: Dataset) -> str:
        with self._lock:
            self._cached[data.content_hash] = data
        return data.content_hash

    def get(self, content_hash: str) -> Dataset | None:
        with self._lock:
            return self._cached.get(content_hash)


@st.cache_resource(show_spinner=False)
def uploads() -> Uploads:
    return Uploads()


@st.cache_resource(show_spinner=False, max_entries=8)
def load(name: str, **options: int) -> Dataset:
    """A data set of the catalogue, shared by all sessions."""
    return load_dataset(name, **options)


def entry_of(name: str) -> Entry | None:
    return next((entry for entry in catalogue() if entry.name == name), None)


def chosen_data(**options: int) -> Dataset | None:
    """The data that the select box names where it is at hand; `options` are those of `load_dataset`."""
    name = st.session_state["data"]
    if name == UPLOAD:
        return uploads().get(st.session_state["upload"])
    entry = entry_of(name)
    if entry is None or not entry.available:
        return None
    try:
        return load(name, **options)
    except DataUnavailable as error:
        st.error(plain(str(error)), icon=":material/error:")
        return None


def choose_data(
    kinds: Collection[str] = ("faces", "cube", "matrix"), then: Callable[[], None] = lambda: None
) -> None:
    """The select box with all data of these kinds, and below it what an upload needs. `then` is called after
    other data was chosen.
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
        format_func=label,
        key="data",
        on_change=_apply_defaults,
        args=(then,),
        help="Faces, a hyperspectral cube or a matrix. The paper's data is downloaded only on request.",
    )
    if st.session_state["data"] == UPLOAD:
        _upload(then)


def _apply_defaults(then: Callable[[], None]) -> None:
    entry = entry_of(st.session_state["data"])
    if entry is not None:
        change(**start_of(entry.name, entry.kind, entry.shape))
    then()


def _upload(then: Callable[[], None]) -> None:
    normalisation = st.selectbox(
        "Values", NORMALISATIONS, format_func=NORMALISATIONS.get, key="upload_values"
    )
    negative = st.checkbox(
        "Negative values count as 0",
        key="upload_negative",
        help="Noise can push dark entries of a corrected cube below zero; no nonnegative model fits that.",
    )
    files = st.file_uploader(
        "Images, a zip of them, MAT, NPY, ENVI, TIFF or CSV",
        type=[suffix.removeprefix(".") for suffix in SUFFIXES],
        accept_multiple_files=True,
        max_upload_size=MEGABYTES,
        key="upload_files",
    )
    if not files:
        return
    identity = (normalisation, negative, *(file.file_id for file in files))
    if st.session_state.get("upload_read") == identity:
        return
    try:
        data = read_dataset(
            [(file.name, file.getvalue()) for file in files],
            normalisation=normalisation,
            negative="zero" if negative else "refuse",
        )
    except UnreadableData as error:
        st.error(plain(str(error)), icon=":material/error:")
        return
    st.session_state["upload_read"] = identity
    change(upload=uploads().keep(data), **start_of(UPLOAD, data.kind, data.shape))
    then()
