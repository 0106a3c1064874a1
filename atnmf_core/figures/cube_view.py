"""A cube looked at through one band or three: original, masked, restored and error, all in one stretch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..analysis.recovery import Reach, restored_band
from ..datasets import Dataset
from ..metrics import rmse
from .composite import Limits, composite, smaller, stretch_limits
from .palette import nice_limit, paint, sequential

__all__ = ["CubeView", "band_axis", "error_top", "points", "spectra_top"]

RGB = npt.NDArray[np.uint8]
Values = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
Factors = tuple[Values, Values]


@dataclass(frozen=True, eq=False)
class CubeView:
    """What the pictures of a cube are drawn from.

    Attributes
    ----------
    observed : F x N, what the learner saw.
    reach : what of that allows a prediction at all.
    bands : rows of V shown as red, green and blue; one row three times for a grey picture.
    clip, joint : the stretch, see `stretch_limits`; its limits come from the original alone.
    unknown : the colour that stands for what nobody knows: hidden in the masked picture, without any
        observation in the restored ones.
    keep_observed : whether restorations keep the observed entries, or show the model W H alone.
    most : pictures longer than this are made smaller.
    """

    data: Dataset
    observed: Mask
    reach: Reach
    bands: tuple[int, int, int]
    clip: float = 2.0
    joint: bool = False
    unknown: str = "#E5383B"
    keep_observed: bool = True
    most: int = 512

    @cached_property
    def limits(self) -> Limits:
        if self.is_single:
            # A band three times over has the same values, but not the same percentiles between them.
            low, high = stretch_limits([self.data.V[self.bands[0]]], self.clip)
            return Limits(low * 3, high * 3)
        return stretch_limits([self.data.V[f] for f in self.bands], self.clip, joint=self.joint)

    @property
    def is_single(self) -> bool:
        return len(set(self.bands)) == 1

    def original(self) -> RGB:
        return self._picture([self.data.V[f] for f in self.bands])

    def masked(self) -> RGB:
        return self._picture([np.where(self.observed[f], self.data.V[f], np.nan) for f in self.bands])

    def restored(self, W: Values, H: Values) -> RGB:
        return self._picture([self._restored(W, H, f) for f in self.bands])

    def band_error(self, W: Values, H: Values) -> Values:
        """|V - restored| of the first of the bands, as N pixels; NaN where nothing can be compared."""
        f = self.bands[0]
        return np.asarray(np.abs(self.data.V[f] - self._restored(W, H, f)))

    def band_rmse(self, W: Values, H: Values) -> float:
        """RMSE over the hidden pixels of the first of the bands that have a prediction."""
        f = self.bands[0]
        predicted = restored_band(self.data.V, self.observed, self.reach, W, H, f, keep_observed=False)
        return rmse(self.data.V[f], predicted, ~self.observed[f] & ~np.isnan(predicted))

    def error_picture(self, error: Values, top: float) -> RGB:
        """Errors of N pixels from white (0) to dark blue (`top`), the unknown colour where nothing was
        observed to restore from.
        """
        picture = sequential(self._image(np.nan_to_num(error)), top)
        return paint(picture, self._image(~self.reach.pixels), self.unknown)

    def _restored(self, W: Values, H: Values, f: int) -> Values:
        return restored_band(
            self.data.V, self.observed, self.reach, W, H, f, keep_observed=self.keep_observed
        )

    def _picture(self, channels: Sequence[Values]) -> RGB:
        return composite([self._image(channel) for channel in channels], self.limits, self.unknown)

    def _image(self, pixels: Values) -> Values:
        return smaller(self.data.image(pixels), self.most)


def error_top(errors: Sequence[Values]) -> float:
    """The top of a scale for several error images: a few wild pixels do not make all others pale."""
    known = np.concatenate([error[~np.isnan(error)] for error in errors])
    return nice_limit(float(np.percentile(known, 99.5)) if known.size else 0.0)


def band_axis(data: Dataset) -> dict[str, Any]:
    """Where the bands stand on the axis of a spectrum, `x`, and in which `unit`."""
    if data.wavelengths is not None:
        return {"x": data.wavelengths.tolist(), "unit": "nm"}
    return {"x": list(range(1, data.shape[0] + 1)), "unit": "band"}


def points(spectrum: Values) -> list[float | None]:
    """The numbers of a spectrum, None for what is not known."""
    return [None if np.isnan(value) else float(value) for value in spectrum]


def spectra_top(spectra: Sequence[Values]) -> float:
    """The top of an axis for several spectra."""
    known = np.concatenate(spectra)
    return nice_limit(float(np.nanmax(known)) if np.isfinite(known).any() else 0.0)
