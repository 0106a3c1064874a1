"""The entry point for files: read a data set, or say what has to be answered first."""

from __future__ import annotations

import re
from typing import Any, Literal

from ...problem import Order
from ..dataset import Dataset, Kind
from .errors import UnreadableData
from .formats import open_files
from .layout import to_dataset
from .limits import Limits
from .options import ReadingOptions
from .sources import gather


def read_dataset(
    files: Any,
    *,
    name: str | None = None,
    variable: str | None = None,
    kind: Kind | None = None,
    image_shape: tuple[int, int] | None = None,
    order: Order | None = None,
    bands_axis: int | None = None,
    nodata: float | tuple[float, ...] = (),
    saturated: float | None = None,
    negative: Literal["refuse", "zero", "missing"] = "refuse",
    normalisation: str = "none",
    limits: Limits | None = None,
) -> Dataset:
    """Read a data set from files that people have.

    Images (PGM, PNG, JPEG, BMP, TIFF; several, or a zip of them), MATLAB .mat (all versions), NumPy .npy and
    .npz, ENVI (.hdr and its binary), GeoTIFF, NetCDF and HDF5, and text tables (.csv, .tsv, .txt). The
    contents of a zip archive are read the same way.

    Parameters
    ----------
    files : a path, a (name, bytes) pair, an open or uploaded file, or a list of these.
    name : what to call the data; by default the name of its file.
    variable ... normalisation : answers to what the file does not say, see `ReadingOptions`.
    limits : how large files and arrays may be; by default what the environment says.

    Raises
    ------
    UnreadableData : whatever is wrong with the files or the arguments. Its `remedies` are settings that would
        help, and its `arrays` what can be chosen with `variable`.
    """
    options = ReadingOptions(
        variable, kind, image_shape, order, bands_axis, nodata, saturated, negative, normalisation
    )
    bounds = limits or Limits.from_environment()
    try:
        opened = open_files(gather(files, bounds), options, bounds)
        title = name or opened.stem
        return to_dataset(opened.stored, dataset_name(title), title, options, bounds)
    except MemoryError as error:
        raise UnreadableData("There is not enough memory to read this: cut out a part.") from error


def dataset_name(stem: str) -> str:
    """A short name that is safe in addresses and file names.

    Examples
    --------
    >>> dataset_name("Jasper Ridge (1998)")
    'Jasper-Ridge-1998'
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-.")[:60] or "upload"
