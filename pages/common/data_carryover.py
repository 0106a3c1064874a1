"""A cube that is looked at on one page is taken along to the other, with everything that decides its fits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .address import change, remembered
from .data_choice import UPLOAD, entry_of, uploads

__all__ = ["is_cube", "take_along"]

CARRIED = (
    "data",
    "upload",
    "alpha",
    "pattern",
    "lam",
    "K",
    "missing",
    "solver",
    "seed",
    "mask_seed",
    "colour",
)


def take_along(page: str) -> None:
    """Go on with the cube that another page was left with, if it had one."""
    left = remembered(page)
    if left is not None and is_cube(left):
        change(**{name: left[name] for name in CARRIED})


def is_cube(values: Mapping[str, Any]) -> bool:
    """Whether the data that a page's widgets name is a cube."""
    if values["data"] == UPLOAD:
        uploaded = uploads().get(values["upload"])
        return uploaded is not None and uploaded.kind == "cube"
    entry = entry_of(values["data"])
    return entry is not None and entry.kind == "cube"
