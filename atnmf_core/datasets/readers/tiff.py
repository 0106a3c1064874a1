"""TIFF, single or multi-band, decoded by tifffile (pure Python) wherever that can be done."""

from __future__ import annotations

import io
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image
from tifffile import TiffFile

from .errors import UnreadableData, foreign_code
from .limits import Limits
from .raw import RawData
from .sources import Source

__all__ = ["is_tiff", "read_tiff", "tiff_picture"]

NONE, LZW, ADOBE_DEFLATE, PACKBITS, DEFLATE = 1, 5, 8, 32773, 32946
DECODED_HERE = (NONE, ADOBE_DEFLATE, PACKBITS, DEFLATE)
WHITE_IS_ZERO, PALETTE = 0, 3
GDAL_NODATA = 42113
LUMA = np.array([0.299, 0.587, 0.114])


def is_tiff(data: bytes) -> bool:
    return data[:4] in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")


def read_tiff(source: Source, limits: Limits) -> RawData:
    """A TIFF on its own: several bands (or pages of one size) are a cube, one band is a matrix."""
    values, nodata = _bands(source, limits)
    if values.shape[0] == 1:
        note = "One image alone is read as a matrix: its rows and columns are those of V."
        return RawData(values[0], source.label, kind="matrix", nodata=nodata, notes=[note])
    return RawData(values, source.label, bands_axis=0, nodata=nodata)


def tiff_picture(source: Source, limits: Limits) -> tuple[npt.NDArray[Any], bool]:
    """A TIFF as one of several images: its only band, or the grey of its three colours."""
    values, _ = _bands(source, limits)
    if values.shape[0] in (3, 4):
        grey = np.tensordot(LUMA, values[:3].astype(np.float64), axes=1)
        whole = values.dtype.kind in "iu"
        return (np.rint(grey).astype(values.dtype) if whole else grey), True
    if values.shape[0] != 1:
        raise UnreadableData(f"{source.label} has {values.shape[0]} bands: read it alone, as a cube.")
    return values[0], False


def _bands(source: Source, limits: Limits) -> tuple[npt.NDArray[Any], tuple[float, ...]]:
    """All bands as bands x rows x cols, and the no-data value that GDAL may have left."""
    with foreign_code(f"{source.label} is not a readable TIFF file"):
        file = TiffFile(io.BytesIO(source.data), name=source.label)
    with file:
        with foreign_code(f"{source.label} is a damaged TIFF file"):
            # One page more than allowed is looked at, so that a chain without end is noticed.
            pages: list[Any] = [page for page, _ in zip(file.pages, range(limits.members + 1), strict=False)]
            pages = [page for page in pages if not (page.is_reduced or page.is_mask)]
            shapes = {
                (page.imagelength, page.imagewidth, page.samplesperpixel, page.imagedepth) for page in pages
            }
            types = {page.dtype for page in pages}
        if not pages or len(pages) > limits.members:
            raise UnreadableData(f"{source.label} has no image in it, or too many.")
        if len(shapes) > 1 or len(types) > 1:
            raise UnreadableData(
                f"{source.label} has pages of different size or type: they do not make one cube."
            )
        rows, cols, samples, depth = shapes.pop()
        limits.check_shape((len(pages), rows, cols, samples, depth), source.label)
        if depth != 1:
            raise UnreadableData(f"{source.label} is a volume: a flat image is needed.")
        first = pages[0]
        if (
            first.compression not in DECODED_HERE
            or first.photometric in (WHITE_IS_ZERO, PALETTE)
            or first.bitspersample < 8
        ):
            return _by_pillow(source, len(pages)), ()
        decoded = [_page(page, source) for page in pages]
        with foreign_code(f"{source.label} is a damaged TIFF file"):
            return np.concatenate(decoded).reshape(-1, rows, cols), _nodata(first)


def _page(page: Any, source: Source) -> npt.NDArray[Any]:
    """One page as samples x rows x cols."""
    rows, cols, samples = page.imagelength, page.imagewidth, page.samplesperpixel
    with foreign_code(f"{source.label} is damaged or cut short"):
        _refuse_bomb(page, source)
        values: npt.NDArray[Any] = page.asarray(maxworkers=1)
        if page.planarconfig == 1 and samples > 1:
            return values.reshape(rows, cols, samples).transpose(2, 0, 1)
        return values.reshape(samples, rows, cols)


def _refuse_bomb(page: Any, source: Source) -> None:
    """tifffile unpacks a strip to whatever size it has: look first whether that is the size of a strip."""
    if page.compression not in (ADOBE_DEFLATE, DEFLATE):
        return
    tile = max(int(page.tilelength) * int(page.tilewidth), int(page.rowsperstrip) * int(page.imagewidth))
    largest = min(tile, 4 * int(page.imagelength) * int(page.imagewidth) + 65536)
    allowed = largest * int(page.samplesperpixel) * max(int(page.bitspersample) // 8, 1) + 1024
    for offset, size in zip(page.dataoffsets, page.databytecounts, strict=True):
        stream = zlib.decompressobj()
        stream.decompress(source.data[offset : offset + size], allowed)
        if stream.unconsumed_tail:
            raise UnreadableData(f"{source.label} has a strip that grows beyond its size: it is damaged.")


def _by_pillow(source: Source, pages: int) -> npt.NDArray[Any]:
    """TIFF variants that tifffile cannot decode on its own; Pillow knows them for ordinary pictures."""
    with foreign_code(
        f"{source.label} is compressed or coloured in a way that cannot be read: "
        "save it without compression, one number per band"
    ):
        picture = Image.open(io.BytesIO(source.data), formats=("TIFF",))
        if pages > 1:
            raise ValueError("several pages")
        values = np.asarray(
            picture.convert("L") if picture.mode in ("P", "1", "CMYK", "YCbCr", "LAB") else picture
        )
    return values[None] if values.ndim == 2 else values.transpose(2, 0, 1)


def _nodata(page: Any) -> tuple[float, ...]:
    tag = page.tags.get(GDAL_NODATA)
    try:
        return () if tag is None else (float(str(tag.value).strip("\0 ")),)
    except ValueError:
        return ()
