"""Bands of a cube as pictures: which three to show as red, green and blue, and how values become colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..problem import InputError
from .palette import RGB, Values, channels_of

NATURAL = (640.0, 550.0, 460.0)
"""What the eye sees as red, green and blue, in nanometres."""
INFRARED = (860.0, 650.0, 550.0)
"""Near infrared shown as red: vegetation, which reflects it, stands out."""
WITHOUT_WAVELENGTHS = (0.3, 0.18, 0.06)
"""The bands of a triplet in a cube without wavelengths, as shares of its bands: in an imaging spectrometer
the visible and near infrared come first.
"""


class Triplet(NamedTuple):
    """Rows of V, from 0, that are shown as red, green and blue."""

    red: int
    green: int
    blue: int


class BrightnessRange(NamedTuple):
    """Values shown as black and as full brightness, per channel."""

    low: tuple[float, ...]
    high: tuple[float, ...]


def nearest_bands(wavelengths: Values | None, bands: int, targets: tuple[float, float, float]) -> Triplet:
    """The bands closest to three wavelengths, or spread over the cube if it has none.

    Examples
    --------
    >>> nearest_bands(np.array([450.0, 500.0, 550.0, 600.0, 650.0]), 5, NATURAL)
    Triplet(red=4, green=2, blue=0)
    """
    if wavelengths is None:
        return Triplet(*(min(bands - 1, round(share * (bands - 1))) for share in WITHOUT_WAVELENGTHS))
    return Triplet(*(int(np.argmin(np.abs(wavelengths - nm))) for nm in targets))


def stretch_limits(channels: Sequence[Values], clip: float = 2.0, *, joint: bool = False) -> BrightnessRange:
    """The range with `clip` percent of each channel's known values below and as many above; with `joint`, one
    pair for all channels, which preserves the colour balance.
    """
    if not 0 <= clip < 50:
        raise InputError(f"clip={clip!r}: a percentage from 0 to below 50 is needed.")
    known = [np.asarray(channel)[~np.isnan(channel)] for channel in channels]
    if joint:
        known = [np.concatenate(known)] * len(known)
    pairs = [
        np.percentile(values, (clip, 100 - clip)) if values.size else np.array([0.0, 1.0]) for values in known
    ]
    return BrightnessRange(tuple(float(low) for low, _ in pairs), tuple(float(high) for _, high in pairs))


def composite(channels: Sequence[Values], limits: BrightnessRange, unknown: str) -> RGB:
    """Three images (rows x cols) as one picture. A channel that is NaN at a pixel takes its value from the
    reserved colour, so a pixel without any known channel has exactly that colour.
    """
    picture = np.empty((*np.shape(channels[0]), 3), np.uint8)
    for c, (image, low, high) in enumerate(zip(channels, *limits, strict=True)):
        values = np.asarray(image, dtype=np.float64)
        share = np.clip((values - low) / (high - low if high > low else 1.0), 0, 1)
        reserved = channels_of(unknown)[c]
        picture[..., c] = np.where(np.isnan(share), reserved, np.rint(255 * np.nan_to_num(share)))
    return picture


def smaller(image: Values, most: int) -> Values:
    """Every second, third ... row and column of an image longer than `most`, for display."""
    step = -(-max(image.shape[:2]) // most)
    return image[::step, ::step]
