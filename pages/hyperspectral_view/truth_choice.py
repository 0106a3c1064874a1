"""What is known about the materials of an uploaded cube, from files."""

from __future__ import annotations

import streamlit as st

from atnmf_core import Dataset, InputError
from atnmf_core.datasets import Truth, UnreadableData, read_truth
from pages.common.markdown import plain

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
        try:
            return read_truth(data, [(file.name, file.getvalue()) for file in files])
        except (InputError, UnreadableData) as error:
            st.error(plain(str(error)), icon=":material/error:")
            return None
