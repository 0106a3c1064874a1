"""The files of the paper's data sets: where they are published, and how they are verified.

Contents are pinned twice: by the commit in the address and by the SHA-256 in registry.txt.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

import pooch

AUTHORS = "authors"
FACES = "faces"
_COMMIT = "8941f5c82adf1ab07f8ecb70e73ae6feba0e8ddc"
# A second account has a repository of the same name. Whichever answers first is used, and only if the
# contents have the pinned hash.
BASE_URLS: dict[str, tuple[str, ...]] = {
    AUTHORS: (
        f"https://raw.githubusercontent.com/caiting123321/AT_NMF/{_COMMIT}/",
        f"https://raw.githubusercontent.com/tingcai98/AT_NMF/{_COMMIT}/",
    ),
    FACES: (
        "https://raw.githubusercontent.com/timothy-lab-perso/"
        "Nonlinear-Nonnegative-Matrix-Factorization-Two-Layer-Model/2df9215de16b57ac6202bab80337894e2ef0679a/",
    ),
}
# Another folder of that repository lists a file of this name; it is tried second, under the same pinned hash.
_ELSEWHERE = {"moffet/clean_Moffet.mat": "Hyperspectral data normalization/clean_Moffet.mat"}


@dataclass(frozen=True)
class RemoteFile:
    """One file: its path below the data folder, and the size and hash that its contents must have."""

    path: str
    size: int
    sha256: str

    @property
    def origin(self) -> str:
        return FACES if self.path.endswith(".zip") else AUTHORS

    @property
    def remote_paths(self) -> tuple[str, ...]:
        folder, name = self.path.split("/")
        if self.origin == FACES:
            return (name,)
        upstream = "CBCL" if folder == "cbcl" else folder.capitalize()
        also = _ELSEWHERE.get(self.path)
        return (f"{upstream}/{name}",) if also is None else (f"{upstream}/{name}", also)


@cache
def remote_files() -> tuple[RemoteFile, ...]:
    """All files of registry.txt."""
    text = files(__package__).joinpath("registry.txt").read_text("utf-8")
    rows = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return tuple(RemoteFile(path, int(size), sha256) for path, size, sha256 in rows)


def remote_files_of(folder: str) -> tuple[RemoteFile, ...]:
    """The files of one data set, by the name of its folder."""
    return tuple(file for file in remote_files() if file.path.startswith(f"{folder}/"))


def addresses(file: RemoteFile, base_urls: dict[str, tuple[str, ...]] | None = None) -> tuple[str, ...]:
    """URLs of a file, best first. `base_urls` replaces the public servers, by origin."""
    bases = (base_urls or BASE_URLS)[file.origin]
    return tuple(base + quote(path) for base in bases for path in file.remote_paths)


def data_dir() -> Path:
    """The folder of the paper's data: what ATNMF_DATA_DIR names, else the user's cache folder."""
    named = os.environ.get("ATNMF_DATA_DIR")
    return Path(named).expanduser() if named else Path(pooch.os_cache("atnmf"))
