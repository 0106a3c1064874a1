"""MATLAB .mat files: version 7.3 is HDF5, earlier ones have a format of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .decoder import Decoder
from .limits import Limits
from .options import Options
from .pick_array import pick_array
from .sources import Source
from .stored import NamedArray, StoredArray

__all__ = ["is_hdf5", "read_matlab"]

SIGNATURE = b"\x89HDF\r\n\x1a\n"


def is_hdf5(data: bytes) -> bool:
    """HDF5's signature stands at the start, or after a user block, which MATLAB makes 512 bytes long."""
    return data.startswith(SIGNATURE) or data[512 : 512 + len(SIGNATURE)] == SIGNATURE


def read_matlab(source: Source, options: Options, limits: Limits) -> StoredArray:
    form = "hdf5" if is_hdf5(source.data) else "matlab"
    with Decoder(form, source, limits) as decoder:
        arrays = [_named_array(decoder, one, source, limits) for one in decoder.description]
        return pick_array(arrays, source.label, options, limits, order="F")


def _named_array(decoder: Decoder, entry: dict[str, Any], source: Source, limits: Limits) -> NamedArray:
    stored = tuple(int(size) for size in entry["shape"])
    # MATLAB counts columns first: HDF5 has the axes of its arrays the other way round.
    turned = "sparse" not in entry
    name, shape = str(entry["name"]), stored[::-1] if turned else stored

    def load() -> npt.NDArray[Any]:
        if "values" in entry:
            return np.array(entry["values"]).reshape(shape)
        label = f"{name} in {source.label}"
        limits.check_growth(len(source.data), 8 * limits.check_shape(shape, label), label)
        values = decoder.read(name, stored)
        return values.T if turned else values

    return NamedArray(name, shape, load)
