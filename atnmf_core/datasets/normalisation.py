"""Normalisations of V, by the names that data sets record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..problem import Array, InputError
from .dataset import Dataset


def none(V: Array) -> Array:
    """V as it is."""
    return V


def maximum(V: Array) -> Array:
    """V divided by its largest entry; V itself if nothing is above 0."""
    top = np.nanmax(V)
    return V / top if top > 0 else V


def lee_seung(V: Array) -> Array:
    """Each column (image) to mean 0.25 and standard deviation 0.25, then clipped to [0, 1].

    The standard deviation is the sample's (ddof=1): with it a replay of the authors' run on CBCL gives their
    squared error. A constant image becomes 0.25 everywhere. Missing entries are not counted and stay missing.
    """
    # Scaling by a power of two changes nothing in the result, and squares of values near 1 cannot overflow.
    _, exponent = np.frexp(np.nanmax(np.abs(V)))
    V = np.ldexp(V, -exponent)
    count = np.sum(~np.isnan(V), axis=0)
    mean = np.nansum(V, axis=0) / np.maximum(count, 1)
    centred = V - mean
    spread = np.sqrt(np.nansum(centred**2, axis=0) / np.maximum(count - 1, 1))
    # Centring leaves rounding noise in a constant image; dividing by its deviation would amplify that.
    flat = spread <= 64 * np.finfo(V.dtype).eps * np.abs(mean)
    scale = np.where(flat, 0, 0.25 / np.where(flat, 1, spread))
    scaled: Array = np.clip(centred * scale + 0.25, 0, 1).astype(V.dtype, copy=False)
    return scaled


NORMALISATIONS: dict[str, Callable[[Array], Array]] = {
    "none": none,
    "maximum": maximum,
    "lee-seung": lee_seung,
}


def normalise(data: Dataset, how: str) -> Dataset:
    """The data set with its values normalised, and the normalisation recorded."""
    if how not in NORMALISATIONS:
        raise InputError(f"normalisation={how!r}: choose one of {', '.join(map(repr, NORMALISATIONS))}.")
    if how == "none":
        return data
    return replace(data, V=NORMALISATIONS[how](data.V), normalisation=how)
