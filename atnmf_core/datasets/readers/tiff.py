"""TIFF and GeoTIFF, single or multi-band, decoded by GDAL."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ..dataset import Georeference
from .decoder import decoder_for, replace_array
from .errors import UnreadableData
from .limits import Limits
from .sources import Source
from .stored import StoredArray
from .wavelengths import in_nanometres

ONE_IMAGE = "One image alone is read as a matrix: its rows and columns are those of V."
LUMA = np.array([0.299, 0.587, 0.114])
WAVELENGTH = (
    "wavelength",
    "central_wavelength_um",
    "center_wavelength",
    "centre_wavelength",
    "wavelength_nm",
)
UNIT = ("wavelength_units", "wavelength_unit", "wavelength units")
# As in "band 7 (450.2 Nanometers)".
IN_A_NAME = re.compile(r"(\d+(?:\.\d+)?)\s*(nm|nanomet(?:er|re)s?|um|µm|micromet(?:er|re)s?)\b", re.I)


def is_tiff(data: bytes) -> bool:
    return data[:4] in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")


def read_tiff(source: Source, limits: Limits) -> StoredArray:
    """A single TIFF: several bands (or pages of one size) are a cube, one band is a matrix.

    Wavelengths, bad bands, scale, no-data value and coordinates are those that GDAL finds in its tags.
    """
    with decoder_for("raster", source, limits) as decoder:
        about = decoder.description
        shape = tuple(int(size) for size in about["shape"])
        values = decoder.read("bands", shape)
        mask = decoder.read("mask", shape[1:]) == 0 if about["has_mask"] else None
    bands = shape[0]
    notes: list[str] = []
    wavelengths = _wavelengths(about, bands, notes)
    stored = StoredArray(
        values,
        source.label,
        bands_axis=0,
        wavelengths=wavelengths,
        nodata=tuple(dict.fromkeys(value for value in about["nodata"] if value is not None)),
        missing=_missing(about, bands, mask, notes),
        notes=notes,
        band_names=tuple(name or f"band {i + 1}" for i, name in enumerate(about["names"]))
        if any(about["names"]) and len(about["names"]) == bands
        else (),
        georeference=Georeference(about["crs"], tuple(about["transform"]) if about["transform"] else None)
        if about["crs"] or about["transform"]
        else None,
        rewrite=None if about["palette"] else partial(replace_array, "raster", source, "bands", limits),
    )
    stored.gain, stored.offset = _scaling(about, source)
    if stored.gain != 1:
        notes.append(f"Values were multiplied by the file's scale, {stored.gain:g}.")
    if bands == 1:
        stored.values, stored.kind, stored.bands_axis = values[0], "matrix", None
        stored.missing = None if stored.missing is None else stored.missing[0]
        if rewrite := stored.rewrite:
            stored.rewrite = lambda values: rewrite(values[None])
        stored.notes.append(ONE_IMAGE)
    return stored


def grey_tiff(source: Source, limits: Limits) -> tuple[npt.NDArray[Any], bool]:
    """A TIFF as one of several images: its only band or the grey of three, and whether it had colours."""
    values = read_tiff(source, limits).values
    if values.ndim == 2:
        return values, False
    if values.shape[0] not in (3, 4):
        raise UnreadableData(f"{source.label} has {values.shape[0]} bands: read it alone, as a cube.")
    grey = np.tensordot(LUMA, values[:3].astype(np.float64), axes=1)
    return (np.rint(grey).astype(values.dtype) if values.dtype.kind in "iu" else grey), True


def _scaling(about: dict[str, Any], source: Source) -> tuple[float, float]:
    """The scale and offset of all bands; if they differ between bands, the numbers stay as stored."""
    pairs = set(zip(about["scales"], about["offsets"], strict=True))
    gain, offset = pairs.pop()
    usable = not pairs and np.isfinite([gain, offset]).all() and gain > 0
    return (float(gain), float(offset)) if usable else (1.0, 0.0)


def _wavelengths(about: dict[str, Any], bands: int, notes: list[str]) -> npt.NDArray[np.float64] | None:
    """From the bands' own tags, or from a list for the whole file, or from the bands' names."""
    tags = about["band_tags"]
    for key in WAVELENGTH:
        found = [number_or_none(band.get(key)) for band in tags]
        if len(found) == bands and None not in found:
            unit = next((tags[0][name] for name in UNIT if name in tags[0]), _unit_of(key, about["tags"]))
            return _converted(found, unit, notes)
    listed = [number_or_none(word) for word in about["tags"].get("wavelength", "").strip("{}").split(",")]
    if len(listed) == bands and None not in listed:
        return _converted(listed, _unit_of("", about["tags"]), notes)
    named = [IN_A_NAME.search(name or "") for name in about["names"]]
    if len(named) == bands and all(named):
        return _converted([float(one[1]) for one in named if one], named[0][2] if named[0] else "", notes)
    return None


def _unit_of(key: str, tags: dict[str, str]) -> str:
    if key.endswith(("_um", "_nm")):
        return key[-2:]
    return next((tags[name] for name in UNIT if name in tags), "")


def _converted(values: list[float | None], unit: str, notes: list[str]) -> npt.NDArray[np.float64] | None:
    wavelengths, remarks = in_nanometres(np.array(values, dtype=np.float64), unit)
    notes.extend(remarks)
    return wavelengths


def _missing(
    about: dict[str, Any], bands: int, mask: npt.NDArray[np.bool_] | None, notes: list[str]
) -> npt.NDArray[np.bool_] | None:
    flags = [number_or_none(band.get("bbl")) for band in about["band_tags"]]
    if None in flags:
        flags = [number_or_none(word) for word in about["tags"].get("bbl", "").strip("{}").split(",")]
    missing = None if mask is None else mask[None]
    if len(flags) == bands and None not in flags and any(flags):
        bad = np.array([flag == 0 for flag in flags])
        if bad.any():
            notes.append(f"{int(bad.sum())} of {bands} bands are marked as bad in the file.")
            missing = bad[:, None, None] if missing is None else missing | bad[:, None, None]
    return missing


def number_or_none(word: str | None) -> float | None:
    try:
        return float(word)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
