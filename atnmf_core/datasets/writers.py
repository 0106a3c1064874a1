"""Cubes in the formats of other programs, as bytes to save or to offer for download."""

from __future__ import annotations

import io
import re
import zipfile
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..problem import InputError
from .dataset import Dataset

__all__ = ["EnviPair", "write_envi", "write_envi_zip", "write_mat", "write_npz"]

Array = npt.NDArray[np.floating]


class EnviPair(NamedTuple):
    """The two files of an ENVI image: save them under one name, as .hdr and .img."""

    header: bytes
    binary: bytes


def write_envi(data: Dataset) -> EnviPair:
    """A cube as ENVI: band sequential, little-endian."""
    from spectral.io.envi import dtype_to_envi  # slow to import, and few runs write a cube

    cube = _cube(data).astype(data.V.dtype.newbyteorder("<"), copy=False)
    rows, cols, bands = cube.shape
    fields = {
        "description": f"{{{_one_line(data.title)}}}",
        "samples": cols,
        "lines": rows,
        "bands": bands,
        "header offset": 0,
        "file type": "ENVI Standard",
        "data type": dtype_to_envi[data.V.dtype.char],
        "interleave": "bsq",
        "byte order": 0,
    }
    if data.wavelengths is not None:
        fields["wavelength units"] = "Nanometers"
        fields["wavelength"] = "{" + ", ".join(f"{nm!r}" for nm in data.wavelengths.tolist()) + "}"
    header = "ENVI\n" + "".join(f"{key} = {value}\n" for key, value in fields.items())
    return EnviPair(header.encode(), cube.transpose(2, 0, 1).tobytes())


def write_envi_zip(data: Dataset, name: str) -> bytes:
    """Both files of an ENVI image under one name, in a zip archive."""
    pair, stream = write_envi(data), io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr(f"{name}.hdr", pair.header)
        archive.writestr(f"{name}.img", pair.binary)
    return stream.getvalue()


def write_mat(data: Dataset) -> bytes:
    """A cube as a MATLAB file with `cube` (rows x cols x bands) and, where known, `wavelengths` in nm."""
    from scipy.io import savemat  # slow to import, and few runs write a cube

    stream = io.BytesIO()
    savemat(stream, _arrays(data), do_compression=True)
    return stream.getvalue()


def write_npz(data: Dataset) -> bytes:
    """A cube as a NumPy archive with `cube` (rows x cols x bands) and, where known, `wavelengths` in nm."""
    stream = io.BytesIO()
    np.savez_compressed(stream, allow_pickle=False, **_arrays(data))
    return stream.getvalue()


def _arrays(data: Dataset) -> dict[str, Array]:
    arrays: dict[str, Array] = {"cube": _cube(data)}
    if data.wavelengths is not None:
        arrays["wavelengths"] = data.wavelengths
    return arrays


def _cube(data: Dataset) -> Array:
    if data.kind != "cube":
        raise InputError(f"{data.name} is of kind {data.kind!r}: only a cube is written in this format.")
    return data.images().transpose(1, 2, 0)


def _one_line(text: str) -> str:
    return re.sub(r"[\s{}=]+", " ", text).strip()
