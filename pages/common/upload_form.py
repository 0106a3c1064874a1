"""A file of one's own: where it is dropped, what was made of it, and how to have it read otherwise."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import streamlit as st

from atnmf_core import Dataset
from atnmf_core.datasets import LayoutGuess, Reading, ReadingOptions, UnreadableData
from atnmf_core.figures.images import enlarge
from atnmf_core.figures.thumbnail import thumbnail

from .address import change
from .control import OneOf
from .file_setting import FILE_CONTROLS, FileSetting, file_setting
from .hosting import person
from .markdown import plain
from .receiving import keep_received, max_megabytes
from .setting import start_of
from .streamlit_private import drop_uploaded_files
from .uploads import uploads

UPLOAD = "upload"
RECEIVED = "upload_received"
THUMBNAIL_SIDE = 220
SMALLEST_SIDE, LONGEST_RATIO = 8, 4
"""Of images that a matrix is offered to be."""
MAX_OFFERS = 2
KIND_NAMES = {"faces": "faces", "cube": "a cube", "matrix": "a matrix"}


def uploaded_reading(upload: str, setting: FileSetting) -> Reading | None:
    """What comes of reading an upload this way; None if it is not on this server."""
    try:
        options = setting.options
    except UnreadableData as error:
        return Reading(ReadingOptions(), None, error)
    return uploads().read(upload, options)


def uploaded() -> Dataset | None:
    """The data of this session's upload, where it can be read."""
    reading = uploaded_reading(st.session_state["upload"], file_setting())
    return None if reading is None else reading.data


def show_upload_form(kinds: Collection[str], then: Callable[[], None]) -> None:
    """The place for files and, once some are there, a thumbnail, questions, and the controls that answer
    them. `then` is called after other data was read.
    """
    for name, control in FILE_CONTROLS.items():
        st.session_state.setdefault(name, control.default)
    # No list of types: the binary half of an ENVI pair often has no suffix at all.
    files = st.file_uploader(
        "Images, a zip of them, MAT, NPY, ENVI (both files), GeoTIFF, NetCDF, HDF5 or CSV",
        accept_multiple_files=True,
        max_upload_size=max_megabytes(),
        key="upload_files",
    )
    _receive(files)
    reading = uploaded_reading(st.session_state["upload"], file_setting())
    if reading is None:
        return
    data = reading.data
    if data is not None:
        _suit(data, then)
        _show_thumbnail(data)
    if data is None or data.kind not in kinds:
        _ask(reading, kinds)
        _draw_controls(reading)
        return
    if data.kind == "matrix":
        _offer(reading, set(kinds) - {"matrix"})
    if uploads().files(st.session_state["upload"]):
        with st.expander("How the file is read"):
            _draw_controls(reading)
            _offer_deletion()


def _receive(files: list[Any]) -> None:
    """Cache new files, and let the rules of the reader decide how they are read."""
    upload = keep_received(files, RECEIVED) or st.session_state["upload"]
    if upload != st.session_state["upload"]:
        _set(upload=upload, **{name: control.default for name, control in FILE_CONTROLS.items()})


def _offer_deletion() -> None:
    """A button for whoever uploaded the file to a server for others."""
    if uploads().is_own(st.session_state["upload"], person()):
        st.button("Delete it from this server", icon=":material/delete:", on_click=_delete, width="stretch")


def _delete() -> None:
    uploads().drop(st.session_state["upload"], person())
    drop_uploaded_files(st.session_state.get(RECEIVED, ()))
    _set(upload="")


def _set(**values: Any) -> None:
    """Change how the file is read; what is read then may need other settings of the page."""
    change(**values, upload_changed=True)


def _suit(data: Dataset, then: Callable[[], None]) -> None:
    """Settings that suit the data, where this session has just changed its form. A link has its own."""
    form = (data.kind, data.shape, data.image_shape)
    if st.session_state.pop("upload_changed", False) and st.session_state.get("upload_form") != form:
        change(**start_of(UPLOAD, data.kind, data.shape))
        then()
    st.session_state["upload_form"] = form


def _show_thumbnail(data: Dataset) -> None:
    size = " × ".join(str(length) for length in _sizes(data))
    what = f"{KIND_NAMES[data.kind]}, {size}"
    st.image(enlarge(thumbnail(data), THUMBNAIL_SIDE), width="content", alt=f"{data.title} as {what}")
    st.caption(f"{plain(data.title)}: {what}")


def _sizes(data: Dataset) -> tuple[int, ...]:
    if data.image_shape is None:
        return data.shape
    return (*data.image_shape, data.shape[1] if data.kind == "faces" else data.shape[0])


def _ask(reading: Reading, kinds: Collection[str]) -> None:
    """What is in the way, and buttons that would settle it."""
    if reading.problem is None:
        wanted = " or ".join(KIND_NAMES[kind] for kind in kinds)
        st.warning(f"This page shows {wanted}, but this file was read as {KIND_NAMES[reading.data.kind]}.")
        _offer(reading, kinds)
        return
    error = reading.problem
    if error.setting is not None:
        st.error(f"{FILE_CONTROLS[error.setting].label}: {plain(error.message)}", icon=":material/edit:")
        return
    asks = bool(error.remedies)
    icon = ":material/help:" if asks else ":material/error:"
    (st.warning if asks else st.error)(plain(error.message), icon=icon)
    if error.arrays:
        _draw("variable", among=_arrays(reading))
    for number, remedy in enumerate(error.remedies):
        if remedy.value is not None and remedy.setting != "variable":
            words = ReadingOptions(**{remedy.setting: remedy.value}).words()
            _button(plain(remedy.effect[0].upper() + remedy.effect[1:]), words, f"remedy_{number}")
    _preview(reading)


def _preview(reading: Reading) -> None:
    """What the likeliest answer would give."""
    if reading.suggested == reading.options:
        return
    guess = uploads().read(st.session_state["upload"], reading.suggested)
    if guess is None or guess.data is None:
        return
    changed = dict(reading.suggested.words().items() - reading.options.words().items())
    _show_thumbnail(guess.data)
    _button("Read it like this", changed, "suggested", type="primary")


def _offer(reading: Reading, kinds: Collection[str]) -> None:
    """Other ways of looking at the array, where its pixels could be images of a plausible size."""
    guesses = [one for one in reading.layouts if one.kind in kinds and _is_plausible(one)][:MAX_OFFERS]
    if guesses:
        st.caption("Each row or column may be an image:")
    for number, guess in enumerate(guesses):
        rows, cols = guess.image_shape
        words = ReadingOptions(**guess.settings).words()
        _button(f"Read {KIND_NAMES[guess.kind]}, images of {rows} × {cols}", words, f"guess_{number}")


def _is_plausible(guess: LayoutGuess) -> bool:
    if guess.image_shape is None:
        return False
    short, long = sorted(guess.image_shape)
    return short >= SMALLEST_SIDE and long <= LONGEST_RATIO * short


def _button(label: str, words: Mapping[str, str], key: str, **options: Any) -> None:
    st.button(label, key=f"upload_{key}", on_click=_set, kwargs=dict(words), width="stretch", **options)


def _draw_controls(reading: Reading) -> None:
    """The controls that mean something for this file.

    A value is called the same in every run: Streamlit's browser side knows options by what people read, and
    sends that back as the value where it has changed.
    """
    axes = () if reading.array is None else tuple(size for size in reading.array.shape if size > 1)
    among: dict[str, dict[str, str]] = {}
    if reading.arrays and reading.array is not None:
        among["variable"] = _arrays(reading)
    if reading.array is not None:
        among["kind"] = dict(FILE_CONTROLS["kind"].options)
        among["bands_axis"] = dict(FILE_CONTROLS["bands_axis"].options)
        if len(axes) == 2:
            shapes = dict.fromkeys(one.image_shape for one in reading.layouts if one.image_shape)
            among["image_shape"] = {f"{rows}x{cols}": f"{rows}x{cols}" for rows, cols in shapes}
            among["order"] = dict(FILE_CONTROLS["order"].options)
    for name, names in among.items():
        _draw(name, among=names)
    if reading.array is not None:
        for name in ("nodata", "saturated", "negative", "normalisation"):
            _draw(name)


def _arrays(reading: Reading) -> dict[str, str]:
    return {one.name: str(one) for one in reading.arrays}


def _draw(name: str, **options: Any) -> None:
    control = FILE_CONTROLS[name]
    if isinstance(control, OneOf):
        options["widget"] = st.selectbox
    control.draw(name, on_change=_set, **options)
