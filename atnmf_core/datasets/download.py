"""The paper's data: downloaded on request alone, and verified; without a network messages say what to do."""

import hashlib
import logging
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote, urlsplit

# The files of the paper's data sets: where they are published, and how they are verified.
#
# Contents are pinned twice: by the commit in the address and by the SHA-256 in registry.txt.

PAPER_FOLDERS = {"cbcl": "cbcl", "moffet": "moffet", "madonna": "madonna", "synthetic-paper": "synthetic"}
"""The folder that has the files of each data set, by the name under which it is loaded and fetched."""
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
    def dataset(self) -> str:
        return next(name for name, folder in PAPER_FOLDERS.items() if folder == self.path.split("/")[0])

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
    text = files(__package__).joinpath("registry.txt").read_text("utf-8")
    rows = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return tuple(RemoteFile(path, int(size), sha256) for path, size, sha256 in rows)


def remote_files_of(folder: str) -> tuple[RemoteFile, ...]:
    return tuple(file for file in remote_files() if file.path.startswith(f"{folder}/"))


def addresses(file: RemoteFile, base_urls: dict[str, tuple[str, ...]] | None = None) -> tuple[str, ...]:
    """URLs of a file, best first. `base_urls` replaces the public servers, by origin."""
    bases = (base_urls or BASE_URLS)[file.origin]
    return tuple(base + quote(path) for base in bases for path in file.remote_paths)


def data_dir() -> Path:
    """The folder of the paper's data: what ATNMF_DATA_DIR names, else the user's cache folder."""
    named = os.environ.get("ATNMF_DATA_DIR")
    if named:
        return Path(named).expanduser()
    import pooch

    return Path(pooch.os_cache("atnmf"))


DownloadCallback = Callable[[int, int, str], None]
CHUNK = 16384
ANSWERED = "answered"


class DataUnavailable(RuntimeError):
    """Data that is not on this machine and could not be downloaded; the message says how to get it."""


@dataclass(frozen=True)
class Transfer:
    """How a download is done: other servers, by origin, and seconds of silence or in all to give up after."""

    base_urls: dict[str, tuple[str, ...]] | None = None
    stall_seconds: float = 15.0
    total_seconds: float = 600.0


def locate(file: RemoteFile, folder: Path | None = None) -> Path:
    """The verified local copy of a file; `DataUnavailable` if there is none, or another one."""
    path = (folder or data_dir()) / file.path
    if not path.is_file():
        raise DataUnavailable(
            f"{file.path} is not on this machine. Fetch it with "
            f"`python -m atnmf_core data fetch {file.dataset}`, " + _by_hand(file, path)
        )
    if not _verified(path, file):
        raise DataUnavailable(
            f"{path} is not the file that the paper used (its SHA-256 differs). Fetch it again with "
            f"`python -m atnmf_core data fetch {file.dataset}`, " + _by_hand(file, path)
        )
    return path


def fetch(
    name: str,
    *,
    folder: Path | None = None,
    progress: DownloadCallback | None = None,
    transfer: Transfer | None = None,
) -> tuple[Path, ...]:
    """Download the files of a data set (a folder of the registry) that are not in the data folder yet.

    progress : called as progress(bytes done, bytes in all, file) while files arrive.
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
    """Fetch a file from the first server that has it, or raise `DataUnavailable` with what each did."""
    import pooch

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
