"""The data of a sweep: by name, from a user's file, or from a data set saved to a file."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from ..datasets import Dataset, catalogue, load_dataset, read_dataset
from ..datasets.readers.errors import foreign_code
from ..problem import InputError

_MARK = "atnmf_dataset"


def load_source(source: str, **reading: Any) -> Dataset:
    """The data set of a grid: a name in the catalogue, or the path of a file for `read_dataset` or from
    `save_dataset`; `reading` is passed to `read_dataset`.
    """
    names = [entry.name for entry in catalogue()]
    path = Path(source)
    if source not in names and not path.exists():
        raise InputError(f"dataset {source!r} is neither a file nor one of {', '.join(names)}.")
    ready = load_dataset(source) if source in names else _saved(path)
    if ready is None:
        return read_dataset(path, **reading)
    if reading:
        name, value = next(iter(reading.items()))
        raise InputError(f"{name}={value!r}: {source} is read in one way only; leave {name} out.")
    return ready


def save_dataset(data: Dataset, path: str | Path) -> None:
    """Save a data set of any kind, with its values unchanged, for another process.

    The file is a NumPy archive without pickled objects.
    """
    facts = {
        "kind": data.kind,
        "name": data.name,
        "title": data.title,
        "image_shape": data.image_shape,
        "order": data.order,
        "normalisation": data.normalisation,
    }
    arrays = {"V": data.V, _MARK: np.array(json.dumps(facts))}
    if data.wavelengths is not None:
        arrays["wavelengths"] = data.wavelengths
    with open(path, "wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def is_saved_dataset(path: str | Path) -> bool:
    """Whether `save_dataset` wrote this file."""
    return _saved(Path(path)) is not None


def _saved(path: Path) -> Dataset | None:
    """The data set that `save_dataset` wrote, None for any other file."""
    # If it is not an archive, `read_dataset` will say so.
    if path.suffix != ".npz" or not zipfile.is_zipfile(path):
        return None
    with (
        foreign_code(f"{path.name} is damaged: it cannot be unpacked"),
        path.open("rb") as file,
        np.load(file, allow_pickle=False) as archive,
    ):
        if _MARK not in archive.files:
            return None
        facts = json.loads(str(archive[_MARK]))
        shape = facts.pop("image_shape")
        return Dataset(
            V=archive["V"],
            wavelengths=archive["wavelengths"] if "wavelengths" in archive.files else None,
            image_shape=None if shape is None else (int(shape[0]), int(shape[1])),
            **facts,
        )


def upload_path(store: Path, data: Dataset) -> Path:
    """The file in which the sweeps of a store find this data."""
    return _folder(store) / f"{data.content_hash[:16]}.npz"


def save_upload(store: Path, data: Dataset) -> None:
    """Save uploaded data beside the store, where another process finds it.

    Call it after the sweep was added: from then on nobody deletes the file.
    """
    path = upload_path(store, data)
    if path.exists():
        return
    path.parent.mkdir(exist_ok=True)
    # Renamed when complete, so that a file of that name is always whole.
    aside = path.with_suffix(f".{os.getpid()}.part")
    save_dataset(data, aside)
    aside.replace(path)


def is_upload_of(store: Path, source: str) -> bool:
    """Whether a grid's data is a file that `save_upload` wrote for this store."""
    return Path(source).parent == _folder(store)


def _folder(store: Path) -> Path:
    return store.parent / "uploads"
