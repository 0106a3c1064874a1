"""A small picture of a data set, which shows whether its file was read with the right layout."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..analysis import pictures
from ..datasets import Dataset
from .composite import NATURAL, nearest_bands, smaller
from .cube_view import CubeView
from .images import mosaic
from .palette import HIDDEN, grey, paint

__all__ = ["thumbnail"]

RGB = npt.NDArray[np.uint8]
FACES, FACES_PER_ROW = 8, 4


def thumbnail(data: Dataset, longest: int = 256, unknown: str = HIDDEN["red"]) -> RGB:
    """A cube in natural colours or three spread bands, the first few faces, or a matrix as it stands; missing
    entries in the colour `unknown`.
    """
    if data.kind == "cube":
        seen = np.flatnonzero(data.observed.any(axis=1))
        wavelengths = None if data.wavelengths is None else data.wavelengths[seen]
        red, green, blue = seen[list(nearest_bands(wavelengths, seen.size, NATURAL))]
        joint = wavelengths is not None
        return CubeView(data, (red, green, blue), joint=joint, unknown=unknown, longest=longest).original()
    count = min(pictures.count(data), FACES)
    shown = [
        smaller(pictures.picture(data, data.V, i), longest // min(count, FACES_PER_ROW)) for i in range(count)
    ]
    tiles = [paint(grey(v, pictures.white_level(v)), np.isnan(v), unknown) for v in shown]
    return mosaic(tiles, min(count, FACES_PER_ROW))
