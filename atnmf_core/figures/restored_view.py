"""Pictures, all in one scale, of damaged data, the restoration, the truth, and the suspected defects."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..analysis.pictures import picture, white_level
from ..datasets import Dataset
from ..problem import Mask
from .composite import NATURAL, nearest_bands, smaller
from .cube_view import CubeView
from .images import mosaic
from .palette import RGB, Values, grey, grey_with_gaps, paint, sequential


@dataclass(frozen=True, eq=False)
class RestoredView:
    """How the pictures of one restoration are drawn.

    Attributes
    ----------
    data : the damaged data.
    scale : the data that sets black and white: the truth where it is known, else the damaged data.
    index : the band or image that is looked at, from 0; None for three bands of a cube as a colour picture.
    mark : the colour of missing entries and suspects.
    """

    data: Dataset
    scale: Dataset
    index: int | None
    mark: str
    longest: int = 512

    def picture(self, V: Values) -> RGB:
        """The picture of a matrix like V; NaN in the reserved colour."""
        if self.data.kind == "cube":
            return self._cube.picture([V[f] for f in self._cube.bands])
        values = smaller(picture(self.data, V, self.index or 0), self.longest)
        return grey_with_gaps(values, self._white, self.mark)

    def suspects(self, wrong: Mask) -> RGB:
        """For one band or image, the wrong entries on a pale picture of the data; for a whole cube, how many
        bands of each pixel are wrong, from white to dark blue.
        """
        if self.index is None:
            return sequential(self._pixels(wrong.mean(axis=0)), self.top(wrong))
        shown = self.picture(np.nan_to_num(self.data.V)).astype(np.uint16)
        pale = (255 - (255 - shown) // 4).astype(np.uint8)
        where = smaller(picture(self.data, wrong, self.index), self.longest)
        return paint(pale, where, self.mark)

    def top(self, wrong: Mask) -> float:
        """The share of a pixel's bands that `suspects` draws darkest."""
        return max(float(wrong.mean(axis=0).max(initial=0.0)), 1 / len(wrong))

    @cached_property
    def _cube(self) -> CubeView:
        bands = (
            nearest_bands(self.data.wavelengths, self.data.shape[0], NATURAL)
            if self.index is None
            else (self.index,) * 3
        )
        joint = self.index is None and self.data.wavelengths is not None
        return CubeView(self.scale, (bands[0], bands[1], bands[2]), 2.0, joint, self.mark, self.longest)

    @cached_property
    def _white(self) -> float:
        return white_level(picture(self.scale, self.scale.V, self.index or 0))

    def _pixels(self, values: Values) -> Values:
        return smaller(self.data.image(values), self.longest)


def defect_sheet(data: Dataset, wrong: Mask) -> RGB:
    """All defects in one picture, white where an entry is wrong. For a cube, the share of wrong bands per
    pixel; for images, all of them side by side.
    """
    if data.kind == "cube":
        share = data.image(wrong.mean(axis=0))
        return grey(share, max(float(share.max()), 1e-9))
    if data.kind == "faces":
        tiles = [grey(image, 1.0) for image in data.images(wrong)]
        return mosaic(tiles, columns=max(1, round(len(tiles) ** 0.5)), ground=96)
    return grey(wrong, 1.0)
