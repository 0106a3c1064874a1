"""Data: bundled, downloadable, and read from the user's own files, all in one form."""

from .catalogue import PAPER_ALPHAS, Entry, catalogue, load_dataset, paper_mask
from .dataset import NORMALISATIONS, Dataset, Georeference, Truth, normalise, truth_from_arrays
from .download import PAPER_FOLDERS, DataUnavailable, Transfer, fetch
from .files.read import (
    LayoutGuess,
    Reading,
    SpectralLibrary,
    read_dataset,
    read_library,
    read_or_ask,
    read_truth,
)
from .files.sources import Limits, ReadingOptions, Remedy, UnreadableData
from .files.write import EnviPair, bytes_like, write_envi, write_envi_zip, write_like, write_mat, write_npz

__all__ = [
    "NORMALISATIONS", "PAPER_ALPHAS", "PAPER_FOLDERS", "DataUnavailable", "Dataset", "Entry",
    "EnviPair", "Georeference", "LayoutGuess", "Limits", "Reading", "ReadingOptions", "Remedy",
    "SpectralLibrary", "Transfer", "Truth", "UnreadableData", "bytes_like", "catalogue", "fetch",
    "load_dataset", "normalise", "paper_mask", "read_dataset", "read_library", "read_or_ask",
    "read_truth", "truth_from_arrays", "write_envi", "write_envi_zip", "write_like", "write_mat",
    "write_npz",
]  # fmt: skip
