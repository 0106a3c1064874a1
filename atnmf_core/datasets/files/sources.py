"""The files to read: paths, named bytes and upload objects all become named bytes."""

from __future__ import annotations

import glob
import io
import json
import logging
import math
import os
import shlex
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from numbers import Integral, Real
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from ...model.problem import Shape
from ..dataset import NORMALISATIONS, Kind

# Without a handler a library's complaints about a damaged file would be printed on the console.
logging.getLogger("PIL").addHandler(logging.NullHandler())


@dataclass(frozen=True)
class Remedy:
    """A setting of `ReadingOptions` that would help.

    Attributes
    ----------
    setting : its name.
    value : what to set it to; None if only the user can know.
    effect : what that does, phrased to follow the word "to".
    """

    setting: str
    value: Any
    effect: str

    def python(self) -> str:
        if self.value is None:
            return f"{self.setting}=..."
        return f"{self.setting}={_literal(self.value)}"


@dataclass(frozen=True)
class ArrayInFile:
    name: str
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.name[:60]} ({' x '.join(map(size_text, self.shape))})"


class UnreadableData(ValueError):
    """Files that cannot be used, or not without an answer to a question.

    Attributes
    ----------
    message : what is wrong, in words for every front end.
    remedies : settings that would help. Each front end names its own controls: see `explained`.
    arrays : what to choose from with the setting `variable`, where that is the question.
    setting : the name of the setting whose value cannot be used; None if the file is at fault.
    """

    def __init__(
        self,
        message: str,
        remedies: Sequence[Remedy] = (),
        arrays: Sequence[ArrayInFile] = (),
        setting: str | None = None,
    ) -> None:
        self.message = message
        self.remedies = tuple(remedies)
        self.arrays = tuple(arrays)
        self.setting = setting
        super().__init__(self.explained(Remedy.python))

    def explained(self, spelled: Callable[[Remedy], str]) -> str:
        """The message and the remedies; `spelled` says how to give a setting."""
        advice = "; ".join(f"to {remedy.effect}, give {spelled(remedy)}" for remedy in self.remedies)
        return f"{self.message} {advice[0].upper()}{advice[1:]}." if advice else self.message


def size_text(number: int) -> str:
    """A number from a file for a message; a damaged header can state one of thousands of digits."""
    return f"{number:,}" if abs(number) < 10**15 else "more than 10^15"


@contextmanager
def foreign_code(message: str) -> Iterator[None]:
    """Run a library, and no code of ours, on untrusted bytes: all that it raises becomes UnreadableData."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except UnreadableData:
        raise
    except Exception as error:
        why = ": there is not enough memory for it" if isinstance(error, MemoryError) else ""
        raise UnreadableData(f"{message}{why}.") from error


def number_text(value: float) -> str:
    """A number in at most ten digits if these read back as the same number."""
    return f"{value:.10g}" if float(f"{value:.10g}") == value else repr(float(value))


def _literal(value: Any) -> str:
    if isinstance(value, str):
        # Names come from files, and people run what they copy: a quote inside must stay inside.
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, tuple):
        inside = ", ".join(_literal(one) for one in value)
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    return repr(value)


@dataclass(frozen=True)
class ReadingOptions:
    """Answers to what a file does not say, or says wrongly; None lets the rules decide.

    Attributes
    ----------
    variable : which array of the file to read.
    kind : "faces", "cube" or "matrix".
    image_shape : (rows, cols), for arrays that have all pixels on one axis.
    order : "F" if pixels are stored column by column, "C" if row by row.
    bands_axis : which axis of the array counts the bands of a cube, or the images of faces.
    nodata : stored numbers that stand for missing entries.
    saturated : stored numbers from here up are saturated and count as missing.
    negative : "refuse" entries below 0, set them to "zero", count them as "missing", or "keep" them, for
        `restore` alone.
    normalisation : "none", "maximum" or "lee-seung".
    """

    variable: str | None = None
    kind: Kind | None = None
    image_shape: Shape | None = None
    order: Any = None
    bands_axis: int | None = None
    nodata: Any = ()
    saturated: float | None = None
    negative: str = "refuse"
    normalisation: str = "none"

    def __post_init__(self) -> None:
        _one_of("kind", self.kind, (None, "faces", "cube", "matrix"))
        _one_of("order", self.order, (None, "F", "C"))
        _one_of("negative", self.negative, ("refuse", "zero", "missing", "keep"))
        _one_of("normalisation", self.normalisation, tuple(NORMALISATIONS))
        if self.bands_axis is not None and not isinstance(self.bands_axis, Integral):
            raise _wrong("bands_axis", self.bands_axis, "the number of an axis is needed, 0, 1 or 2")
        if self.saturated is not None and not isinstance(self.saturated, Real):
            raise _wrong("saturated", self.saturated, "a number is needed")
        object.__setattr__(self, "image_shape", _image_shape(self.image_shape))
        object.__setattr__(self, "nodata", _numbers(self.nodata))

    def arguments(self) -> dict[str, Any]:
        """The settings that differ from the default, as arguments of `read_dataset`."""
        return {
            field.name: value
            for field in fields(self)
            if (value := getattr(self, field.name)) != field.default
        }

    def words(self) -> dict[str, str]:
        """The settings that differ from the default, each as one word, for an address or a command line."""
        return {name: SPELLINGS[name][0](value) for name, value in self.arguments().items()}

    @classmethod
    def from_words(cls, words: Mapping[str, str]) -> ReadingOptions:
        given = {}
        for name in SPELLINGS.keys() & words.keys():
            try:
                given[name] = SPELLINGS[name][1](words[name])
            except ValueError as error:
                raise _wrong(name, words[name], "that is not understood") from error
        return cls(**given)

    def python(self) -> str:
        """The settings as they follow the file in a call of `read_dataset`."""
        return "".join(f", {Remedy(name, value, '').python()}" for name, value in self.arguments().items())

    def command_line(self) -> str:
        """The settings as options of a command that reads a file."""
        return "".join(f" {option_text(name, value)}" for name, value in self.arguments().items())


def option_text(name: str, value: Any) -> str:
    option = f"--{name.replace('_', '-')}"
    if value is None:
        return option
    values = value if name == "nodata" and isinstance(value, tuple) else (value,)
    # With an equals sign, because a negative number after a space looks like another option.
    return " ".join(shlex.quote(f"{option}={SPELLINGS[name][0](one)}") for one in values)


def parse_image_shape(text: str) -> tuple[int, int]:
    """(rows, cols) from a text such as 50x40.

    >>> parse_image_shape("50x40")
    (50, 40)
    """
    rows, _, cols = text.lower().partition("x")
    if not (rows.isdecimal() and cols.isdecimal() and int(rows) and int(cols)):
        raise ValueError(f"{text!r} is not an image size: write it as 50x40")
    return int(rows), int(cols)


def _nodata_text(value: float | tuple[float, ...]) -> str:
    return ",".join(number_text(one) for one in (value if isinstance(value, tuple) else (value,)))


SPELLINGS: dict[str, tuple[Callable[[Any], str], Callable[[str], Any]]] = {
    **dict.fromkeys(("variable", "kind", "order", "negative", "normalisation"), (str, str)),
    "image_shape": (lambda shape: f"{shape[0]}x{shape[1]}", parse_image_shape),
    "bands_axis": (str, int),
    "nodata": (_nodata_text, lambda text: tuple(float(word) for word in text.split(","))),
    "saturated": (number_text, float),
}


def _wrong(setting: str, value: object, why: str) -> UnreadableData:
    return UnreadableData(f"{setting}={value!r}: {why}.", setting=setting)


def _one_of(name: str, value: object, allowed: tuple[object, ...]) -> None:
    if value not in allowed:
        raise _wrong(name, value, f"choose one of {', '.join(repr(one) for one in allowed if one)}")


def _image_shape(given: Any) -> tuple[int, int] | None:
    if given is None:
        return None
    sizes = tuple(given) if isinstance(given, Iterable) else ()
    if len(sizes) != 2 or not all(isinstance(size, Integral) and int(size) > 0 for size in sizes):
        raise _wrong("image_shape", given, "two whole numbers (rows, cols) are needed")
    return int(sizes[0]), int(sizes[1])


def _numbers(given: Any) -> tuple[float, ...]:
    if given is None:
        return ()
    values = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
    if not all(isinstance(value, Real) for value in values):
        raise _wrong("nodata", given, "one or several numbers are needed")
    return tuple(float(value) for value in values)


@dataclass(frozen=True)
class Limits:
    """Limits that are checked against headers before memory is allocated.

    Each can be set by an environment variable: ATNMF_MAX_ and its name in capitals, such as
    ATNMF_MAX_ENTRIES.

    Attributes
    ----------
    entries : of V.
    bytes : of all files together, and of compressed contents once unpacked.
    members : files in one upload or zip archive.
    ratio : the highest compression ratio of an archive or array; small ones may have any.
    float32_above : a V with more entries is stored in float32.
    """

    entries: int = 100_000_000
    bytes: int = 1 << 30
    members: int = 20_000
    ratio: int = 300
    float32_above: int = 20_000_000

    @classmethod
    def from_environment(cls) -> Limits:
        named = {field.name: os.environ.get(f"ATNMF_MAX_{field.name.upper()}") for field in fields(cls)}
        try:
            return cls(**{name: int(float(value)) for name, value in named.items() if value})
        except (ValueError, OverflowError) as error:
            raise UnreadableData(
                f"A limit in the environment (ATNMF_MAX_...) is not a number: {error}."
            ) from error

    def float_type(self, entries: int) -> type[np.floating[Any]]:
        return np.float32 if entries > self.float32_above else np.float64

    def check_shape(self, shape: Iterable[int], name: str) -> int:
        """The number of entries of an array; an error if it is empty or too large."""
        sizes = tuple(int(size) for size in shape)
        count = math.prod(sizes)
        if len(sizes) > MAX_AXES:
            raise UnreadableData(f"{name} has {len(sizes)} axes: a matrix has 2, a cube 3.")
        described = " x ".join(map(size_text, sizes)) or "0"
        if any(size <= 0 for size in sizes) or not sizes:
            raise UnreadableData(f"{name} is empty ({described}).")
        if count > self.entries:
            raise UnreadableData(
                f"{name} has {described} = {size_text(count)} entries; at most {self.entries:,} are read. "
                "Cut out a part, or raise ATNMF_MAX_ENTRIES."
            )
        return count

    def check_bytes(self, count: int, name: str) -> None:
        if count > self.bytes:
            raise UnreadableData(
                f"{name} has {size_text(count)} bytes; at most {self.bytes:,} are read. Cut out a part, or "
                "raise ATNMF_MAX_BYTES."
            )

    def check_growth(self, packed: int, unpacked: int, name: str) -> None:
        """Reject contents that grow out of all proportion: decompression bombs do, real data does not."""
        self.check_bytes(unpacked, name)
        if unpacked > SMALL and unpacked > self.ratio * max(packed, 1):
            raise UnreadableData(
                f"{name} would grow from {packed:,} to {size_text(unpacked)} bytes, more than {self.ratio} "
                "times: this looks like a decompression bomb."
            )


MAX_AXES = 8  # No file of images has more; NumPy itself allows 64
SMALL = 1 << 24  # Below this size growth is harmless, and small constant arrays do compress a thousandfold

# The binary half of an ENVI pair is sought under the second list first, then under all but the first.
NOT_ENVI = [
    ".zip", ".mat", ".npy", ".npz", ".csv", ".txt", ".png", ".jpg", ".jpeg", ".pgm", ".bmp", ".xml", ".hdr",
]  # fmt: skip
ENVI_BINARIES = ("", ".img", ".dat", ".raw", ".bin", ".bil", ".bip", ".bsq", ".cub", ".sli")


@dataclass(frozen=True)
class Source:
    name: str
    data: bytes

    @property
    def suffix(self) -> str:
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
    """Read the given files, within the limits; for half of an ENVI pair also the other half beside it."""
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
            raise UnreadableData(f"The files have more than the {limits.bytes:,} bytes read together.")
        sources.append(source)
    if double := [name for name, count in Counter(one.name for one in sources).items() if count > 1]:
        twice = Source(double[0], b"").label
        raise UnreadableData(f"{twice} was given twice: every file needs a name of its own.")
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
    if isinstance(contents, (bytes, bytearray, memoryview)):
        return bytes(contents)
    raise UnreadableData(f"A file's contents must be bytes, not {type(contents).__name__}.")


def with_envi_partners(given: list[Any]) -> list[Any]:
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


# Zip archives: unpacked in memory, within the limits, never onto the disk.

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
    if len({info.filename for info in members}) < len(members):
        raise UnreadableData(f"{source.label} has two files of the same name.")
    for info in members:
        if info.flag_bits & ENCRYPTED:
            raise UnreadableData(f"{source.label} is protected by a password: unpack it first.")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise UnreadableData(f"{source.label} has an unusual compression: pack it as an ordinary zip.")
    limits.check_growth(len(source.data), sum(info.file_size for info in members), source.label)


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, source: Source) -> Source:
    with (
        foreign_code(f"{source.label} is damaged: one of its files cannot be unpacked"),
        archive.open(info) as stream,
    ):
        # Ask for one byte more than declared, which reveals a false size.
        data = stream.read(info.file_size + 1)
    if len(data) != info.file_size:
        raise UnreadableData(f"{source.label} is damaged: a file in it is not of the size that it states.")
    return Source(info.filename, data)
