"""Where the dashboard keeps the results of sweeps, so that every page and every later start finds them."""

from __future__ import annotations

import os
from pathlib import Path

import pooch

__all__ = ["default_store", "named_store", "store_place"]


def default_store() -> Path:
    """The dashboard's store, its folder made where it is not there."""
    path = store_place()
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def store_place() -> Path:
    """The file of the dashboard's store: what ATNMF_STORE names, else one in the user's cache folder."""
    return named_store() or Path(pooch.os_cache("atnmf")) / "sweeps.sqlite"


def named_store() -> Path | None:
    """The file that ATNMF_STORE names, None where it names none."""
    named = os.environ.get("ATNMF_STORE")
    return Path(named).expanduser() if named else None
