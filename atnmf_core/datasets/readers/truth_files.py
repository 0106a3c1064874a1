"""The truth about a cube's materials from files: `end3.mat` with A and M, or one file for each."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from ...problem import InputError
from ..dataset import Dataset, Truth
from ..truth import could_be_truth, truth_from_arrays
from .formats import open_files
from .hdf5 import is_hdf5
from .limits import Limits
from .matlab import matlab_arrays
from .numpy_files import npz_arrays
from .options import ReadingOptions
from .sources import Source, gather
from .stored import NamedArray


def read_truth(data: Dataset, files: Any, limits: Limits | None = None) -> Truth:
    """What files say about the materials of a cube.

    Of the arrays in a .mat or .npz file those are taken whose shape fits: abundances have the cube's pixels,
    spectra its bands. Other files hold one array, which has to fit.

    Raises
    ------
    UnreadableData : a file that cannot be read.
    InputError : nothing in the files fits the cube.
    """
    bounds = limits or Limits.from_environment()
    arrays: list[npt.NDArray[Any]] = []
    for source in gather(files, bounds):
        arrays += _arrays(data, source, bounds)
    return truth_from_arrays(data, arrays)


def _arrays(data: Dataset, source: Source, limits: Limits) -> list[npt.NDArray[Any]]:
    if source.suffix == ".mat":
        with matlab_arrays(source, "hdf5" if is_hdf5(source.data) else "matlab", limits) as arrays:
            found = _fitting(data, arrays)
    elif source.suffix == ".npz":
        found = _fitting(data, npz_arrays(source, limits))
    else:
        return [open_files([source], ReadingOptions(), limits).stored.values]
    if not found:
        raise InputError(
            f"{source.label} has neither abundances for the {data.shape[1]} pixels of {data.title} nor "
            f"spectra of its {data.shape[0]} bands."
        )
    return found


def _fitting(data: Dataset, arrays: list[NamedArray]) -> list[npt.NDArray[Any]]:
    return [one.load() for one in arrays if one.long_axes >= 2 and could_be_truth(data, one.shape)]
