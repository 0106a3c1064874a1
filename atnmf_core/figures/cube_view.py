"""Pictures of a cube in one band or three, all in one stretch, and the axes of its spectra."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..datasets import Dataset
from ..problem import Mask
from .composite import BrightnessRange, composite, smaller, stretch_limits
from .palette import RGB, Values, nice_limit, paint, sequential


@dataclass(frozen=True, eq=False)
class CubeView:
    """How pictures of a cube are drawn.

    Attributes
    ----------
    bands : rows of V shown as red, green and blue; one row three times for a grey picture.
    clip, joint : the stretch, see `stretch_limits`; its limits come from the original alone.
    unknown : the colour of pixels without a value: hidden ones in the masked picture, those without any
        observation in the restored ones.
    longest : pictures with a longer side are shrunk.
    """

    data: Dataset
    bands: tuple[int, int, int]
    clip: float = 2.0
    joint: bool = False
    unknown: str = "#E5383B"
    longest: int = 512

    @cached_property
    def limits(self) -> BrightnessRange:
        if self.is_single:
            # A band repeated three times has the same values, but not the same interpolated percentiles.
            low, high = stretch_limits([self.data.V[self.bands[0]]], self.clip)
            return BrightnessRange(low * 3, high * 3)
        return stretch_limits([self.data.V[f] for f in self.bands], self.clip, joint=self.joint)

    @property
    def is_single(self) -> bool:
        return len(set(self.bands)) == 1

    def original(self) -> RGB:
        return self.picture([self.data.V[f] for f in self.bands])

    def masked(self, observed: Mask) -> RGB:
        """The original with unobserved entries (F x N) in the unknown colour."""
        return self.picture([np.where(observed[f], self.data.V[f], np.nan) for f in self.bands])

    def picture(self, channels: Sequence[Values]) -> RGB:
        """Three vectors of N pixels, one for each of the view's bands; NaN in the unknown colour."""
        return composite([self._image(channel) for channel in channels], self.limits, self.unknown)

    def error_picture(self, error: Values, top: float, lost: Mask) -> RGB:
        """Errors of N pixels from white (0) to dark blue (`top`); lost pixels, which have no observation, in
        the unknown colour.
        """
        return paint(sequential(self._image(np.nan_to_num(error)), top), self._image(lost), self.unknown)

    def _image(self, pixels: Values) -> Values:
        return smaller(self.data.image(pixels), self.longest)


def error_top(errors: Sequence[Values]) -> float:
    """The top of a common scale for error images, chosen so that a few outliers do not make all other pixels
    pale.
    """
    known = np.concatenate([error[~np.isnan(error)] for error in errors])
    return nice_limit(float(np.percentile(known, 99.5)) if known.size else 0.0)


def band_axis(data: Dataset) -> dict[str, Any]:
    """The bands' positions `x` on the axis of a spectrum, and their `unit`."""
    if data.wavelengths is not None:
        return {"x": data.wavelengths.tolist(), "unit": "nm"}
    return {"x": list(range(1, data.shape[0] + 1)), "unit": "band"}


def points(spectrum: Values) -> list[float | None]:
    """The values of a spectrum, None where unknown."""
    return [None if np.isnan(value) else float(value) for value in spectrum]


def spectra_top(spectra: Sequence[Values]) -> float:
    """The top of an axis for several spectra."""
    known = np.concatenate(spectra)
    return nice_limit(float(np.nanmax(known)) if np.isfinite(known).any() else 0.0)
