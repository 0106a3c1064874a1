"""ENVI: a text header (.hdr) and a binary file of plain numbers; also ENVI's spectral libraries.

GDAL reads these cubes too, but returns only part of the header. Here the header is parsed as text, so that
all of it can be written again, and the numbers are a view of the file's bytes, which nothing can crash. The
`spectral` package interprets the fields (number types, byte order, sizes).
"""

from functools import partial
from pathlib import PurePosixPath

import numpy as np

from ...model.problem import Mask, Values, Wide
from ..dataset import Georeference
from .images import is_tiff, number_or_none, read_tiff
from .sources import Limits, Source, UnreadableData, foreign_code, size_text
from .values import StoredArray, in_nanometres

MAX_HEADER = 4 << 20
# The axes of (bands, rows, cols) in the file, for each interleave.
INTERLEAVES = {"bsq": (0, 1, 2), "bil": (1, 0, 2), "bip": (2, 0, 1)}
Header = dict[str, str]


def partner_of(header: Source, others: list[Source]) -> Source:
    """The binary file of a header: the one with its name, else the only other file."""
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
    """A cube with its wavelengths, or a spectral library; bands that the header calls bad are missing."""
    header = _header(header_source)
    if is_tiff(binary.data):
        stored = read_tiff(binary, limits)
        bands = stored.values.shape[0]
    else:
        layout = _Binary(header, header_source, binary, limits)
        stored = StoredArray(layout.values(), binary.label, bands_axis=0)
        stored.rewrite = partial(layout.rewritten, header_source)
        if "spectral library" in header.get("file type", "").lower():
            stored.values, stored.kind, stored.bands_axis = stored.values[0], "matrix", 1
            stored.rewrite = lambda values: layout.rewritten(header_source, values[None])
            stored.spectrum_names = _list(header, "spectra names")
        bands = stored.values.shape[stored.bands_axis or 0]
    stored.wavelengths = (
        _wavelengths(header, bands, stored.notes) if "wavelength" in header else stored.wavelengths
    )
    stored.band_names = _list(header, "band names")
    if (stored.kind is None and "map info" in header) or "coordinate system string" in header:
        stored.georeference = Georeference(
            wkt=header.get("coordinate system string", ""), map_info=header.get("map info", "")
        )
    nodata = number_or_none(header.get("data ignore value", ""))
    stored.nodata = stored.nodata if nodata is None else (nodata,)
    stored.missing = _bad_bands(header, header_source, stored, bands)
    _set_scale(header, header_source, stored)
    return stored


def _header(source: Source) -> Header:
    if len(source.data) > MAX_HEADER:
        raise UnreadableData(f"{source.label} is too long for an ENVI header.")
    text = source.data.decode("utf-8", "replace")
    lines = iter(text.splitlines())
    if not next(lines, "").strip().upper().startswith("ENVI"):
        raise UnreadableData(f"{source.label} is not an ENVI header: its first line is not ENVI.")
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
                    raise UnreadableData(f"{source.label} is cut short: {key.strip()!r:.40} does not end.")
                parts.append(more)
            value = " ".join(parts).strip().strip("{}")
        fields[key.strip().lower()] = value.strip()
    return fields


class _Binary:
    def __init__(self, header: Header, source: Source, binary: Source, limits: Limits) -> None:
        from spectral.io import envi as spectral_envi  # slow to import, and few files need it

        self._binary = binary
        interleave = header.get("interleave", "bsq").strip().lower()
        if interleave not in INTERLEAVES:
            raise UnreadableData(
                f"{source.label} has interleave {interleave[:20]!r}: bsq, bil or bip is needed."
            )
        if header.get("file compression", "0") not in ("0", ""):
            raise UnreadableData(f"{binary.label} is compressed, by its header: save it uncompressed.")
        with foreign_code(
            f"{source.label} lacks lines, samples, bands or data type, or one of them makes no sense"
        ):
            spectral_envi.check_compatibility({"byte order": "0", "interleave": "bsq", **header})
            params = spectral_envi.gen_params({"byte order": "0", **header})
            self._dtype = np.dtype(params.dtype)
        self._sizes = (params.nbands, params.nrows, params.ncols)
        self._count = limits.check_shape(self._sizes, f"{binary.label}, by its header,")
        if self._dtype.kind == "c":
            raise UnreadableData(f"{binary.label} holds complex numbers: real numbers are needed.")
        self._offset = params.offset
        end = self._offset + self._count * self._dtype.itemsize
        if self._offset < 0 or end > len(binary.data):
            raise UnreadableData(
                f"{binary.label} has {len(binary.data):,} bytes, and its header {source.label} announces "
                f"{size_text(end)}: they do not belong together, or the file is cut short."
            )
        self._axes = INTERLEAVES[interleave]

    def values(self) -> Values:
        flat = np.frombuffer(self._binary.data, dtype=self._dtype, count=self._count, offset=self._offset)
        stored_shape = tuple(self._sizes[part] for part in np.argsort(self._axes))
        return flat.reshape(stored_shape).transpose(self._axes)

    def rewritten(self, header: Source, values: Values) -> list[Source]:
        body = values.transpose(np.argsort(self._axes)).astype(self._dtype, copy=False).tobytes()
        data = self._binary.data
        changed = data[: self._offset] + body + data[self._offset + len(body) :]
        return [header, Source(self._binary.name, changed)]


def _wavelengths(header: Header, bands: int, notes: list[str]) -> Wide | None:
    given = [number_or_none(word) for word in header.get("wavelength", "").split(",") if word.strip()]
    if not given:
        return None
    if len(given) != bands or None in given:
        notes.append(f"The header's wavelengths do not fit its {bands} bands and were left out.")
        return None
    wavelengths, remarks = in_nanometres(np.array(given, dtype=float), header.get("wavelength units", ""))
    notes.extend(remarks)
    return wavelengths


def _bad_bands(header: Header, source: Source, stored: StoredArray, bands: int) -> Mask | None:
    flags = [number_or_none(word) for word in header.get("bbl", "").split(",") if word.strip()]
    if len(flags) != bands:
        return stored.missing
    bad = np.array([flag == 0 for flag in flags])
    if bad.all():
        raise UnreadableData(f"{source.label} marks every band as bad.")
    if bad.any():
        stored.notes.append(f"{int(bad.sum())} of {bands} bands are marked as bad in the header.")
    shape = [1] * stored.values.ndim
    shape[stored.bands_axis or 0] = bands
    return bad.reshape(shape)


def _set_scale(header: Header, source: Source, stored: StoredArray) -> None:
    scale = number_or_none(header.get("reflectance scale factor", "")) or 1.0
    if not 0 < scale < np.inf:
        raise UnreadableData(
            f"{source.label} has a reflectance scale factor of {scale:g}: that makes no sense."
        )
    if scale != 1:
        stored.gain = 1 / scale
        stored.notes.append(f"Values were divided by the header's reflectance scale factor, {scale:g}.")


def _list(header: Header, key: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in header.get(key, "").split(",") if word.strip())
