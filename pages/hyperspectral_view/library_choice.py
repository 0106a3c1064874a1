"""Reference spectra from a file, which give names to the found materials."""

from __future__ import annotations

import streamlit as st

from atnmf_core.datasets import SpectralLibrary, UnreadableData, read_library
from pages.common.address import change
from pages.common.markdown import plain
from pages.common.receiving import keep_received
from pages.common.uploads import uploads


def draw_library_choice() -> None:
    """The upload of a library, and its result."""
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
            st.error(plain(error.message), icon=":material/error:")
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


@st.cache_resource(show_spinner=False, max_entries=8)
def _library(upload: str) -> SpectralLibrary:
    return read_library(list(uploads().files(upload)))


def _read(upload: str) -> SpectralLibrary | None:
    return _library(upload) if uploads().files(upload) else None
