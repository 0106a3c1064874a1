"""Photographs: a set of image files of one size, each a column of V."""

import io
import re
from collections import Counter
from functools import partial
from typing import Any

import numpy as np

from ...model.problem import Mask, Values, Wide
from ..dataset import Georeference
from .decoder import decoder_for, replace_array
from .sources import Limits, Source, UnreadableData, foreign_code
from .values import StoredArray, in_nanometres

LOSSY = ("jpeg", "webp")
ONE_IMAGE = "One image alone is read as a matrix: its rows and columns are those of V."
LUMA = np.array([0.299, 0.587, 0.114])
WAVELENGTH = (
    "wavelength", "central_wavelength_um", "center_wavelength", "centre_wavelength", "wavelength_nm",
)  # fmt: skip
UNIT = ("wavelength_units", "wavelength_unit", "wavelength units")
# As in "band 7 (450.2 Nanometers)".
IN_A_NAME = re.compile(r"(\d+(?:\.\d+)?)\s*(nm|nanomet(?:er|re)s?|um|µm|micromet(?:er|re)s?)\b", re.I)


def is_tiff(data: bytes) -> bool:
    return data[:4] in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")


def read_tiff(source: Source, limits: Limits) -> StoredArray:
    """A single TIFF: bands, or pages of one size, are a cube; one band is a matrix. GDAL reads the tags."""
    with decoder_for("raster", source, limits) as decoder:
        about = decoder.description
        shape = tuple(int(size) for size in about["shape"])
        values = decoder.read("bands", shape)
        mask = decoder.read("mask", shape[1:]) == 0 if about["has_mask"] else None
    bands = shape[0]
    notes: list[str] = []
    if about["compression"] in LOSSY:
        notes.append(
            f"{about['compression'].upper()} compression is lossy: in a file written back, values that are "
            "not replaced change a little too."
        )
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


def grey_tiff(source: Source, limits: Limits) -> tuple[Values, bool]:
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


def _wavelengths(about: dict[str, Any], bands: int, notes: list[str]) -> Wide | None:
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


def _converted(values: list[float | None], unit: str, notes: list[str]) -> Wide | None:
    wavelengths, remarks = in_nanometres(np.array(values, dtype=np.float64), unit)
    notes.extend(remarks)
    return wavelengths


def _missing(about: dict[str, Any], bands: int, mask: Mask | None, notes: list[str]) -> Mask | None:
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


IMAGE_SUFFIXES = {".pgm", ".ppm", ".pnm", ".pbm", ".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff"}
FORMATS = ("PPM", "PNG", "JPEG", "BMP", "TIFF")
_BEGINNINGS = (b"P1", b"P2", b"P3", b"P4", b"P5", b"P6", b"Pf", b"\x89PNG", b"\xff\xd8\xff", b"BM")
GREY_MODES = {"1", "L", "I", "F", "I;16", "I;16B", "I;16L", "I;16N"}


def is_image(data: bytes) -> bool:
    return data.startswith(_BEGINNINGS) or is_tiff(data)


def read_images(sources: list[Source], limits: Limits) -> StoredArray:
    """Images in natural order of their names (img2 before img10), with grey levels divided by the largest
    possible one. Only images of the most common size are read.

    A single image is read as a matrix: its rows and columns are those of V.
    """
    ordered = sorted(sources, key=lambda source: _natural(source.name))
    notes: list[str] = []
    ordered, stack = _stacked(ordered, limits, notes)
    rewrite = partial(_rewritten, ordered, stack)
    if len(sources) == 1:
        notes.append(ONE_IMAGE)
        single = StoredArray(stack[0], ordered[0].label, kind="matrix", notes=notes)
        single.rewrite = lambda values: rewrite(values[None])
        return single
    label = f"the {len(ordered)} images"
    return StoredArray(stack, label, kind="faces", bands_axis=0, notes=notes, rewrite=rewrite)


def _stacked(sources: list[Source], limits: Limits, notes: list[str]) -> tuple[list[Source], Values]:
    pictures = []
    coloured = entries = 0
    for source in sources:
        grey, was_coloured = _grey(source, limits)
        coloured += was_coloured
        entries += grey.size
        limits.check_shape((entries,), f"The set of {len(sources)} images")
        pictures.append(grey.astype(np.float32) if entries > limits.float32_above else grey)
    sizes = Counter(picture.shape for picture in pictures)
    shape, count = sizes.most_common(1)[0]
    if len(sizes) > 1 and count <= len(pictures) / 2:
        odd = next(i for i, picture in enumerate(pictures) if picture.shape != pictures[0].shape)
        raise UnreadableData(
            f"{sources[odd].label} has {_pixels(pictures[odd].shape)} pixels and {sources[0].label} has "
            f"{_pixels(pictures[0].shape)}: all images must have one size."
        )
    fitting = [i for i, picture in enumerate(pictures) if picture.shape == shape]
    stray = [sources[i].label for i, picture in enumerate(pictures) if picture.shape != shape]
    if stray:
        more = f" and {len(stray) - 5} more" if len(stray) > 5 else ""
        notes.append(f"Left out, because not of {_pixels(shape)} pixels: {', '.join(stray[:5])}{more}.")
    if coloured:
        notes.append(f"{coloured} of {len(sources)} images were in colour and were turned to grey.")
    return [sources[i] for i in fitting], np.stack([pictures[i] for i in fitting])


def _pixels(shape: tuple[int, ...]) -> str:
    return f"{shape[0]} x {shape[1]}"


def _grey(source: Source, limits: Limits) -> tuple[Values, bool]:
    values, coloured = _opened(source, limits)
    if values.dtype.kind in "iu":
        return values / np.iinfo(values.dtype).max, coloured
    return values.astype(np.float64, copy=False), coloured


def _opened(source: Source, limits: Limits) -> tuple[Values, bool]:
    """Decode with Pillow, after checking the size in the header."""
    if is_tiff(source.data) and not _known_to_pillow(source):
        return grey_tiff(source, limits)
    from PIL import Image, ImageOps

    with foreign_code(f"{source.label} is not a readable image"):
        try:
            picture = Image.open(io.BytesIO(source.data), formats=FORMATS)
        except Image.DecompressionBombError as error:
            raise UnreadableData(
                f"{source.label} has too many pixels: this looks like a decompression bomb."
            ) from error
        width, height = picture.size
    limits.check_shape((height, width), source.label)
    coloured = picture.mode not in GREY_MODES
    with foreign_code(f"{source.label} is damaged or cut short"), picture:
        upright = ImageOps.exif_transpose(picture)
        values = np.asarray(upright.convert("L") if coloured else upright)
    if values.dtype.kind == "b":
        values = values.astype(np.uint8) * 255
    if values.dtype == np.int32:
        # Pillow stores 16-bit greys of some formats in 32-bit numbers.
        values = values.astype(np.uint16 if values.min() >= 0 and values.max() <= 0xFFFF else float)
    return values, coloured


def _known_to_pillow(source: Source) -> bool:
    """Whether Pillow can decode a TIFF: pictures yes; 16-bit colours and odd numbers of bands no."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(source.data), formats=("TIFF",)) as picture:
            return getattr(picture, "n_frames", 1) == 1
    except Exception:  # noqa: BLE001 - Pillow raises errors of every type, and GDAL is asked next
        return False


def _rewritten(sources: list[Source], present: Values, values: Values) -> list[Source]:
    """The images with other values; unchanged ones stay the same, byte for byte."""
    return [
        source if np.array_equal(old, new) else Source(source.name, _encoded(source, new))
        for source, old, new in zip(sources, present, values, strict=True)
    ]


def _encoded(source: Source, grey: Values) -> bytes:
    if np.isnan(grey).any():
        raise UnreadableData(f"{source.label}: an image has no way of saying that a pixel is missing.")
    from PIL import Image

    with Image.open(io.BytesIO(source.data), formats=FORMATS) as old:
        form, mode = old.format, old.mode
    stream = io.BytesIO()
    if mode == "F":
        picture = Image.fromarray(grey.astype(np.float32))
    else:
        deep = mode.startswith("I")
        top, dtype = (0xFFFF, np.uint16) if deep else (0xFF, np.uint8)
        picture = Image.fromarray(np.rint(np.clip(grey, 0, 1) * top).astype(dtype))
    picture.save(stream, form, **({"quality": 95} if form == "JPEG" else {}))
    return stream.getvalue()


def _natural(name: str) -> list[tuple[int, int | str]]:
    parts = re.split(r"([0-9]{1,18})", name)
    return [(0, int(part)) if i % 2 else (1, part) for i, part in enumerate(parts)]
