"""Files to download, and the lines of Python or the command line that reproduce the numbers."""

from __future__ import annotations

import json
from collections.abc import Callable

import streamlit as st

from atnmf_core import Dataset
from atnmf_core.recipe import Recipe

from .data_choice import UPLOAD
from .file_setting import file_setting
from .setting import Setting
from .uploads import uploads

MAX_NAMED = 4
"""More files than this are not listed one by one."""


def download(
    label: str, make: Callable[[], bytes | str], file_name: str, mime: str, help: str | None = None
) -> None:
    """A file that `make` makes on request, so that nobody waits for what is not wanted."""
    st.download_button(
        label, make, file_name=file_name, mime=mime, help=help, on_click="ignore", key=f"take_{file_name}"
    )


def stem_of(setting: Setting, data: Dataset) -> str:
    """The common beginning of the names of files made from this setting."""
    leash = "" if setting.bound is None else f"-leash{setting.bound:g}"
    return f"{data.name}-alpha{setting.alpha:g}-lam{setting.lam:g}{leash}-K{setting.K}-{setting.missing}"


def source_of(setting: Setting, data: Dataset, **options: int) -> str:
    """The expression that loads the data."""
    if setting.data != UPLOAD:
        given = "".join(f", {name}={value}" for name, value in options.items())
        return f'load_dataset("{setting.data}"{given})'
    names = json.dumps(file_names(setting.upload), ensure_ascii=False)
    return f"read_dataset({names}{file_setting().options.python()})"


def file_names(upload: str) -> str | list[str]:
    """The names to pass to the reader for the uploaded files; a header stands for an ENVI pair."""
    names = [name for name, _ in uploads().files(upload)]
    headers = [name for name in names if name.lower().endswith(".hdr")]
    if len(names) == 1 or headers:
        return (headers or names)[0]
    return names if 0 < len(names) <= MAX_NAMED else "your-file"


def recipe(setting: Setting, source: str, start: str = "random") -> Recipe:
    """How to reproduce this setting's numbers without the dashboard."""
    names = ("alpha", "mask_seed", "pattern", "K", "lam", "missing", "solver", "seed")
    return Recipe(
        source=source,
        data=_command_data(setting, source),
        reading=file_setting().options.command_line() if setting.data == UPLOAD else "",
        start=start,
        leash=setting.bound,
        **{name: getattr(setting, name) for name in names},
    )


def _command_data(setting: Setting, source: str) -> str:
    """The name of the data on the command line; empty if one name is not enough."""
    if setting.data == UPLOAD:
        files = file_names(setting.upload)
        return files if isinstance(files, str) and ".subset(" not in source else ""
    return setting.data if source == f'load_dataset("{setting.data}")' else ""


def show_recipe(again: Recipe) -> None:
    """As Python and, if there is one, as a command line."""
    st.markdown("**Reproduce these numbers**")
    # Without colours: Streamlit's are too pale to read on the dark theme.
    st.code(again.python(), language=None, wrap_lines=True)
    if again.command_line():
        st.code(again.command_line(), language=None, wrap_lines=True)
