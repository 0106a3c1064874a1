"""The options that several commands share, and how they are parsed."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..hiding import PATTERNS
from ..sweep.grid import rounded_lambda

OPTIONS: dict[str, dict[str, Any]] = {
    "data": {"metavar": "NAME|FILE", "help": "a data set by name (see `data list`) or a file"},
    "alpha": {"type": float, "metavar": "A", "help": "share of entries to hide"},
    "masks": {"choices": ["seeded", "paper"], "help": "paper: the authors' own masks of their data"},
    "mask_seed": {"type": int, "metavar": "S", "help": "of the hidden entries (default: 0)"},
    "pattern": {"choices": [*PATTERNS], "help": "what shape the hidden entries have (default: entries)"},
    "K": {"type": int, "help": "number of parts"},
    "missing": {
        "choices": ["ignore", "zero"],
        "help": "hidden entries: marked and left out (ignore), or unmarked and taken for zeros (zero)",
    },
    "solver": {"choices": ["fast", "paper"], "help": "default: fast"},
    "seed": {"type": int, "metavar": "S", "help": "of the first start (default: 0)"},
    "dtype": {"choices": ["float32", "float64"], "help": "default: float32"},
    "max_outer": {"type": int, "metavar": "N", "help": "maximum number of outer iterations"},
    "max_inner": {"type": int, "metavar": "N", "help": "maximum number of inner iterations or sweeps"},
    "tol_inner": {"type": float, "metavar": "T", "help": "threshold of the inner stopping rule"},
    "tol_outer": {"type": float, "metavar": "T", "help": "threshold of the outer stopping rule"},
    "progress": {
        "action": argparse.BooleanOptionalAction,
        "help": "show the progress, on standard error (default: on a terminal)",
    },
}
FITTING = ("solver", "seed", "dtype", "max_outer", "max_inner", "tol_inner", "tol_outer")
"""Those that mean the same to `factorize` and to a `Grid`."""


class TakesArguments(Protocol):
    """A parser or a group of its arguments; argparse has no public name for both."""

    def add_argument(self, *names: str, **options: Any) -> argparse.Action: ...


class Subparsers(Protocol):
    """What `ArgumentParser.add_subparsers` returns; argparse has no public name for it either."""

    def add_parser(self, name: str, **options: Any) -> argparse.ArgumentParser: ...


def add_options(parser: TakesArguments, *names: str, **changes: Any) -> None:
    """Add shared options, each with `changes`."""
    for name in names:
        parser.add_argument(f"--{name.replace('_', '-')}", **OPTIONS[name] | changes)


def given(args: argparse.Namespace, *names: str) -> dict[str, Any]:
    """The options of these names that were given."""
    return {name: value for name in names if (value := getattr(args, name)) is not None}


def lambdas(text: str) -> tuple[float, ...]:
    """One number above 1, or FIRST:LAST:COUNT for a rounded series in equal log steps.

    Examples
    --------
    >>> lambdas("2"), lambdas("1.5:24:5")
    ((2.0,), (1.5, 3.0, 6.0, 12.0, 24.0))
    """
    first, *rest = text.split(":")
    try:
        low, high, count = float(first), float(rest[0] if rest else first), int(rest[1] if rest else 1)
    except (ValueError, IndexError):
        low, high, count = 0.0, 0.0, 0
    if len(rest) > 2 or not (1 < low < np.inf and 1 < high < np.inf) or count < min(2, len(rest) + 1):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a lambda: write a number above 1, or FIRST:LAST:COUNT such as 1.05:100:16"
        )
    if not rest:
        return (low,)
    return tuple(rounded_lambda(value) for value in np.geomspace(low, high, count))


def numbers_of_parts(text: str) -> int | tuple[int, ...]:
    """A number of parts, or several: FIRST:LAST for all between, or separated by commas.

    Examples
    --------
    >>> numbers_of_parts("5"), numbers_of_parts("3:6"), numbers_of_parts("4,8,16")
    (5, (3, 4, 5, 6), (4, 8, 16))
    """
    words = text.replace(":", ",").split(",")
    numbers = tuple(int(word) if word.isdecimal() else 0 for word in words)
    span = ":" in text
    if min(numbers) < 1 or (span and (len(numbers) != 2 or numbers[0] > numbers[1] or "," in text)):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a number of parts: write 5, or 3:12 or 4,8,16 to choose from"
        )
    if span:
        return tuple(range(numbers[0], numbers[1] + 1))
    return numbers[0] if len(numbers) == 1 else numbers


def workers(text: str) -> int:
    """A number of processes."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes: write 1, 2, ...")
    return int(text)


def input_file(text: str) -> Path:
    """An existing file."""
    path = Path(text)
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"there is no file {text!r}")
    return path


def output_file(text: str) -> Path:
    """A file to be written at the end, perhaps hours later: its folder must exist at the start."""
    path = Path(text)
    if path.is_dir() or not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} cannot be written: its folder is not there, or it is one")
    return path


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file; if the disk is full or the process is killed, `path` is left as it was."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content.encode() if isinstance(content, str) else content)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
