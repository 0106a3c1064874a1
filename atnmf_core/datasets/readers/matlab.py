"""MATLAB .mat files: version 7.3 is HDF5, earlier versions have their own format."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from .decoder import Decoder
from .errors import UnreadableData
from .limits import Limits
from .options import ReadingOptions
from .pick_array import pick_array, stated_wavelengths
from .sources import Source
from .stored import NamedArray, StoredArray

__all__ = ["is_matlab_hdf5", "matlab_arrays", "read_matlab"]

NUMERIC = re.compile(r"double|single|logical|u?int(8|16|32|64)")


def is_matlab_hdf5(data: bytes) -> bool:
    return data.startswith(b"MATLAB 7.3 MAT-file")


def read_matlab(source: Source, form: str, options: ReadingOptions, limits: Limits) -> StoredArray:
    """The data of a .mat file, decoded by the module `form` of the decoding process."""
    with Decoder(form, source, limits) as decoder:
        described = [one for one in decoder.description["arrays"] if _is_numeric(one)]
        arrays = [_named_array(decoder, form, one, source, limits) for one in described]
        sparse = [one["name"].split("/")[0] for one in decoder.description["arrays"] if "/ir" in one["name"]]
        if sparse and not any(array.long_axes >= 2 for array in arrays):
            raise UnreadableData(
                f"{sparse[0]} in {source.label} is a sparse matrix in MATLAB's version 7.3 format: "
                f"save it with -v7, or as full({sparse[0]})."
            )
        pick = pick_array(arrays, source.label, options)
        limits.check_shape(pick.array.shape, _label(pick.array, source))
        wavelengths, notes = stated_wavelengths(arrays, pick.array)
        values = pick.array.load()
        return StoredArray(
            values,
            _label(pick.array, source),
            kind=pick.kind,
            image_shape=pick.image_shape if values.ndim == 2 else None,
            order="F",
            wavelengths=wavelengths,
            truth=tuple(one.load() for one in pick.truth),
            notes=[*pick.notes, *notes],
            arrays=tuple(one.info for one in arrays if one.long_axes >= 2),
            rewrite=partial(_rewrite, source, form, pick.array.name, limits),
        )


def matlab_arrays(
    source: Source, form: str, limits: Limits, wanted: Callable[[tuple[int, ...]], bool]
) -> list[npt.NDArray[Any]]:
    """All arrays of the wanted shapes."""
    with Decoder(form, source, limits) as decoder:
        described = [one for one in decoder.description["arrays"] if _is_numeric(one)]
        arrays = [_named_array(decoder, form, one, source, limits) for one in described]
        return [array.load() for array in arrays if array.long_axes >= 2 and wanted(array.shape)]


def _rewrite(source: Source, form: str, name: str, limits: Limits, values: npt.NDArray[Any]) -> list[Source]:
    with Decoder(form, source, limits) as decoder:
        return [Source(source.name, decoder.replace(name, values.T if form == "hdf5" else values))]


def _is_numeric(entry: dict[str, Any]) -> bool:
    known = entry.get("attributes", {}).get("MATLAB_class", "double")
    return "/" not in entry["name"] and isinstance(known, str) and bool(NUMERIC.fullmatch(known))


def _label(array: NamedArray, source: Source) -> str:
    return f"{array.name} in {source.label}" + (", a sparse matrix," if array.sparse else "")


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
