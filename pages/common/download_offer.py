"""What stands in the place of the pictures while the chosen data is not at hand."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import streamlit as st

from atnmf_core.datasets import PAPER_FOLDERS, DataUnavailable, Entry, fetch

from .data_choice import UPLOAD, entry_of
from .setting import Setting

__all__ = ["offer_data", "show_offer"]

POLL_SECONDS = 0.3
FILES = "images (several, or a zip), MATLAB, NumPy, ENVI, TIFF or a table"


@dataclass(eq=False)
class Download:
    """The files of one data set on their way, for every session that waits for them."""

    name: str
    done: int = 0
    total: int = 1
    error: DataUnavailable | None = None
    finished: threading.Event = field(default_factory=threading.Event)

    def bring(self) -> None:
        try:
            fetch(PAPER_FOLDERS[self.name], progress=self._report)
        except DataUnavailable as error:
            self.error = error
        finally:
            self.finished.set()

    def _report(self, done: int, total: int, file: str) -> None:
        self.done, self.total = done, total


@st.cache_resource(show_spinner=False)
def _downloads() -> dict[str, Download]:
    return {}


def show_offer(setting: Setting, files: str = FILES) -> None:
    """How to get the data: a download on request, or a file to choose; `files` says which."""
    if setting.data == UPLOAD:
        st.info(
            f"Choose your files in the sidebar: {files}. They stay on this machine.",
            icon=":material/upload_file:",
        )
        return
    entry = entry_of(setting.data)
    if entry is not None:
        offer_data(entry)


def offer_data(entry: Entry) -> None:
    """A download on request; while it is under way how far it is, and why it failed where it did."""
    under_way = _downloads().get(entry.name)
    if under_way is not None and not under_way.finished.is_set():
        st.fragment(_progress, run_every=POLL_SECONDS)(under_way, entry)
        return
    if under_way is not None and under_way.error is not None:
        st.error(str(under_way.error), icon=":material/cloud_off:")
    _offer(entry)


def _offer(entry: Entry) -> None:
    with st.container(border=True):
        st.markdown(
            f"**{entry.title}** is not on this machine. It is downloaded from where its owners published it "
            f"({_size(entry.download_bytes)}), checked, and kept for the next time."
        )
        st.caption(f"Terms: {entry.terms} To cite: {entry.citation}")
        st.button(
            "Download it", type="primary", icon=":material/download:", on_click=_begin, args=(entry.name,)
        )


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"


def _begin(name: str) -> None:
    download = _downloads()[name] = Download(name)
    threading.Thread(target=download.bring, daemon=True).start()


def _progress(download: Download, entry: Entry) -> None:
    if download.finished.is_set():
        st.rerun()
    share = min(1.0, download.done / max(download.total, 1))
    st.progress(share, f"{entry.title}: {_size(download.done)} of {_size(download.total)}")
