"""Uploaded data of sweeps, as files beside the store: another process has no other way to get it."""

from __future__ import annotations

import json
import os
from pathlib import Path

from ..datasets import Dataset
from .sources import save_dataset
from .store import Store

__all__ = ["drop_if_unused", "set_down", "upload_path"]


def upload_path(store: Path, data: Dataset) -> Path:
    """Where the sweeps of a store find this data."""
    return _folder(store) / f"{data.content_hash[:16]}.npz"


def set_down(store: Path, data: Dataset) -> None:
    """Write the file, where it is not there yet. After its sweep was added: then nobody drops it again."""
    path = upload_path(store, data)
    if path.exists():
        return
    path.parent.mkdir(exist_ok=True)
    # Written aside first, so that a file under its name is always whole.
    aside = path.with_suffix(f".{os.getpid()}.part")
    save_dataset(data, aside)
    aside.replace(path)


def drop_if_unused(store: Store, source: str) -> None:
    """Delete the uploaded data of a sweep that was deleted, unless another sweep has it too."""
    path = Path(source)
    if path.parent != _folder(store.path):
        return
    with store.transaction() as connection:
        rows = connection.execute("SELECT settings FROM sweeps")
        if all(json.loads(row["settings"])["dataset"] != source for row in rows):
            path.unlink(missing_ok=True)


def _folder(store: Path) -> Path:
    return store.parent / "uploads"
