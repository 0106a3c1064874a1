"""Arrays of colours as pictures: enlarged without smoothing, tiled, written to files and addresses."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence

import numpy as np
from PIL import Image

from .palette import RGB

WEBP_SIDE = 16_383
"""No WebP is longer or wider."""


def enlarge(picture: RGB, side: int) -> Image.Image:
    """The picture with every pixel repeated a whole number of times, its longer side at least `side`."""
    image = Image.fromarray(picture)
    times = max(1, -(-side // max(image.size)))
    return image.resize((image.width * times, image.height * times), Image.Resampling.NEAREST)


def mosaic(tiles: Sequence[RGB], columns: int, gap: int = 1, ground: int = 255) -> RGB:
    """Tiles of one shape in rows of `columns`, on a grey ground."""
    rows, cols = tiles[0].shape[:2]
    lines = -(-len(tiles) // columns)
    sheet = np.full((lines * (rows + gap) - gap, columns * (cols + gap) - gap, 3), ground, np.uint8)
    for number, tile in enumerate(tiles):
        top, left = (number // columns) * (rows + gap), (number % columns) * (cols + gap)
        sheet[top : top + rows, left : left + cols] = tile
    return sheet


def png(picture: RGB | Image.Image, compression: int = 6) -> bytes:
    """The bytes of a PNG file; compression from 0 to 9 trades time for size."""
    image = picture if isinstance(picture, Image.Image) else Image.fromarray(picture)
    file = io.BytesIO()
    image.save(file, format="PNG", compress_level=compression)
    return file.getvalue()


def data_url(picture: RGB) -> str:
    """The picture as a data URL for an <img>, which needs no further request.

    Lossless WebP takes as long as a PNG to write, and down to half of its bytes.
    """
    image, file = Image.fromarray(picture), io.BytesIO()
    if max(image.size) <= WEBP_SIDE:
        image.save(file, format="WEBP", lossless=True, quality=20, method=1)
        return _url("image/webp", file.getvalue())
    return _url("image/png", png(image, compression=1))


def _url(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"
