"""HDF5, by h5py: the arrays of MATLAB 7.3 files."""

import io
from collections.abc import Iterator
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

MAX_NAMES = 1000
MAX_INLINE = 20_000
NUMERIC = {"double", "single", "logical"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}


def open_file(data: bytes) -> "Hdf5File":
    return Hdf5File(data)


class Hdf5File:
    """The numeric arrays at the top level of a file."""

    def __init__(self, data: bytes) -> None:
        self._datasets = dict(_plain_arrays(h5py.File(io.BytesIO(data), "r")))
        self.description = [_described(name, dataset) for name, dataset in self._datasets.items()]

    def read(self, name: str) -> npt.NDArray[Any]:
        values: npt.NDArray[Any] = self._datasets[name][()]
        return values


def _plain_arrays(file: h5py.File) -> Iterator[tuple[str, Any]]:
    """Numeric datasets inside this very file: links and external storage could name any file here."""
    for name in list(file)[:MAX_NAMES]:
        if (
            not isinstance(file.get(name, getlink=True), h5py.HardLink)
            or file.get(name, getclass=True) is not h5py.Dataset
        ):
            continue
        dataset = file[name]
        matlab_class = dataset.attrs.get("MATLAB_class", b"double")
        known = (
            matlab_class.decode("ascii", "replace") if isinstance(matlab_class, bytes) else str(matlab_class)
        )
        inside = dataset.external is None and not dataset.is_virtual
        if inside and known in NUMERIC and dataset.shape and dataset.dtype.kind in "biuf":
            yield name, dataset


def _described(name: str, dataset: Any) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": name, "shape": list(dataset.shape)}
    # Sizes and wavelengths are sent along, which saves a request for each.
    if sum(size > 1 for size in dataset.shape) <= 1 and 0 < dataset.size <= MAX_INLINE:
        entry["values"] = np.asarray(dataset[()], dtype=float).reshape(-1).tolist()
    return entry
