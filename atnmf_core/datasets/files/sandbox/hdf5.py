"""HDF5 by h5py: MATLAB 7.3, NetCDF 4 and the missions' own files."""

import io
from collections.abc import Iterator
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from . import is_sent_along

MAX_ARRAYS = 2000
MAX_DEPTH = 12
MAX_ATTRIBUTE = 5_000


class Hdf5File:
    """The numeric arrays in all groups of a file, by their paths, with attributes and names of axes."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._file = h5py.File(io.BytesIO(data), "r")
        self.description = described(self._file)

    def read(self, name: str) -> npt.NDArray[Any]:
        values: npt.NDArray[Any] = self._file[name][()]
        return values

    def replace(self, name: str, values: npt.NDArray[Any]) -> bytes:
        with _editable(self._data) as file:
            file[name][...] = values
            file.flush()
            changed: bytes = file.id.get_file_image()
        # The image begins where HDF5 does; MATLAB has a block of its own before that.
        block = len(self._data) - len(self._data[self._data.index(b"\x89HDF") :])
        return changed if changed.startswith(self._data[:8]) else self._data[:block] + changed


open_file = Hdf5File


def described(file: h5py.File) -> dict[str, Any]:
    found = dict(_arrays(file, "", 0, set()))
    names = {dataset.id: name for name, dataset in found.items()}
    return {
        "attributes": _attributes(file),
        "arrays": [_described(name, dataset, names) for name, dataset in found.items()],
    }


def _editable(data: bytes) -> h5py.File:
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    access.set_fapl_core(backing_store=False)
    access.set_file_image(data)
    return h5py.File(h5py.h5f.open(b"file", h5py.h5f.ACC_RDWR, fapl=access))


def _arrays(group: h5py.Group, path: str, depth: int, seen: set[Any]) -> Iterator[tuple[str, Any]]:
    """Numeric datasets of this file itself: links and external storage could name any other file."""
    for name in list(group)[:MAX_ARRAYS]:
        if not isinstance(group.get(name, getlink=True), h5py.HardLink):
            continue
        kind = group.get(name, getclass=True)
        if kind is h5py.Group and depth < MAX_DEPTH and group[name].id not in seen and len(seen) < MAX_ARRAYS:
            seen.add(group[name].id)
            yield from _arrays(group[name], f"{path}{name}/", depth + 1, seen)
        if kind is h5py.Dataset:
            dataset = group[name]
            inside = dataset.external is None and not dataset.is_virtual
            if inside and dataset.shape and dataset.dtype.kind in "biuf":
                yield f"{path}{name}", dataset


def _described(name: str, dataset: Any, names: dict[Any, str]) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": name,
        "shape": list(dataset.shape),
        "itemsize": dataset.dtype.itemsize,
        "attributes": _attributes(dataset),
        "axes": [_axis_name(dimension, names) for dimension in dataset.dims],
    }
    if is_sent_along(dataset.shape):
        entry["values"] = np.asarray(dataset[()], dtype=float).reshape(-1).tolist()
    return entry


def _axis_name(dimension: Any, names: dict[Any, str]) -> str:
    if len(dimension):
        return names.get(dimension[0].id, "")
    return str(dimension.label)


def _attributes(owner: Any) -> dict[str, Any]:
    found = {}
    for name in owner.attrs:
        try:
            value = np.asarray(owner.attrs[name])
        except (OSError, TypeError, ValueError):  # of a type that h5py does not know
            continue
        if value.size <= MAX_ATTRIBUTE and value.dtype.kind in "biufSUO":
            found[name] = _plain(value)
    return found


def _plain(value: npt.NDArray[Any]) -> Any:
    if value.dtype.kind in "biuf":
        plain = value.astype(float).tolist()
        return plain[0] if value.size == 1 and value.ndim else plain
    texts = [one.decode("utf-8", "replace") if isinstance(one, bytes) else str(one) for one in value.flat]
    return texts[0] if value.size == 1 else texts
