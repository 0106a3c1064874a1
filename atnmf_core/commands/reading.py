"""How a user's file is to be read: the options of every command that reads one."""

from __future__ import annotations

import argparse
from typing import Any

from .arguments import given

__all__ = ["add_reading_options", "reading"]

_OPTIONS = ("variable", "kind", "bands_axis", "order", "image_shape", "nodata", "negative")


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """What the rules of `read_dataset` leave open, or decide otherwise than meant."""
    group = parser.add_argument_group("how a file is read")
    group.add_argument("--variable", metavar="NAME", help="which array of a .mat or .npz file is meant")
    group.add_argument("--kind", choices=["faces", "cube", "matrix"])
    group.add_argument(
        "--bands-axis", type=int, metavar="AXIS", help="which axis counts the bands: 0, 1 or 2"
    )
    group.add_argument(
        "--order", choices=["F", "C"], help="pixels column after column (F) or row after row (C)"
    )
    group.add_argument("--image-shape", type=_image_shape, metavar="ROWSxCOLS", help="for example 50x50")
    group.add_argument(
        "--nodata",
        type=float,
        action="append",
        metavar="X",
        help="a number that means missing; may be repeated",
    )
    group.add_argument(
        "--negative", choices=["refuse", "zero"], help="what to do with entries below 0 (default: refuse)"
    )


def reading(args: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `read_dataset` that were given as options."""
    options = given(args, *_OPTIONS)
    return options | {"nodata": tuple(options["nodata"])} if "nodata" in options else options


def _image_shape(text: str) -> tuple[int, int]:
    rows, separator, cols = text.lower().partition("x")
    if not (separator and rows.isdecimal() and cols.isdecimal() and int(rows) and int(cols)):
        raise argparse.ArgumentTypeError(f"{text!r} is no image size: write it as 50x50")
    return int(rows), int(cols)
