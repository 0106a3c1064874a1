"""How to read a user's file: the options of every command that reads one."""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields
from typing import Any

from ..datasets import NORMALISATIONS, Dataset, ReadingOptions, Remedy, UnreadableData
from ..datasets.readers.options import option_text, parse_image_shape
from .arguments import given


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Options for the settings of `ReadingOptions`: what a file does not say, or says wrongly."""
    group = parser.add_argument_group("how a file is read")
    group.add_argument("--variable", metavar="NAME", help="which array of the file is meant")
    group.add_argument("--kind", choices=["faces", "cube", "matrix"])
    group.add_argument(
        "--image-shape",
        type=_image_shape,
        metavar="ROWSxCOLS",
        help="for arrays that have all pixels on one axis, for example 50x40",
    )
    group.add_argument("--order", choices=["F", "C"], help="pixels column by column (F) or row by row (C)")
    group.add_argument(
        "--bands-axis", type=int, metavar="AXIS", help="which axis counts the bands: 0, 1 or 2"
    )
    group.add_argument(
        "--nodata",
        type=float,
        action="append",
        metavar="X",
        help="a number in the file that means missing; may be repeated",
    )
    group.add_argument(
        "--saturated", type=float, metavar="X", help="values from here up are saturated and read as missing"
    )
    group.add_argument(
        "--negative",
        choices=["refuse", "zero", "missing"],
        help="what to do with entries below 0 (default: refuse)",
    )
    group.add_argument("--normalisation", choices=tuple(NORMALISATIONS), help="default: none")


def reading(args: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `read_dataset` that were given as options."""
    names = [field.name for field in fields(ReadingOptions) if hasattr(args, field.name)]
    options = given(args, *names)
    return options | {"nodata": tuple(options["nodata"])} if "nodata" in options else options


def print_notes(data: Dataset) -> None:
    """Say on standard error what the reader decided, so that a wrong guess is noticed."""
    for note in data.notes:
        print(f"{data.name}: {note}", file=sys.stderr)


def why_unreadable(error: UnreadableData) -> str:
    """Why a file cannot be read, and which options would help."""

    def option(remedy: Remedy) -> str:
        return option_text(remedy.setting, remedy.value)

    return error.explained(option)


def _image_shape(text: str) -> tuple[int, int]:
    try:
        return parse_image_shape(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
