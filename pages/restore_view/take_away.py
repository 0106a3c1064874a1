"""What people take home: the restored data, what was wrong with it, a report, and how to reproduce it."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from atnmf_core import Dataset
from atnmf_core.datasets import ReadingOptions, bytes_like, write_envi_zip, write_mat, write_npz
from atnmf_core.datasets.files.arrays import npy_bytes
from atnmf_core.datasets.files.write import as_indexed, zipped
from atnmf_core.export import report_settings, restoration_page
from atnmf_core.figures.images import Panel
from atnmf_core.figures.plotting import error_against_K
from atnmf_core.figures.publish import Look, save_panels
from atnmf_core.figures.views import defect_sheet
from atnmf_core.recipe import RestoreRecipe
from atnmf_core.restoration import Choice, Restoration
from pages.common.data import UPLOAD
from pages.common.take_away import FigureFile, File, chart_files, download, file_names, show_figures
from pages.common.uploads import Files, file_setting, uploads
from pages.common.widgets import escape_markdown, panel_of, show_code

from .jobs import Restored, as_wanted
from .pictures import all_pictures, rivals_of
from .setting import DAMAGES, RestoreSetting

RESULTS = {"restored": "made whole · sound entries as measured", "denoised": "denoised everywhere"}


def show_download(setting: RestoreSetting, shown: Restored) -> None:
    """The restored data, beside the verdict: what most people came for."""
    file = _restored(setting, shown)[0]
    download(
        "Download",
        file.make,
        file.name,
        file.mime,
        f"{escape_markdown(file.name)}. All formats, and the denoised data, are at the end of the page.",
        key="restore_download",
        type="primary",
        icon=":material/download:",
    )


def show_take_away(setting: RestoreSetting, shown: Restored, choice: Choice | None) -> None:
    """Files on the left, the snippet on the right."""
    st.header("Download", anchor=False)
    left, right = st.columns([2, 3], gap="medium")
    with left:
        st.markdown("**Figures**")
        show_figures(shown.data.name, _figures(setting, shown, choice))
        for title, files in (
            (f"**The data, {RESULTS[setting.result]}**", _restored(setting, shown)),
            ("**What was wrong**", _defects(setting, shown)),
        ):
            st.markdown(title)
            with st.container(horizontal=True, gap="small"):
                for file in files:
                    download(*file)
        if shown.data.terms:
            st.caption(f"{escape_markdown(shown.data.title)}. {escape_markdown(shown.data.terms)}")
    with right:
        _recipe(setting, shown)


def _figures(setting: RestoreSetting, shown: Restored, choice: Choice | None) -> list[FigureFile]:
    others = rivals_of(setting, shown)

    def pictures(look: Look) -> bytes:
        panels, columns = all_pictures(setting, as_wanted(setting, shown), others)
        return save_panels([panel_of(one) for one in panels], look, columns=columns)

    def sheet(look: Look) -> bytes:
        wrong = as_wanted(setting, shown).restoration.defects | ~shown.data.observed
        return save_panels([Panel("", "", defect_sheet(shown.data, wrong), "")], look)

    charts = {} if choice is None else {"K": ("Error against K", partial(error_against_K, choice))}
    return [
        FigureFile("Pictures", "pictures", pictures),
        FigureFile("All defects", "defects", sheet, "The share of wrong bands of each pixel, or all images"),
        *chart_files(charts),
    ]


def _restored(setting: RestoreSetting, shown: Restored) -> list[File]:
    """The restored data in all formats, first the one that it came in."""
    data, stem = shown.data, f"{shown.data.name}-{setting.result}"

    def written(label: str, write: Callable[[Dataset], bytes], ending: str) -> File:
        return File(label, lambda: write(_whole(setting, shown)), f"{stem}.{ending}")

    own = _as_it_came(setting, shown)
    if data.kind != "cube":
        return [*own, written("NPY", lambda whole: npy_bytes(as_indexed(data, whole.V)), "npy")]
    return [
        *own,
        written("NPZ", write_npz, "npz"),
        written("MAT", write_mat, "mat"),
        written("ENVI pair", lambda cube: write_envi_zip(cube, stem), "envi.zip"),
    ]


def _whole(setting: RestoreSetting, shown: Restored) -> Dataset:
    V = as_wanted(setting, shown).restoration.V
    return replace(shown.data, V=V, title=f"{shown.data.title}, {setting.result}", truth=None)


def _as_it_came(setting: RestoreSetting, shown: Restored) -> list[File]:
    """In the format of the files that the user brought, if it can be written."""
    files = uploads().files(setting.upload) if setting.data == UPLOAD else ()
    options = file_setting().options.arguments()
    grey = not any("in colour" in note for note in shown.data.notes)
    if not (files and grey) or shown.truth is not None or file_setting().options.normalisation != "none":
        return []
    make, about = partial(_rewritten, setting, shown, files, options), "In the format it came in"
    if len(files) > 1:
        name = f"{shown.data.name}-{setting.result}.zip"
        return [File("As the files came", make, name, "application/zip", about)]
    name = files[0][0]
    return [File(f"As {escape_markdown(name)} came", make, f"{setting.result}-{name}", help=about)]


def _rewritten(setting: RestoreSetting, shown: Restored, files: Files, options: dict[str, Any]) -> bytes:
    """The uploaded files with the restored entries in place."""
    written = bytes_like(list(files), _whole(setting, shown).V, keep_unmarkable=True, **options)
    return written[0][1] if len(written) == 1 else zipped(written)


def _defects(setting: RestoreSetting, shown: Restored) -> list[File]:
    """What was replaced, how far to trust it, what was taken off, and the report."""
    data, stem, settings = shown.data, shown.data.name, _settings(setting, shown)

    def wanted() -> Restoration:
        return as_wanted(setting, shown).restoration

    def both(label: str, name: str, values: Callable[[], np.ndarray], about: str) -> list[File]:
        """As an array, and a cube in the format of ENVI, too."""

        def envi() -> bytes:
            cube = replace(data, V=values().astype(np.float32), title=label)
            return write_envi_zip(cube, f"{stem}-{name}")

        npy = File(
            f"{label}, NPY", lambda: npy_bytes(as_indexed(data, values())), f"{stem}-{name}.npy", help=about
        )
        pair = File(f"{label}, ENVI", envi, f"{stem}-{name}.zip", "application/zip", about)
        return [npy, pair] if data.kind == "cube" else [npy]

    offsets = shown.restoration.offsets
    return [
        *both("Mask", "defects", lambda: wanted().defects | ~data.observed, "1 where wrong or missing"),
        *both(
            "Deviations",
            "deviations",
            lambda: shown.restoration.deviation,
            "One standard deviation of each prediction, laid out like the data",
        ),
        *(
            []
            if offsets is None
            else both("Offsets", "offsets", lambda: offsets, "What was taken off stripes")
        ),
        File(
            "Report, HTML",
            lambda: restoration_page(data, wanted(), settings),
            f"{stem}-report.html",
            "text/html",
            "Before, after, the defects, and how the setting was chosen, in one file",
        ),
    ]


def _settings(setting: RestoreSetting, shown: Restored) -> dict[str, str]:
    """Everything that went into the restoration, for the report."""
    data, restoration, (recipe, out) = shown.data, shown.restoration, _again(setting)
    F, N = data.shape
    size = f"{data.title}: {data.kind}, {F} x {N}"
    settings = report_settings(recipe, size, restoration.model, restoration.choice, data.notes)
    if shown.truth is not None:
        shares = {name: getattr(setting, name) for name in DAMAGES}
        done = ", ".join(f"{name} {share:.0%}" for name, share in shares.items() if share)
        settings["damage"] = f"done on purpose: {done}; seed {setting.damage_seed}"
    elif recipe.as_judged:
        settings["command"] = recipe.command_line(out)
    return settings


def _again(setting: RestoreSetting) -> tuple[RestoreRecipe, str]:
    """How to restore the data as it is, and the name of the file for that."""
    task, own = setting.task, setting.data == UPLOAD
    name = setting.data
    if own:
        given = [file for file, _ in uploads().files(setting.upload)]
        named = file_names(setting.upload)
        name = named if isinstance(named, str) and named in given else "images.zip"
    recipe = RestoreRecipe(
        name,
        task.losses,
        task.K,
        task.lam,
        task.leash,
        task.seed,
        file_setting().options if own else ReadingOptions(),
        own,
        *((setting.threshold, setting.side) if task.losses == "unmarked" else (1.0, "both")),
        denoise=setting.result == "denoised",
    )
    return recipe, f"{setting.result}-{name}" if own else f"{name}-{setting.result}.npz"


def _recipe(setting: RestoreSetting, shown: Restored) -> None:
    st.markdown("**Reproduce this**")
    if shown.truth is not None and setting.data != UPLOAD:
        show_code(setting.task.python(setting.data))
        return
    if shown.truth is not None:
        st.caption(
            "There is no recipe for damage tried on a file of your own, only for restoring the file as it is."
        )
        return
    recipe, out = _again(setting)
    if recipe.data == "images.zip":
        st.caption("With your images in one archive, images.zip:")
    show_code(recipe.python(out))
    if recipe.as_judged:
        show_code(recipe.command_line(out))
    else:
        st.caption("The command line has no threshold: it replaces what is suspect from 1 on, on both sides.")
