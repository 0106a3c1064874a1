"""Where the dashboard keeps the results of sweeps, so that every page and every later start finds them."""

from __future__ import annotations

import os
from pathlib import Path

import pooch

__all__ = ["default_store"]


def default_store() -> Path:
    """The store's file: what ATNMF_STORE names, else one in the user's cache folder, which is made."""
    named = os.environ.get("ATNMF_STORE")
    path = Path(named).expanduser() if named else Path(pooch.os_cache("atnmf")) / "sweeps.sqlite"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
