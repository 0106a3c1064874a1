"""ENVI: a text header (.hdr) and a binary file of raw numbers.

The header is parsed here, because the `spectral` package opens files by path only and uploads are never
written to disk; what its fields mean (number types, byte order, sizes) is left to `spectral`.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import UnreadableData, foreign_code, shown
from .limits import Limits
from .sources import Source
from .stored import StoredArray
from .wavelengths import in_nanometres

__all__ = ["partner_of", "read_envi"]

LONGEST_HEADER = 4 << 20
# Where each interleave has (bands, rows, cols) in the file.
INTERLEAVES = {"bsq": (0, 1, 2), "bil": (1, 0, 2), "bip": (2, 0, 1)}
Header = dict[str, str]


def partner_of(header: Source, others: list[Source]) -> Source:
    """The binary file that belongs to a header: the one of its name, else the only other file."""
    stem = str(PurePosixPath(header.name).with_suffix(""))
    for other in others:
        if other.name == stem or str(PurePosixPath(other.name).with_suffix("")) == stem:
            return other
    if len(others) == 1:
        return others[0]
    raise UnreadableData(
        f"{header.label} is an ENVI header: its binary file, {PurePosixPath(stem).name}, is needed too."
    )


def read_envi(header_source: Source, binary: Source, limits: Limits) -> StoredArray:
    """A cube with its wavelengths, without the bands that the header lists as bad."""
    header = _header(header_source)
    values = _values(header, header_source, binary, limits)
    notes: list[str] = []
    wavelengths = _wavelengths(header, values.shape[0], notes)
    good = _good_bands(header, values.shape[0])
    if good is not None and not good.all():
        if not good.any():
            raise UnreadableData(f"{header_source.label} marks every band as bad.")
        notes.append(
            f"{int((~good).sum())} of {good.size} bands are marked as bad in the header and were left out."
        )
        values = values[good]
        wavelengths = wavelengths[good] if wavelengths is not None else None
    nodata = _number(header.get("data ignore value", ""))
    scale = _number(header.get("reflectance scale factor", "")) or 1.0
    if not 0 < scale < np.inf:
        raise UnreadableData(
            f"{header_source.label} has a reflectance scale factor of {scale:g}: that makes no sense."
        )
    if scale != 1:
        notes.append(f"Values were divided by the header's reflectance scale factor, {scale:g}.")
    return StoredArray(
        values=values,
        label=binary.label,
        bands_axis=0,
        wavelengths=wavelengths,
        nodata=() if nodata is None else (nodata,),
        scale=scale,
        notes=notes,
    )


def _header(source: Source) -> Header:
    if len(source.data) > LONGEST_HEADER:
        raise UnreadableData(f"{source.label} is too long for an ENVI header.")
    text = source.data.decode("utf-8", "replace")
    lines = iter(text.splitlines())
    if not next(lines, "").strip().upper().startswith("ENVI"):
        raise UnreadableData(f"{source.label} is no ENVI header: its first line is not ENVI.")
    fields: Header = {}
    for line in lines:
        key, found, value = line.partition("=")
        if not found or line.lstrip().startswith(";"):
            continue
        value = value.strip()
        if value.startswith("{"):
            parts = [value]
            while not parts[-1].rstrip().endswith("}"):
                more = next(lines, None)
                if more is None:
                    raise UnreadableData(
                        f"{source.label} is cut short: the list {key.strip()!r:.40} does not end."
                    )
                parts.append(more)
            value = " ".join(parts).strip().strip("{}")
        fields[key.strip().lower()] = value.strip()
    return fields


def _values(header: Header, source: Source, binary: Source, limits: Limits) -> npt.NDArray[Any]:
    """The cube as bands x rows x cols, in the file's own number type."""
    from spectral.io import envi as spectral_envi  # imported where an ENVI file is read, which is seldom

    interleave = header.get("interleave", "bsq").strip().lower()
    if interleave not in INTERLEAVES:
        raise UnreadableData(f"{source.label} has interleave {interleave[:20]!r}: bsq, bil or bip is needed.")
    if header.get("file compression", "0") not in ("0", ""):
        raise UnreadableData(f"{binary.label} is compressed, by its header: save it uncompressed.")
    with foreign_code(
        f"{source.label} lacks lines, samples, bands or data type, or one of them makes no sense"
    ):
        spectral_envi.check_compatibility({"byte order": "0", "interleave": "bsq", **header})
        params = spectral_envi.gen_params({"byte order": "0", **header})
        dtype = np.dtype(params.dtype)
    sizes = (params.nbands, params.nrows, params.ncols)
    count = limits.check_shape(sizes, f"{binary.label}, by its header,")
    if dtype.kind == "c":
        raise UnreadableData(f"{binary.label} holds complex numbers: real numbers are needed.")
    end = params.offset + count * dtype.itemsize
    if params.offset < 0 or end > len(binary.data):
        raise UnreadableData(
            f"{binary.label} has {len(binary.data):,} bytes, and its header {source.label} announces "
            f"{shown(end)}: "
            "they do not belong together, or the file is cut short."
        )
    axes = INTERLEAVES[interleave]
    stored_shape = tuple(sizes[part] for part in np.argsort(axes))
    flat = np.frombuffer(binary.data, dtype=dtype, count=count, offset=params.offset)
    return flat.reshape(stored_shape).transpose(axes)


def _wavelengths(header: Header, bands: int, notes: list[str]) -> npt.NDArray[np.float64] | None:
    given = [_number(word) for word in header.get("wavelength", "").split(",") if word.strip()]
    if not given:
        return None
    if len(given) != bands or None in given:
        notes.append(f"The header's wavelengths do not fit its {bands} bands and were left out.")
        return None
    wavelengths, remarks = in_nanometres(
        np.array(given, dtype=np.float64), header.get("wavelength units", "")
    )
    notes.extend(remarks)
    return wavelengths


def _good_bands(header: Header, bands: int) -> npt.NDArray[np.bool_] | None:
    flags = [_number(word) for word in header.get("bbl", "").split(",") if word.strip()]
    return np.array([flag != 0 for flag in flags]) if len(flags) == bands else None


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None
