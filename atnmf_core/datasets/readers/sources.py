"""The files to read: paths, named bytes and upload objects all become named bytes."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from .errors import UnreadableData, foreign_code
from .limits import Limits

# Extensions under which the binary half of an ENVI pair is sought first; it can have any extension but those
# below.
NOT_ENVI = [
    ".zip",
    ".mat",
    ".npy",
    ".npz",
    ".csv",
    ".txt",
    ".png",
    ".jpg",
    ".jpeg",
    ".pgm",
    ".bmp",
    ".xml",
    ".hdr",
]
ENVI_BINARIES = ("", ".img", ".dat", ".raw", ".bin", ".bil", ".bip", ".bsq", ".cub", ".sli")


@dataclass(frozen=True)
class Source:
    """One file: its name (with folders, if it is from an archive) and its contents."""

    name: str
    data: bytes

    @property
    def suffix(self) -> str:
        """The extension, in lower case, with its dot."""
        return PurePosixPath(self.name).suffix.lower()

    @property
    def stem(self) -> str:
        return PurePosixPath(self.name).stem

    @property
    def label(self) -> str:
        """The name for a message: without folders, and shortened."""
        last = "".join(char if char.isprintable() else "?" for char in PurePosixPath(self.name).name)
        return last if len(last) <= 80 else last[:77] + "..."


def gather(files: Any, limits: Limits) -> list[Source]:
    """Read the given files, within the limits.

    One path may stand for an ENVI pair: the other half is sought beside it.
    """
    given = list(files) if _is_several(files) else [files]
    if not given:
        raise UnreadableData("No file was given.")
    if len(given) > limits.members:
        raise UnreadableData(f"{len(given):,} files were given; at most {limits.members:,} are read.")
    sources: list[Source] = []
    left = limits.bytes
    for source in _opened(with_envi_partners(given), limits):
        left -= len(source.data)
        if left < 0:
            raise UnreadableData(
                f"The files have more than the {limits.bytes:,} bytes that are read together."
            )
        sources.append(source)
    _refuse_duplicates(sources)
    return sources


def _is_several(files: Any) -> bool:
    if isinstance(files, (str, bytes, os.PathLike)) or hasattr(files, "read"):
        return False
    named_bytes = (
        isinstance(files, tuple) and len(files) == 2 and isinstance(files[1], (bytes, bytearray, memoryview))
    )
    return isinstance(files, Iterable) and not named_bytes


def _opened(given: Iterable[Any], limits: Limits) -> Iterable[Source]:
    for one in given:
        if isinstance(one, (str, os.PathLike)):
            yield _from_path(Path(one), limits)
        elif isinstance(one, tuple) and len(one) == 2:
            yield Source(str(one[0]), _as_bytes(one[1]))
        elif hasattr(one, "read"):
            yield _from_stream(one, limits)
        else:
            raise UnreadableData(
                f"{type(one).__name__} is not a file: give paths, (name, bytes) pairs or open files."
            )


def _from_path(path: Path, limits: Limits) -> Source:
    try:
        if not path.is_file():
            raise UnreadableData(f"{path} is not a file." if path.exists() else f"There is no file {path}.")
        limits.check_bytes(path.stat().st_size, str(path))
        return Source(path.name, path.read_bytes())
    except (OSError, ValueError) as error:
        if isinstance(error, UnreadableData):
            raise
        raise UnreadableData(f"{path} cannot be read: {error}.") from error


def _from_stream(stream: Any, limits: Limits) -> Source:
    name = str(getattr(stream, "name", "upload"))
    with foreign_code(f"{name} cannot be read"):
        contents = stream.getvalue() if hasattr(stream, "getvalue") else stream.read(limits.bytes + 1)
    return Source(PurePosixPath(name.replace("\\", "/")).name, _as_bytes(contents))


def _as_bytes(contents: Any) -> bytes:
    if isinstance(contents, str):
        return contents.encode()
    if isinstance(contents, bytes):
        return contents
    if isinstance(contents, (bytearray, memoryview)):
        return bytes(contents)
    raise UnreadableData(f"A file's contents must be bytes, not {type(contents).__name__}.")


def with_envi_partners(given: list[Any]) -> list[Any]:
    """The given files; for half of an ENVI pair also the other half."""
    if len(given) != 1 or not isinstance(given[0], (str, os.PathLike)):
        return given
    path = Path(given[0])
    if path.suffix.lower() == ".hdr":
        stem = path.with_suffix("")
        beside = sorted(path.parent.glob(f"{glob.escape(stem.name)}.*"))
        candidates = [Path(f"{stem}{end}") for end in ENVI_BINARIES]
        candidates += [one for one in beside if one.suffix.lower() not in NOT_ENVI]
    elif path.suffix.lower() in NOT_ENVI:
        return given
    else:
        candidates = [Path(f"{path}.hdr"), path.with_suffix(".hdr")]
    partner = next((candidate for candidate in candidates if candidate.is_file() and candidate != path), None)
    return given if partner is None else [path, partner]


def _refuse_duplicates(sources: list[Source]) -> None:
    seen = set()
    for source in sources:
        if source.name in seen:
            raise UnreadableData(f"{source.label} was given twice: every file needs a name of its own.")
        seen.add(source.name)
