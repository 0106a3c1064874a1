"""What people take home: the restored data, what was wrong with it, a report, and how to reproduce it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial

import numpy as np
import streamlit as st

from atnmf_core import Dataset
from atnmf_core.datasets import (
    ReadingOptions,
    UnreadableData,
    bytes_like,
    write_envi_zip,
    write_mat,
    write_npz,
)
from atnmf_core.datasets.readers.numpy_files import npy_bytes
from atnmf_core.datasets.writers import as_indexed, zipped
from atnmf_core.figures.images import png
from atnmf_core.figures.restoration_report import restoration_page
from atnmf_core.figures.restored_view import defect_sheet
from atnmf_core.recipe import RestoreRecipe
from atnmf_core.restoration.suspects import restored_at, suspects_at
from pages.common.data_choice import UPLOAD
from pages.common.file_setting import file_setting
from pages.common.markdown import plain
from pages.common.take_away import download, file_names
from pages.common.uploads import Files, uploads

from .request import Restored
from .setting import ADDRESS, RestoreSetting

__all__ = ["show_take_away"]


def show_take_away(setting: RestoreSetting, shown: Restored) -> None:
    """Files on the left, the snippet on the right."""
    st.subheader("Take away", anchor=False)
    left, right = st.columns([2, 3], gap="large")
    with left:
        st.markdown("**The data, made whole** · sound entries as measured")
        with st.container(horizontal=True, gap="small"):
            _restored(setting, shown)
        st.markdown("**What was wrong**")
        with st.container(horizontal=True, gap="small"):
            _defects(shown)
            _report(setting, shown)
        if shown.data.terms:
            st.caption(f"{plain(shown.data.title)}. {plain(shown.data.terms)}")
    with right:
        _recipe(setting, shown)


def _now(shown: Restored) -> np.ndarray:
    """The suspects at the current threshold, which the fragment moves without redrawing this."""
    now = ADDRESS.get(RestoreSetting)
    return suspects_at(shown.data, shown.restoration, now.threshold, now.side)


def _whole(shown: Restored) -> Dataset:
    V = restored_at(shown.data, shown.restoration, _now(shown))
    return replace(shown.data, V=V, title=f"{shown.data.title}, restored", truth=None)


def _restored(setting: RestoreSetting, shown: Restored) -> None:
    stem = f"{shown.data.name}-restored"
    files = uploads().files(setting.upload) if setting.data == UPLOAD else ()
    if files and shown.truth is None:
        name, many = files[0][0], len(files) > 1
        label = f"As {'the files' if many else plain(name)} came"
        file = f"{stem}.zip" if many else f"restored-{name}"
        mime = "application/zip" if many else "application/octet-stream"
        download(label, lambda: _as_it_came(files, shown), file, mime, "In the format it came in")
    writers: dict[str, tuple[Callable[[Dataset], bytes], str]] = {"NPZ": (write_npz, "npz")}
    if shown.data.kind == "cube":
        writers |= {
            "MAT": (write_mat, "mat"),
            "ENVI pair": (lambda cube: write_envi_zip(cube, stem), "envi.zip"),
        }
    for label, (write, ending) in writers.items():
        download(label, _making(write, shown), f"{stem}.{ending}", "application/octet-stream")


def _making(write: Callable[[Dataset], bytes], shown: Restored) -> Callable[[], bytes]:
    return lambda: write(_whole(shown))


def _as_it_came(files: Files, shown: Restored) -> bytes:
    """The uploaded files with the restored entries in place. Entries that cannot be restored stay as they
    were if the format cannot mark them as missing.
    """
    V, options = _whole(shown).V, file_setting().options.arguments()
    try:
        written = bytes_like(list(files), V, **options)
    except UnreadableData:
        written = bytes_like(list(files), np.where(np.isnan(V), shown.data.V, V), **options)
    return written[0][1] if len(written) == 1 else zipped(written)


def _defects(shown: Restored) -> None:
    stem = shown.data.name
    download(
        "Mask, NPY",
        lambda: npy_bytes(as_indexed(shown.data, _changed(shown))),
        f"{stem}-defects.npy",
        "application/octet-stream",
    )
    download(
        "Picture, PNG",
        lambda: png(defect_sheet(shown.data, _changed(shown))),
        f"{stem}-defects.png",
        "image/png",
    )
    if shown.data.kind == "cube":
        download(
            "Mask, ENVI",
            lambda: write_envi_zip(
                replace(shown.data, V=_changed(shown).astype(np.float32), title="Defects"), f"{stem}-defects"
            ),
            f"{stem}-defects.zip",
            "application/zip",
        )
    download(
        "Deviations, NPY",
        lambda: npy_bytes(as_indexed(shown.data, shown.restoration.deviation)),
        f"{stem}-deviations.npy",
        "application/octet-stream",
        "One standard deviation of each prediction, laid out like the data",
    )


def _changed(shown: Restored) -> np.ndarray:
    return _now(shown) | ~shown.data.observed


def _report(setting: RestoreSetting, shown: Restored) -> None:
    task = asdict(setting.task)
    damage = {name: share for name, share in task.pop("damage").items() if share}
    said = {"damage": damage, **task} if damage else task
    settings = {name: str(value) for name, value in said.items() if value is not None}
    download(
        "Report, HTML",
        lambda: restoration_page(shown.data, shown.restoration, settings),
        f"{shown.data.name}-report.html",
        "text/html",
        "Before, after, the defects, and how the setting was chosen, in one file",
    )


def _recipe(setting: RestoreSetting, shown: Restored) -> None:
    st.markdown("**Reproduce this**")
    # Without colours: Streamlit's are too pale to read on the dark theme.
    show = partial(st.code, language=None, wrap_lines=True)
    if shown.truth is not None and setting.data != UPLOAD:
        show(setting.task.python(setting.data))
        return
    if shown.truth is not None:
        st.caption(
            "There is no recipe for damage tried on a file of your own, only for restoring the file as it is."
        )
        return
    names = file_names(setting.upload) if setting.data == UPLOAD else setting.data
    name = names if isinstance(names, str) else names[0]
    task = setting.task
    again = RestoreRecipe(
        name,
        task.losses,
        task.K,
        task.lam,
        task.leash,
        task.seed,
        file_setting().options if setting.data == UPLOAD else ReadingOptions(),
        setting.data == UPLOAD,
    )
    out = f"restored-{name}" if setting.data == UPLOAD else f"{name}-restored.npz"
    show(again.python(out))
    show(again.command_line(out))
