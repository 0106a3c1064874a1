"""Readers for the formats that people have. Whatever the bytes, they raise nothing but `UnreadableData`."""

from .ask import LayoutGuess, Reading, read_or_ask
from .errors import Remedy, UnreadableData
from .library import SpectralLibrary, read_library
from .limits import Limits
from .options import ReadingOptions, option_text, parse_image_shape
from .read import read_dataset
from .truth_files import read_truth

__all__ = [
    "LayoutGuess",
    "Limits",
    "Reading",
    "ReadingOptions",
    "Remedy",
    "SpectralLibrary",
    "UnreadableData",
    "option_text",
    "parse_image_shape",
    "read_dataset",
    "read_library",
    "read_or_ask",
    "read_truth",
]
