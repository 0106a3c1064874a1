"""Choosing the data: from the catalogue, the paper's on request, or one's own file."""

import sys
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import streamlit as st

from atnmf_core import Dataset, load_dataset
from atnmf_core.datasets import PAPER_FOLDERS, DataUnavailable, Entry, catalogue, fetch
from atnmf_core.datasets.catalogue import size_in_words

from .address import K_CHOSEN, SHOWN, change, last_shown
from .cache import cached
from .jobs import JobProgress, show_job
from .setting import Setting, defaults_for
from .uploads import (
    FILE_CONTROLS,
    UPLOAD,
    FileSetting,
    bring_own_file,
    draw_remedies,
    file_setting,
    remember_own_file,
    show_upload_form,
    uploaded,
    uploaded_reading,
)
from .widgets import escape_markdown, show_error


@cached()
def load(name: str, **options: int) -> Dataset:
    return load_dataset(name, **options)


def entry_of(name: str) -> Entry | None:
    return next((entry for entry in catalogue() if entry.name == name), None)


def is_offered(entry: Entry | None) -> bool:
    """Whether people can choose this data, or None, their own: a page without a server loads neither."""
    return sys.platform != "emscripten" or (entry is not None and entry.available)


def chosen_data(entry: Entry | None, **options: int) -> Dataset | None:
    """The data of an entry, or of the upload for None, if available; its reader's notes are shown."""
    if entry is None:
        return _with_notes(uploaded())
    if not entry.available:
        return None
    try:
        return _with_notes(load(entry.name, **options))
    except DataUnavailable as error:
        show_error(error)
        return None


def _with_notes(data: Dataset | None) -> Dataset | None:
    if data is not None and data.notes:
        st.caption("  \n".join(escape_markdown(note) for note in data.notes))
    return data


def choose_data(
    kinds: Collection[str] = ("faces", "cube", "matrix"), then: Callable[[], None] = lambda: None
) -> Entry | None:
    """The select box and the upload form; the chosen entry, None for an upload. `then` follows a change."""
    page = st.session_state.get(SHOWN, "")
    bring_own_file(page, kinds)
    entries = {entry.name: entry for entry in catalogue() if entry.kind in kinds and is_offered(entry)}
    own = (UPLOAD,) if is_offered(None) else ()
    if st.session_state["data"] not in (*entries, *own):
        change(data=next(iter(entries)))

    def label(name: str) -> str:
        if name == UPLOAD:
            return "Your own file…"
        entry = entries[name]
        return entry.title if entry.available else f"{entry.title} · download"

    st.selectbox(
        "Data",
        (*entries, *own),
        (*entries, *own).index(st.session_state["data"]),
        format_func=label,
        key="data",
        on_change=_apply_defaults,
        args=(then,),
        help="Faces, a hyperspectral cube or a matrix. The paper's data is downloaded only on request.",
    )
    if st.session_state["data"] == UPLOAD:
        show_upload_form(kinds, then)
    remember_own_file(page)
    if st.session_state["data"] == UPLOAD:
        return None
    return entries[st.session_state["data"]]


def _apply_defaults(then: Callable[[], None]) -> None:
    entry = entry_of(st.session_state["data"])
    if entry is not None:
        change(**defaults_for(entry.name, entry.kind, entry.shape), **{K_CHOSEN: False})
    then()


DECIDES_FITS = (
    "data", "upload", "alpha", "pattern", "lam", "leash", "K", "missing", "solver", "seed", "mask_seed",
    "colour",
)  # fmt: skip


def take_over_cube(page: str) -> None:
    """Continue with the cube that another page showed last, if it did show one."""
    there = last_shown(page)
    if there is not None and is_cube(there):
        change(**{name: there[name] for name in (*DECIDES_FITS, *FILE_CONTROLS)})


def is_cube(values: Mapping[str, Any]) -> bool:
    if values["data"] == UPLOAD:
        setting = FileSetting(**{name: values[name] for name in FILE_CONTROLS})
        reading = uploaded_reading(values["upload"], setting)
        return reading is not None and reading.data is not None and reading.data.kind == "cube"
    entry = entry_of(values["data"])
    return entry is not None and entry.kind == "cube"


MAX_DOWNLOADS = 4
_ASKED = "download_asked"
FILES = "images (several, or a zip), MATLAB, NumPy, ENVI, GeoTIFF, NetCDF, HDF5 or a table"


@dataclass(eq=False)
class Download:
    done: int = 0
    total: int = 1
    finished: Future[Any] = field(default_factory=Future)

    def report(self, done: int, total: int, file: str) -> None:
        self.done, self.total = done, total


class Downloads:
    def __init__(self) -> None:
        self._begun: dict[str, Download] = {}
        self._threads = ThreadPoolExecutor(MAX_DOWNLOADS)

    def get(self, name: str) -> Download | None:
        return self._begun.get(name)

    def begin(self, name: str) -> None:
        under_way = self.get(name)
        if under_way is not None and not under_way.finished.done():
            return
        download = self._begun[name] = Download()
        download.finished = self._threads.submit(fetch, PAPER_FOLDERS[name], progress=download.report)


@st.cache_resource(show_spinner=False)
def downloads() -> Downloads:
    return Downloads()


def show_offer(setting: Setting, files: str = FILES) -> None:
    """How to get the data: a download on request, or a file to choose; `files` says which."""
    if setting.data == UPLOAD:
        reading = uploaded_reading(setting.upload, file_setting())
        problem = None if reading is None else reading.problem
        if problem is not None and not (problem.remedies or problem.arrays or problem.setting):
            st.info(
                f"This cannot be read; the sidebar says why. Choose other files there: {files}.",
                icon=":material/upload_file:",
            )
        elif problem is not None and (problem.remedies or problem.arrays):
            st.warning(escape_markdown(problem.message), icon=":material/help:")
            with st.container(width=480):
                draw_remedies(reading, "answer", with_arrays=True)
            st.caption("The sidebar shows what each answer would give.")
        elif reading is not None:
            st.info("There is a question about your file in the sidebar.", icon=":material/help:")
        else:
            st.info(
                f"Choose your files in the sidebar: {files}. They stay on this machine.",
                icon=":material/upload_file:",
            )
        return
    entry = entry_of(setting.data)
    if entry is not None:
        offer_data(entry)


def offer_data(entry: Entry) -> None:
    download = downloads().get(entry.name)
    if download is not None and not download.finished.done():
        show_job(partial(_progress, download, entry))
        return
    error = None if download is None else download.finished.exception()
    # Somebody else's failure says nothing about the next try.
    if error is not None and st.session_state.get(_ASKED) == entry.name:
        why = f"{entry.title} could not be downloaded: {error} ({type(error).__name__})."
        known = isinstance(error, DataUnavailable)
        st.error(str(error) if known else why, icon=":material/cloud_off:")
    with st.container(border=True):
        st.markdown(
            f"**{entry.title}** is not on this machine. It is downloaded from {entry.source} "
            f"({entry.download_size}), checked, and stored."
        )
        st.caption(f"Terms: {entry.terms} To cite: {entry.citation}")
        icon = ":material/download:"
        st.button("Download it", type="primary", icon=icon, on_click=_begin, args=(entry.name,))


def _begin(name: str) -> None:
    st.session_state[_ASKED] = name
    downloads().begin(name)


def _progress(download: Download, entry: Entry) -> JobProgress | None:
    if download.finished.done():
        return None
    done, total = download.done, max(download.total, 1)
    return JobProgress(done / total, f"{entry.title}: {size_in_words(done)} of {size_in_words(total)}")
