"""A cube that one page showed is shown on the next, with everything that determines its fits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .address import change, last_shown
from .data_choice import UPLOAD, entry_of
from .file_setting import FILE_CONTROLS, FileSetting
from .upload_form import uploaded_reading

DECIDES_FITS = (
    "data",
    "upload",
    "alpha",
    "pattern",
    "lam",
    "leash",
    "K",
    "missing",
    "solver",
    "seed",
    "mask_seed",
    "colour",
)


def take_over_cube(page: str) -> None:
    """Continue with the cube that another page showed last, if it did show one."""
    there = last_shown(page)
    if there is not None and is_cube(there):
        change(**{name: there[name] for name in (*DECIDES_FITS, *FILE_CONTROLS)})


def is_cube(values: Mapping[str, Any]) -> bool:
    """Whether the data that a page's controls name is a cube."""
    if values["data"] == UPLOAD:
        setting = FileSetting(**{name: values[name] for name in FILE_CONTROLS})
        reading = uploaded_reading(values["upload"], setting)
        return reading is not None and reading.data is not None and reading.data.kind == "cube"
    entry = entry_of(values["data"])
    return entry is not None and entry.kind == "cube"
