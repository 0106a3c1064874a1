"""The data sets that can be loaded by name, and whether they are on this machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

from ..problem import InputError
from .bundled import lfw, synthetic
from .dataset import Dataset, Kind
from .download import fetch
from .paper import CITATIONS, PAPER_FOLDERS, TERMS, cbcl, madonna, moffet, synthetic_paper
from .registry import data_dir, remote_files_of
from .scene import simulated_scene


@dataclass(frozen=True)
class Entry:
    """One line of the catalogue.

    Attributes
    ----------
    shape : (F, N) with default options.
    bundled : whether it needs no download.
    available : whether its files are on this machine; their contents are verified on loading.
    download_bytes : the size of the download; 0 for bundled data.
    terms, citation : the terms of use of a download, and whom to cite; empty for bundled data, whose
        `Dataset` says both.
    """

    name: str
    title: str
    kind: Kind
    shape: tuple[int, int]
    bundled: bool
    available: bool
    download_bytes: int
    terms: str = ""
    citation: str = ""


_LOADERS: dict[str, tuple[Callable[..., Dataset], str, Kind, tuple[int, int]]] = {
    "lfw": (lfw, "Faces in the wild (100, bundled)", "faces", (625, 100)),
    "simulated-scene": (simulated_scene, "Simulated hyperspectral scene", "cube", (100, 4096)),
    "synthetic": (synthetic, "Synthetic, rank 5", "matrix", (100, 50)),
    "cbcl": (cbcl, "CBCL faces (2429)", "faces", (361, 2429)),
    "moffet": (moffet, "Moffett Field (AVIRIS)", "cube", (165, 2500)),
    "madonna": (madonna, "Madonna (HySpex)", "cube", (160, 2500)),
    "synthetic-paper": (synthetic_paper, "Synthetic, the paper's draw", "matrix", (100, 50)),
}


def catalogue() -> tuple[Entry, ...]:
    """All data sets that `load_dataset` knows, bundled ones first."""
    return tuple(_entry(name) for name in _LOADERS)


def _entry(name: str) -> Entry:
    _, title, kind, shape = _LOADERS[name]
    files = remote_files_of(PAPER_FOLDERS[name]) if name in PAPER_FOLDERS else ()
    here = all((data_dir() / file.path).is_file() for file in files)
    size = sum(file.size for file in files)
    return Entry(
        name, title, kind, shape, not files, here, size, TERMS.get(name, ""), CITATIONS.get(name, "")
    )


def load_dataset(name: str, *, download: bool = False, **options: Any) -> Dataset:
    """A data set by its name.

    Parameters
    ----------
    name : one of the names in `catalogue()`.
    download : fetch the paper's data if it is not on this machine. By default nothing is downloaded.
    options : "synthetic" takes seed, F, N, K; "simulated-scene" takes rows, cols, bands, materials, noise,
        seed; the paper's data takes folder, if its files are not in the data folder.

    Raises
    ------
    DataUnavailable : the paper's data is not on this machine; the message says how to get it.
    InputError : an unknown name or option.

    Examples
    --------
    >>> data = load_dataset("lfw")
    >>> data.V.shape, data.image(data.V[:, 0]).shape
    ((625, 100), (25, 25))
    """
    if name not in _LOADERS:
        raise InputError(f"name={name!r}: the data sets are {', '.join(_LOADERS)}.")
    load = _LOADERS[name][0]
    known = tuple(signature(load).parameters)
    unknown = sorted(set(options) - set(known))
    if unknown:
        offered = f"its options are {', '.join(known)}" if known else "it has none"
        raise InputError(f"{name} has no option {', '.join(unknown)}: {offered}.")
    if options.get("folder") is not None:
        options["folder"] = Path(options["folder"])
    if download and name in PAPER_FOLDERS:
        fetch(PAPER_FOLDERS[name], folder=options.get("folder"))
    return load(**options)
