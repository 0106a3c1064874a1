"""MATLAB .mat files: version 7.3 is HDF5, earlier versions have their own format."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from .decoder import Decoder, replace_array
from .errors import UnreadableData
from .limits import Limits
from .options import ReadingOptions
from .pick_array import read_picked
from .sources import Source
from .stored import NamedArray, StoredArray

NUMERIC = re.compile(r"double|single|logical|u?int(8|16|32|64)")


def is_matlab_hdf5(data: bytes) -> bool:
    return data.startswith(b"MATLAB 7.3 MAT-file")


def read_matlab(source: Source, form: str, options: ReadingOptions, limits: Limits) -> StoredArray:
    """The data of a .mat file, decoded by the module `form` of the decoding process."""

    def rewrite(name: str, values: npt.NDArray[Any]) -> list[Source]:
        return replace_array(form, source, name, limits, values.T if form == "hdf5" else values)

    with matlab_arrays(source, form, limits) as arrays:
        return read_picked(arrays, source.label, options, limits, order="F", rewrite=rewrite)


@contextmanager
def matlab_arrays(source: Source, form: str, limits: Limits) -> Iterator[list[NamedArray]]:
    """All numeric arrays of the file, which can be loaded inside the block."""
    with Decoder(form, source, limits) as decoder:
        described = decoder.description["arrays"]
        arrays = [_named_array(decoder, form, one, source, limits) for one in described if _is_numeric(one)]
        sparse = [one["name"].split("/")[0] for one in described if "/ir" in one["name"]]
        if sparse and not any(array.long_axes >= 2 for array in arrays):
            raise UnreadableData(
                f"{sparse[0]} in {source.label} is a sparse matrix in MATLAB's version 7.3 format: "
                f"save it with -v7, or as full({sparse[0]})."
            )
        yield arrays


def _is_numeric(entry: dict[str, Any]) -> bool:
    known = entry.get("attributes", {}).get("MATLAB_class", "double")
    return "/" not in entry["name"] and isinstance(known, str) and bool(NUMERIC.fullmatch(known))


def _named_array(
    decoder: Decoder, form: str, entry: dict[str, Any], source: Source, limits: Limits
) -> NamedArray:
    stored = tuple(int(size) for size in entry["shape"])
    # MATLAB is column-major: in HDF5 the axes of its arrays are reversed.
    name, shape = str(entry["name"]), stored[::-1] if form == "hdf5" else stored
    sparse = bool(entry.get("sparse"))

    def load() -> npt.NDArray[Any]:
        if "values" in entry:
            return np.array(entry["values"]).reshape(shape)
        label = f"{name} in {source.label}"
        entries = limits.check_shape(shape, label)
        if not sparse:
            limits.check_growth(len(source.data), entry["itemsize"] * entries, label)
        values = decoder.read(name, stored)
        return values.T if form == "hdf5" else values

    return NamedArray(name, shape, load, sparse)
