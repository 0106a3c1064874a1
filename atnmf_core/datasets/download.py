"""Fetching the paper's data: only on request, verified, and with a way out when there is no network."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .registry import RemoteFile, addresses, data_dir, files_of

__all__ = ["DataUnavailable", "Transfer", "by_hand", "fetch", "locate"]

Progress = Callable[[int, int, str], None]


class DataUnavailable(RuntimeError):
    """Data that is not on this machine and could not be had; the message says how to get it."""


@dataclass(frozen=True)
class Transfer:
    """How a download is carried out.

    Attributes
    ----------
    base_urls : replaces the public servers, by origin; None for the public ones.
    stall_seconds : a server that is silent for longer is given up.
    total_seconds : a file that takes longer than this altogether is given up.
    """

    base_urls: dict[str, tuple[str, ...]] | None = None
    stall_seconds: float = 15.0
    total_seconds: float = 600.0


def locate(file: RemoteFile, folder: Path | None = None) -> Path:
    """The verified local copy of a file.

    Raises
    ------
    DataUnavailable : there is none, or its contents are not the pinned ones.
    """
    path = (folder or data_dir()) / file.path
    name = file.path.split("/")[0]
    if not path.is_file():
        raise DataUnavailable(
            f"{file.path} is not on this machine. Fetch it with `python -m atnmf_core data fetch {name}`, "
            + by_hand(file, path)
        )
    if not _verified(path, file):
        raise DataUnavailable(
            f"{path} is not the file that the paper used (its SHA-256 differs). Fetch it again with "
            f"`python -m atnmf_core data fetch {name}`, " + by_hand(file, path)
        )
    return path


def fetch(
    name: str,
    *,
    folder: Path | None = None,
    progress: Progress | None = None,
    transfer: Transfer | None = None,
) -> tuple[Path, ...]:
    """Make sure that all files of a data set are in the data folder, and download those that are not.

    Parameters
    ----------
    name : "cbcl", "moffet", "madonna" or "synthetic": a folder of the registry.
    folder : where to keep the files; the data folder by default.
    progress : called as progress(bytes done, bytes in all, file) while files arrive.
    transfer : servers and time limits.

    Raises
    ------
    DataUnavailable : with the reason, and where to put the file by hand.
    """
    from .transfer import download  # HTTP takes a tenth of a second to import, and most runs download nothing

    files = files_of(name)
    where = folder or data_dir()
    total = sum(file.size for file in files)
    done = 0
    paths = []
    for file in files:
        path = where / file.path

        def report(received: int, before: int = done, file: RemoteFile = file) -> None:
            if progress is not None:
                progress(before + received, total, file.path)

        if not (path.is_file() and _verified(path, file)):
            download(file, path, transfer or Transfer(), report)
        report(file.size)
        done += file.size
        paths.append(path)
    return tuple(paths)


def by_hand(file: RemoteFile, path: Path) -> str:
    """The end of a message: where a file is to be had without this program, and where it belongs."""
    return f"or download {addresses(file)[0]} in another way and put it at {path}"


def _verified(path: Path, file: RemoteFile) -> bool:
    if path.stat().st_size != file.size:
        return False
    return hashlib.sha256(path.read_bytes()).hexdigest() == file.sha256
