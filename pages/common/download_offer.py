"""What is shown in place of the pictures while the chosen data is not on this machine."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from atnmf_core.datasets import PAPER_FOLDERS, DataUnavailable, Entry, fetch

from .data_choice import UPLOAD, entry_of
from .file_setting import file_setting
from .setting import Setting
from .upload_form import uploaded_reading

POLL_SECONDS = 0.3
MAX_DOWNLOADS = 4
FILES = "images (several, or a zip), MATLAB, NumPy, ENVI, GeoTIFF, NetCDF, HDF5 or a table"


@dataclass(eq=False)
class Download:
    """A download of one data set, for every session that waits for it."""

    done: int = 0
    total: int = 1
    finished: Future[Any] = field(default_factory=Future)

    def report(self, done: int, total: int, file: str) -> None:
        self.done, self.total = done, total


class Downloads:
    """The downloads of this server, by the name of the data set."""

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
    """Those of this server."""
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
    """A download on request; its progress while it runs, and the reason if it failed."""
    download = downloads().get(entry.name)
    if download is not None and not download.finished.done():
        st.fragment(_progress, run_every=POLL_SECONDS)(download, entry)
        return
    error = None if download is None else download.finished.exception()
    if error is not None:
        st.error(_in_words(entry, error), icon=":material/cloud_off:")
    _offer(entry)


def _in_words(entry: Entry, error: BaseException) -> str:
    if isinstance(error, DataUnavailable):
        return str(error)
    return f"{entry.title} could not be downloaded: {error} ({type(error).__name__})."


def _offer(entry: Entry) -> None:
    with st.container(border=True):
        st.markdown(
            f"**{entry.title}** is not on this machine. It is downloaded from where its owners published it "
            f"({_size(entry.download_bytes)}), checked, and stored for the next time."
        )
        st.caption(f"Terms: {entry.terms} To cite: {entry.citation}")
        st.button(
            "Download it",
            type="primary",
            icon=":material/download:",
            on_click=downloads().begin,
            args=(entry.name,),
        )


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"


def _progress(download: Download, entry: Entry) -> None:
    if download.finished.done():
        st.rerun()
    share = min(1.0, download.done / max(download.total, 1))
    st.progress(share, f"{entry.title}: {_size(download.done)} of {_size(download.total)}")
