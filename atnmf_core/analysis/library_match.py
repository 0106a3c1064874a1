"""Which spectra of a library a material looks like."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..datasets import SpectralLibrary
from .unmixing import spectral_angles

LEAST_SHARE = 0.5
"""A library spectrum must be known in this share of a material's bands: a few bands can agree by chance."""


class Match(NamedTuple):
    """A spectrum of a library, and its angle to a material's in degrees."""

    name: str
    angle: float


def nearest_spectra(
    spectra: npt.ArrayLike, wavelengths: npt.ArrayLike, library: SpectralLibrary, count: int = 3
) -> tuple[tuple[Match, ...], ...]:
    """For each material (column of `spectra`, NaN where unknown) the library's spectra at the smallest
    angles, nearest first, over the bands in which both are known. Empty where too few are.

    Parameters
    ----------
    spectra : F x K.
    wavelengths : F, in nanometres.
    library : its spectra are interpolated to these wavelengths.
    count : how many to name at most.
    """
    found, other = np.asarray(spectra, dtype=np.float64), library.at(wavelengths)
    known, there = ~np.isnan(found), ~np.isnan(other)
    shared = known.T.astype(np.intp) @ there.astype(np.intp)
    angles = spectral_angles(found, other)
    angles[shared < np.maximum(1, LEAST_SHARE * known.sum(axis=0)[:, None])] = np.nan
    return tuple(
        tuple(Match(library.names[i], float(row[i])) for i in np.argsort(row)[:count] if not np.isnan(row[i]))
        for row in angles
    )
