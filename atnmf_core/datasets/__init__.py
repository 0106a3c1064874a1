"""Data: bundled, downloadable, and read from the user's own files, all in one form."""

from .catalogue import Entry, catalogue, load_dataset
from .dataset import Dataset, Truth
from .download import DataUnavailable, Transfer, fetch
from .normalisation import NORMALISATIONS, normalise
from .paper import PAPER_ALPHAS, PAPER_FOLDERS, paper_mask
from .readers import SUFFIXES, Limits, UnreadableData, read_dataset
from .truth import truth_from
from .writers import EnviPair, write_envi, write_envi_zip, write_mat, write_npz

__all__ = [
    "NORMALISATIONS",
    "PAPER_ALPHAS",
    "PAPER_FOLDERS",
    "SUFFIXES",
    "DataUnavailable",
    "Dataset",
    "Entry",
    "EnviPair",
    "Limits",
    "Transfer",
    "Truth",
    "UnreadableData",
    "catalogue",
    "fetch",
    "load_dataset",
    "normalise",
    "paper_mask",
    "read_dataset",
    "truth_from",
    "write_envi",
    "write_envi_zip",
    "write_mat",
    "write_npz",
]
