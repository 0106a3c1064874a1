"""Zip archives: unpacked in memory, within the limits, never onto the disk."""

from __future__ import annotations

import io
import zipfile
from pathlib import PurePosixPath

from .errors import UnreadableData, foreign_code
from .limits import Limits
from .sources import Source

MAGIC = b"PK\x03\x04"
ENCRYPTED = 0x1


def unpack(source: Source, limits: Limits) -> list[Source]:
    """The files of a zip archive, without folders and the hidden files of operating systems."""
    with foreign_code(f"{source.label} is not a readable zip archive"):
        archive = zipfile.ZipFile(io.BytesIO(source.data))
    with archive:
        members = [info for info in archive.infolist() if _is_content(info)]
        _check(members, source, limits)
        return [_member(archive, info, source) for info in members]


def with_members(source: Source, changed: dict[str, bytes]) -> Source:
    """The archive with the contents of some files replaced, each packed as before."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(source.data)) as old, zipfile.ZipFile(stream, "w") as new:
        for info in old.infolist():
            data = changed.get(info.filename)
            new.writestr(info, old.read(info) if data is None else data, compress_type=info.compress_type)
    return Source(source.name, stream.getvalue())


def _is_content(info: zipfile.ZipInfo) -> bool:
    parts = PurePosixPath(info.filename).parts
    if not parts or info.is_dir():
        return False
    return "__MACOSX" not in parts and not parts[-1].startswith(".") and parts[-1].lower() != "thumbs.db"


def _check(members: list[zipfile.ZipInfo], source: Source, limits: Limits) -> None:
    if not members:
        raise UnreadableData(f"{source.label} has no files in it.")
    if len(members) > limits.members:
        raise UnreadableData(
            f"{source.label} has {len(members):,} files; at most {limits.members:,} are read."
        )
    names = set()
    for info in members:
        if info.filename in names:
            raise UnreadableData(f"{source.label} has two files of the same name.")
        names.add(info.filename)
        if info.flag_bits & ENCRYPTED:
            raise UnreadableData(f"{source.label} is protected by a password: unpack it first.")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise UnreadableData(
                f"{source.label} uses an unusual compression: pack it again as an ordinary zip."
            )
    limits.check_growth(len(source.data), sum(info.file_size for info in members), source.label)


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, source: Source) -> Source:
    with (
        foreign_code(f"{source.label} is damaged: one of its files cannot be unpacked"),
        archive.open(info) as stream,
    ):
        # Ask for one byte more than declared, which reveals a false size.
        data = stream.read(info.file_size + 1)
    if len(data) != info.file_size:
        raise UnreadableData(
            f"{source.label} is damaged: one of its files does not have the size that it states."
        )
    return Source(info.filename, data)
