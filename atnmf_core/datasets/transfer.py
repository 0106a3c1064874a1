"""One file from a public server to the data folder, by pooch and requests."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pooch
import requests

from .download import DataUnavailable, Transfer, by_hand
from .registry import RemoteFile, addresses

__all__ = ["download"]

CHUNK = 16384
ANSWERED = "answered"


def download(file: RemoteFile, path: Path, transfer: Transfer, report: Callable[[int], None]) -> None:
    """Bring a file from the first server that has it, or raise `DataUnavailable` with what each did."""
    # pooch announces each download on the console; the progress callback is our way of saying it.
    pooch.get_logger().setLevel(logging.WARNING)
    _make_folder(path, file)
    reasons: dict[str, str] = {}
    for url in addresses(file, transfer.base_urls):
        host = urlsplit(url).netloc
        if host in reasons and not reasons[host].startswith(ANSWERED):
            continue  # a server that did not answer is not asked again for another copy
        try:
            pooch.retrieve(
                url,
                known_hash=f"sha256:{file.sha256}",
                fname=path.name,
                path=path.parent,
                downloader=_Downloader(file, transfer, report),
            )
            return
        except (_GivenUp, ValueError, OSError) as error:  # requests' own errors are OSErrors
            reasons[host] = _reason(error, path, transfer)
    told = "; ".join(f"{host} {reason}" for host, reason in reasons.items())
    raise DataUnavailable(
        f"{file.path} could not be downloaded: {told}. Try again later, " + by_hand(file, path)
    )


def _reason(error: Exception, path: Path, transfer: Transfer) -> str:
    """What a server did, as the end of a sentence that begins with its name."""
    silent = f"sent nothing for {transfer.stall_seconds:g} seconds"
    match error:
        case requests.HTTPError(response=requests.Response() as answer):
            return f"{ANSWERED} {answer.status_code} {answer.reason}"
        case requests.Timeout():
            return silent
        case requests.RequestException():
            # A connection that goes silent in mid-file comes out of requests as a broken connection.
            return silent if "timed out" in str(error) else "cannot be reached"
        case _GivenUp():
            return str(error)
        case OSError():
            return f"was asked, but {path} cannot be written ({error.strerror or error})"
        case _:
            return f"{ANSWERED} with other contents than the paper's data (the SHA-256 differs)"


def _make_folder(path: Path, file: RemoteFile) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataUnavailable(
            f"{path.parent} cannot be made ({error.strerror or error}). Set ATNMF_DATA_DIR to a folder "
            "that can be "
            f"written, or put {file.path} there by hand."
        ) from error


class _GivenUp(RuntimeError):
    """A server that sends more than the file has, or that takes too long."""


@dataclass(frozen=True)
class _Downloader:
    """What pooch calls to bring an address into a temporary file; it stops what has no end."""

    file: RemoteFile
    transfer: Transfer
    report: Callable[[int], None]

    def __call__(self, url: str, output_file: str, pooch: object, check_only: bool = False) -> None:
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
                    raise _GivenUp(f"sends more than the {self.file.size:,} bytes of the file")
                if time.monotonic() > deadline:
                    raise _GivenUp(f"took more than {self.transfer.total_seconds:g} seconds")
                out.write(chunk)
                self.report(received)
