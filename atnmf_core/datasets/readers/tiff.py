"""TIFF, single or multi-band, decoded by tifffile (pure Python) wherever that can be done."""

from __future__ import annotations

import io
import zlib
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image

from .errors import UnreadableData, foreign_code
from .limits import Limits
from .sources import Source
from .stored import StoredArray

__all__ = ["is_tiff", "read_tiff", "tiff_picture"]

NONE, LZW, ADOBE_DEFLATE, PACKBITS, DEFLATE = 1, 5, 8, 32773, 32946
DECODED_HERE = (NONE, ADOBE_DEFLATE, PACKBITS, DEFLATE)
WHITE_IS_ZERO, PALETTE = 0, 3
PLANAR = 2
GDAL_NODATA = 42113
LUMA = np.array([0.299, 0.587, 0.114])


def is_tiff(data: bytes) -> bool:
    return data[:4] in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")


def read_tiff(source: Source, limits: Limits) -> StoredArray:
    """A TIFF on its own: several bands (or pages of one size) are a cube, one band is a matrix."""
    values, nodata = _bands(source, limits)
    if values.shape[0] == 1:
        note = "One image alone is read as a matrix: its rows and columns are those of V."
        return StoredArray(values[0], source.label, kind="matrix", nodata=nodata, notes=[note])
    return StoredArray(values, source.label, bands_axis=0, nodata=nodata)


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


class _Page(NamedTuple):
    """What a page's tags say, made sure to be plain numbers: a damaged tag can be of any type."""

    rows: int
    cols: int
    samples: int
    depth: int
    bits: int
    compression: int
    photometric: int
    planar: bool
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, page: Any) -> _Page:
        return cls(
            rows=int(page.imagelength),
            cols=int(page.imagewidth),
            samples=int(page.samplesperpixel),
            depth=int(page.imagedepth),
            bits=int(page.bitspersample),
            compression=int(page.compression),
            photometric=int(page.photometric),
            planar=int(page.planarconfig) == PLANAR,
            dtype=np.dtype(page.dtype),
        )


def _bands(source: Source, limits: Limits) -> tuple[npt.NDArray[Any], tuple[float, ...]]:
    """All bands as bands x rows x cols, and the no-data value that GDAL may have left."""
    from tifffile import TiffFile  # imported where a TIFF is read, which is seldom

    with foreign_code(f"{source.label} is a damaged TIFF file"):
        file = TiffFile(io.BytesIO(source.data), name=source.label)
        # One page more than allowed is looked at, so that a chain without end is noticed.
        found: list[Any] = [page for page, _ in zip(file.pages, range(limits.members + 1), strict=False)]
        pages = [page for page in found if not (page.is_reduced or page.is_mask)]
        described = {_Page.of(page) for page in pages}
    if not pages or len(found) > limits.members:
        raise UnreadableData(f"{source.label} has no image in it, or too many.")
    if len(described) > 1:
        raise UnreadableData(
            f"{source.label} has pages of different size or type: they do not make one cube."
        )
    layout = described.pop()
    limits.check_shape((len(pages), layout.samples, layout.rows, layout.cols), source.label)
    if layout.depth != 1:
        raise UnreadableData(f"{source.label} is a volume: a flat image is needed.")
    if (
        layout.compression not in DECODED_HERE
        or layout.photometric in (WHITE_IS_ZERO, PALETTE)
        or layout.bits < 8
    ):
        return _by_pillow(source, len(pages)), ()
    with foreign_code(f"{source.label} is damaged or cut short"):
        return np.concatenate([_decoded(page, layout, source) for page in pages]), _nodata(pages[0])


def _decoded(page: Any, layout: _Page, source: Source) -> npt.NDArray[Any]:
    """One page as samples x rows x cols."""
    if layout.compression in (ADOBE_DEFLATE, DEFLATE):
        _refuse_bomb(page, layout, source)
    values: npt.NDArray[Any] = page.asarray(maxworkers=1)
    if layout.planar or layout.samples == 1:
        return values.reshape(layout.samples, layout.rows, layout.cols)
    return values.reshape(layout.rows, layout.cols, layout.samples).transpose(2, 0, 1)


def _refuse_bomb(page: Any, layout: _Page, source: Source) -> None:
    """tifffile unpacks a strip to whatever size it has: look first whether that is the size of a strip."""
    strip = max(int(page.tilelength) * int(page.tilewidth), int(page.rowsperstrip) * layout.cols)
    # A tile may reach beyond the image, but not far.
    pixels = min(strip, 4 * layout.rows * layout.cols + 65536)
    allowed = pixels * layout.samples * (layout.bits // 8) + 1024
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
