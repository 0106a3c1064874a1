"""The paper's data: downloaded only on request, and verified; without a network the message says what
to do.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pooch

from .registry import RemoteFile, addresses, data_dir, remote_files_of

DownloadCallback = Callable[[int, int, str], None]
CHUNK = 16384
ANSWERED = "answered"


class DataUnavailable(RuntimeError):
    """Data that is not on this machine and could not be downloaded; the message says how to get it."""


@dataclass(frozen=True)
class Transfer:
    """How a download is carried out.

    Attributes
    ----------
    base_urls : replacements for the public servers, by origin; None for the public ones.
    stall_seconds : give up on a server that is silent for longer than this.
    total_seconds : give up on a file that takes longer than this altogether.
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
            + _by_hand(file, path)
        )
    if not _verified(path, file):
        raise DataUnavailable(
            f"{path} is not the file that the paper used (its SHA-256 differs). Fetch it again with "
            f"`python -m atnmf_core data fetch {name}`, " + _by_hand(file, path)
        )
    return path


def fetch(
    name: str,
    *,
    folder: Path | None = None,
    progress: DownloadCallback | None = None,
    transfer: Transfer | None = None,
) -> tuple[Path, ...]:
    """Download the files of a data set that are not in the data folder yet.

    Parameters
    ----------
    name : "cbcl", "moffet", "madonna" or "synthetic": a folder of the registry.
    folder : where to store the files; the data folder by default.
    progress : called as progress(bytes done, bytes in all, file) while files arrive.
    transfer : servers and time limits.

    Raises
    ------
    DataUnavailable : with the reason, and where to put the file by hand.
    """
    files = remote_files_of(name)
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
            _download(file, path, transfer or Transfer(), report)
        report(file.size)
        done += file.size
        paths.append(path)
    return tuple(paths)


def _download(file: RemoteFile, path: Path, transfer: Transfer, report: Callable[[int], None]) -> None:
    """Fetch a file from the first server that has it, or raise `DataUnavailable` with what each server
    did.
    """
    # pooch announces each download on the console, where `progress` already says it.
    pooch.get_logger().setLevel(logging.WARNING)
    _make_folder(path, file)
    reasons: dict[str, str] = {}
    for url in addresses(file, transfer.base_urls):
        host = urlsplit(url).netloc
        if host in reasons and not reasons[host].startswith(ANSWERED):
            continue  # a server that did not answer is not asked for another copy
        try:
            pooch.retrieve(
                url,
                known_hash=f"sha256:{file.sha256}",
                fname=path.name,
                path=path.parent,
                downloader=_Downloader(file, transfer, report),
            )
            return
        except (_Abandoned, ValueError, OSError) as error:  # requests' own errors are OSErrors
            reasons[host] = _reason(error, path, transfer)
    servers = "; ".join(f"{host} {reason}" for host, reason in reasons.items())
    raise DataUnavailable(
        f"{file.path} could not be downloaded: {servers}. Try again later, " + _by_hand(file, path)
    )


class _Abandoned(RuntimeError):
    """A server sends too much, or takes too long."""


@dataclass(frozen=True)
class _Downloader:
    """What pooch calls to download a URL into a temporary file, with limits on size and time."""

    file: RemoteFile
    transfer: Transfer
    report: Callable[[int], None]

    def __call__(self, url: str, output_file: str, pooch: object, check_only: bool = False) -> None:
        import requests  # takes a tenth of a second to import, and most runs download nothing

        deadline = time.monotonic() + self.transfer.total_seconds
        received = 0
        with (
            requests.get(url, stream=True, timeout=self.transfer.stall_seconds) as response,
            Path(output_file).open("wb") as out,
        ):
            response.raise_for_status()
            for chunk in response.iter_content(chunk_size=CHUNK):
                received += len(chunk)
                if received > self.file.size:
                    raise _Abandoned(f"sent more than the {self.file.size:,} bytes of the file")
                if time.monotonic() > deadline:
                    raise _Abandoned(f"took more than {self.transfer.total_seconds:g} seconds")
                out.write(chunk)
                self.report(received)


def _reason(error: Exception, path: Path, transfer: Transfer) -> str:
    """What a server did, as the end of a sentence that begins with its name."""
    import requests

    silent = f"sent nothing for {transfer.stall_seconds:g} seconds"
    match error:
        case requests.HTTPError(response=requests.Response() as answer):
            return f"{ANSWERED} {answer.status_code} {answer.reason}"
        case requests.Timeout():
            return silent
        case requests.RequestException():
            # requests reports a connection that goes silent in mid-file as a broken one.
            return silent if "timed out" in str(error) else "cannot be reached"
        case _Abandoned():
            return str(error)
        case OSError():
            return f"answered, but {path} cannot be written ({error.strerror or error})"
        case _:
            return f"{ANSWERED} with something other than the paper's data (the SHA-256 differs)"


def _make_folder(path: Path, file: RemoteFile) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataUnavailable(
            f"{path.parent} cannot be created ({error.strerror or error}). Set ATNMF_DATA_DIR to a folder "
            f"that can be written, or put {file.path} there by hand."
        ) from error


def _by_hand(file: RemoteFile, path: Path) -> str:
    """The end of a message: where a file can be found without this program, and where it belongs."""
    return f"or download {addresses(file)[0]} in another way and put it at {path}"


def _verified(path: Path, file: RemoteFile) -> bool:
    if path.stat().st_size != file.size:
        return False
    return hashlib.sha256(path.read_bytes()).hexdigest() == file.sha256
