"""A scene that is too large to upload: opened by its path, restored by a process beside the dashboard."""

import os
import signal
import subprocess
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import streamlit as st

from atnmf_core import InputError
from atnmf_core.datasets import ReadingOptions, UnreadableData
from atnmf_core.datasets.files.scene_file import SceneFile, open_scene
from atnmf_core.figures.images import HIDDEN
from atnmf_core.figures.views import Channels, channels_of_scene, scene_picture, scene_spectrum
from atnmf_core.jobs.fit_task import rough_duration
from atnmf_core.recipe import RestoreRecipe
from atnmf_core.restoration.scenes import SceneStatus, start_scene, status_of
from pages.common.cache import cached
from pages.common.hosting import is_hosted
from pages.common.jobs import JobProgress, show_job
from pages.common.uploads import max_megabytes
from pages.common.widgets import escape_markdown, show_chart, show_code, show_error

from .setting import RestoreSetting

STOPPED = (128 + signal.SIGTERM, -signal.SIGTERM)  # How the process ends when it is asked to
_STARTED = "restore_scene_started"


def scene_path() -> str:
    """The path that the user names, on a server for this machine alone; else the command to use is shown."""
    with st.expander(f"Larger than {max_megabytes()} MB, or than memory"):
        if is_hosted():
            st.markdown("Restore it on your own machine, block by block:")
            show_code("python -m atnmf_core restore FILE --out FILE")
            return ""
        return st.text_input(
            "Path of a scene on this machine",
            key="restore_scene_path",
            placeholder="/data/scene.hdr",
            help="ENVI, NPY, HDF5, NetCDF 4 or GeoTIFF. It is read block by block, never as a whole.",
        ).strip()


def show_scene(setting: RestoreSetting, path: str) -> None:
    """A quick look, a button that restores it, how far that is, and what came of it."""
    try:
        scene = open_scene(path, ReadingOptions())
        before = _channels(scene)
    except FileNotFoundError:
        show_error(f"There is no file {path} on this machine.")
        return
    except (UnreadableData, OSError) as error:
        show_error(error)
        return
    out = scene.path.with_name(f"{scene.path.stem}-restored{scene.path.suffix}")
    size = f"{scene.rows} × {scene.cols} pixels, {scene.bands} bands, {scene.bytes / 1e6:,.1f} MB"
    st.markdown(f"**{escape_markdown(scene.path.name)}**: {size}")
    command = _command(setting, scene, out)
    status = status_of(out)
    if status is not None and status.pid is not None:
        _show_progress(out)
    else:
        _offer(command, out, status)
    after = open_scene(out) if out.exists() and status is None else None
    _pictures(setting, scene, before, after)
    st.caption("The same from a terminal, on as many cores as you like or on a cluster (`--dask`):")
    show_code(command)


def _command(setting: RestoreSetting, scene: SceneFile, out: Path) -> str:
    task = setting.task
    recipe = RestoreRecipe(
        str(scene.path), task.losses, task.K, task.lam, task.leash, task.seed, is_file=True
    )
    return f"{recipe.command_line(str(out))} --blocks"


def _changed(scene: SceneFile) -> tuple[str, int, int]:
    return str(scene.path), scene.bytes, max(file.stat().st_mtime_ns for file in scene.files)


@cached(key=_changed)
def _channels(scene: SceneFile) -> Channels:
    with st.spinner("Looking at the scene"):
        return channels_of_scene(scene)


def _offer(command: str, out: Path, status: SceneStatus | None) -> None:
    """A button; what is stored of an earlier run, or why that failed."""
    process = _process(out)
    code = None if process is None else process.poll()
    if process is not None and code is None:
        # It has not come to its first block yet.
        _show_progress(out)
        return
    if code == 0:
        _log(out).unlink(missing_ok=True)
    elif code is not None and code not in STOPPED:
        said = _log(out).read_text(errors="replace").strip().splitlines()
        show_error(said[-1] if said else "It ended without a message.")
    label = (
        "Resume" if status is not None else "Restore it again" if out.exists() else "Restore block by block"
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(label, type="primary", icon=":material/healing:", on_click=_start, args=(command, out))
        if status is not None:
            st.markdown(f"{status.done} of {status.total} blocks are done.")
        else:
            st.markdown(f"Writes **{escape_markdown(out.name)}** beside it.")


def _start(command: str, out: Path) -> None:
    try:
        st.session_state[_STARTED] = (str(out), start_scene(command, _log(out)))
    except (InputError, OSError) as error:
        show_error(error)


def _process(out: Path) -> subprocess.Popen[bytes] | None:
    """The one that this session has started for this file."""
    started = st.session_state.get(_STARTED)
    return started[1] if started is not None and started[0] == str(out) else None


def _log(out: Path) -> Path:
    return out.with_name(f"{out.name}.log")


def _show_progress(out: Path) -> None:
    show_job(partial(_progress, out), partial(_stop, out), label="Stop", help="What is done is stored.")


def _pid(out: Path) -> int | None:
    """The process at work on this file, which another session may have started."""
    status, process = status_of(out), _process(out)
    return process.pid if process is not None and process.poll() is None else status and status.pid


def _progress(out: Path) -> JobProgress | None:
    status = status_of(out)
    if _pid(out) is None:
        return None
    done, total = (0, 1) if status is None else (status.done, max(status.total, 1))
    words = f"{done} of {total} blocks" if done else "Learning from a sample of pixels"
    if status is not None and status.seconds_left:
        words += f", about {rough_duration(status.seconds_left)} left"
    return JobProgress(done / total, words)


def _stop(out: Path) -> None:
    pid = _pid(out)
    if pid is not None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)


def _pictures(setting: RestoreSetting, scene: SceneFile, before: Channels, after: SceneFile | None) -> None:
    """Before and after, and a spectrum below; beside the picture while there is only one."""
    colour = HIDDEN[setting.colour]
    left, right = st.columns(2)
    left.image(
        scene_picture(before, colour),
        caption="As it came, thinned out for display",
        alt=f"{scene.path.name} as it is",
        width="stretch",
    )
    if after is None:
        with right:
            _spectrum(scene, None)
        return
    restored = _channels(after)
    right.image(
        scene_picture(restored, colour, like=before),
        caption="Restored",
        alt=f"{scene.path.name} restored",
        width="stretch",
    )
    _spectrum(scene, after)


def _spectrum(scene: SceneFile, after: SceneFile | None) -> None:
    with st.container(horizontal=True):
        row = st.number_input("Row", 1, scene.rows, (scene.rows + 1) // 2, key="restore_scene_row")
        col = st.number_input("Column", 1, scene.cols, (scene.cols + 1) // 2, key="restore_scene_col")
    place = np.array([row - 1]), np.array([col - 1])
    restored = None if after is None else after.pixels(*place)[:, 0]
    figure = scene_spectrum(scene.wavelengths, scene.pixels(*place)[:, 0], restored)
    show_chart(figure, "restore_scene_spectrum", f"Spectrum of row {row}, column {col}")
