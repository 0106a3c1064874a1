"""Spectral libraries: named reference spectra from ENVI .sli files or from tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import UnreadableData
from .formats import open_files
from .layout import layout_of
from .limits import Limits
from .options import ReadingOptions
from .sources import gather


@dataclass(frozen=True, eq=False)
class SpectralLibrary:
    """Reference spectra.

    Attributes
    ----------
    wavelengths : L, in nanometres.
    spectra : L x S, one spectrum per column; NaN where not known.
    names : S names.
    """

    wavelengths: npt.NDArray[np.float64]
    spectra: npt.NDArray[np.float64]
    names: tuple[str, ...]

    def at(self, wavelengths: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """The spectra at other wavelengths, by linear interpolation; NaN outside their range."""
        order = np.argsort(self.wavelengths)
        wanted = np.asarray(wavelengths, dtype=np.float64)
        return np.stack(
            [
                np.interp(wanted, self.wavelengths[order], column[order], left=np.nan, right=np.nan)
                for column in self.spectra.T
            ],
            axis=1,
        )


def read_library(files: Any, limits: Limits | None = None) -> SpectralLibrary:
    """Reference spectra from an ENVI spectral library (.sli and .hdr) or from a table with wavelengths in its
    first line or first column.

    Raises
    ------
    UnreadableData : no such file, or one without wavelengths.
    """
    bounds = limits or Limits.from_environment()
    opened = open_files(gather(files, bounds), ReadingOptions(), bounds)
    stored = opened.stored
    if stored.wavelengths is None or stored.values.ndim != 2:
        raise UnreadableData(
            f"{stored.label} is not a spectral library: wavelengths are needed in the first line or the "
            "first column of a table, or in the header of an .sli file."
        )
    layout = layout_of(stored, ReadingOptions(), bounds)
    spectra = np.array(layout.to_V(stored.values, np.float64))
    for number in stored.nodata:
        spectra[spectra == number] = np.nan
    if len(spectra) != stored.wavelengths.size:
        raise UnreadableData(f"{stored.label} does not have one wavelength for each of its bands.")
    names = stored.spectrum_names
    if len(names) != spectra.shape[1]:
        names = tuple(f"spectrum {i + 1}" for i in range(spectra.shape[1]))
    return SpectralLibrary(stored.wavelengths, spectra * stored.gain + stored.offset, names)
