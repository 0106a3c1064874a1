"""Data: bundled, downloadable, and read from the user's own files, all in one form."""

from .catalogue import Entry, catalogue, load_dataset
from .dataset import Dataset, Georeference, Truth
from .download import DataUnavailable, Transfer, fetch
from .normalisation import NORMALISATIONS, normalise
from .paper import PAPER_ALPHAS, PAPER_FOLDERS, paper_mask
from .readers import (
    SUFFIXES,
    ArrayInFile,
    LayoutGuess,
    Limits,
    Reading,
    ReadingOptions,
    Remedy,
    SpectralLibrary,
    UnreadableData,
    read_dataset,
    read_library,
    read_or_ask,
    read_truth,
)
from .truth import truth_from_arrays
from .writers import EnviPair, bytes_like, write_envi, write_envi_zip, write_like, write_mat, write_npz

__all__ = [
    "NORMALISATIONS",
    "PAPER_ALPHAS",
    "PAPER_FOLDERS",
    "SUFFIXES",
    "ArrayInFile",
    "DataUnavailable",
    "Dataset",
    "Entry",
    "EnviPair",
    "Georeference",
    "LayoutGuess",
    "Limits",
    "Reading",
    "ReadingOptions",
    "Remedy",
    "SpectralLibrary",
    "Transfer",
    "Truth",
    "UnreadableData",
    "bytes_like",
    "catalogue",
    "fetch",
    "load_dataset",
    "normalise",
    "paper_mask",
    "read_dataset",
    "read_library",
    "read_or_ask",
    "read_truth",
    "truth_from_arrays",
    "write_envi",
    "write_envi_zip",
    "write_like",
    "write_mat",
    "write_npz",
]
