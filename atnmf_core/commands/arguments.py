"""What may be written for an option, and what it means."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..sweep.grid import rounded_lambda

__all__ = [
    "LIMITS",
    "Subparsers",
    "add_limits",
    "given",
    "input_file",
    "lambdas",
    "output_file",
    "whole_file",
    "workers",
]

LIMITS = ("max_outer", "max_inner", "tol_inner", "tol_outer")
"""When a fit ends; see `factorize`."""


class Subparsers(Protocol):
    """What `ArgumentParser.add_subparsers` returns; argparse has no public name for it."""

    def add_parser(self, name: str, **options: Any) -> argparse.ArgumentParser: ...


class TakesArguments(Protocol):
    """A parser or a group of its arguments, for which argparse has no public name in common."""

    def add_argument(self, *names: str, **options: Any) -> argparse.Action: ...


def add_limits(parser: TakesArguments) -> None:
    """The options that `LIMITS` names."""
    for option, what in (("--max-outer", "outer iterations"), ("--max-inner", "inner iterations or sweeps")):
        parser.add_argument(option, type=int, metavar="N", help=f"at most so many {what}")
    for option, what in (("--tol-inner", "inner"), ("--tol-outer", "outer")):
        parser.add_argument(option, type=float, metavar="T", help=f"threshold of the {what} stopping rule")


def given(args: argparse.Namespace, *names: str) -> dict[str, Any]:
    """The options of these names that were given."""
    return {name: value for name in names if (value := getattr(args, name)) is not None}


def lambdas(text: str) -> tuple[float, ...]:
    """One number above 1, or FIRST:LAST:COUNT for a series in equal log steps, rounded.

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


def workers(text: str) -> int:
    """A number of processes."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes: write 1, 2, ...")
    return int(text)


def input_file(text: str) -> Path:
    """A file that is there."""
    path = Path(text)
    if not path.is_file():
        raise argparse.ArgumentTypeError(f"there is no file {text!r}")
    return path


def output_file(text: str) -> Path:
    """A file to be written at the end, which may be hours away: its folder must be there at the beginning."""
    path = Path(text)
    if path.is_dir() or not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} cannot be written: its folder is not there, or it is one")
    return path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A temporary file to write in the block, which then takes the place of `path`.

    When it cannot be written to its end, because the disk is full for instance, `path` is left as it was.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
