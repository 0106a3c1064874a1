"""What a format's reader returns: an array, and everything that the file says about its meaning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ...problem import Order
from ..dataset import Georeference, Kind
from .errors import ArrayInFile
from .sources import Source


@dataclass
class StoredArray:
    """An array with two or three axes, with the numbers as stored in the file.

    Attributes
    ----------
    values : any real dtype; NaN is missing.
    label : what to call it in messages.
    kind, bands_axis, image_shape, wavelengths : what the file says; None if it says nothing.
    order : the order in which this format stores the pixels of an image along one axis.
    nodata : numbers that the file declares as missing.
    valid_range : numbers outside it are missing.
    missing : True where the file marks an entry as bad in another way; broadcasts to the shape of `values`.
    gain, offset : the file's numbers stand for gain * number + offset.
    spectrum_names : what the columns of V are called, in a spectral library.
    truth : arrays in the same file that look like its true abundances and spectra.
    arrays : everything that the user could choose instead.
    rewrite : makes the files with other numbers of the same shape and type in place of this array.
    """

    values: npt.NDArray[Any]
    label: str
    kind: Kind | None = None
    bands_axis: int | None = None
    image_shape: tuple[int, int] | None = None
    order: Order = "C"
    wavelengths: npt.NDArray[np.float64] | None = None
    nodata: tuple[float, ...] = ()
    valid_range: tuple[float, float] | None = None
    missing: npt.NDArray[np.bool_] | None = None
    gain: float = 1.0
    offset: float = 0.0
    band_names: tuple[str, ...] = ()
    spectrum_names: tuple[str, ...] = ()
    georeference: Georeference | None = None
    truth: tuple[npt.NDArray[Any], ...] = ()
    notes: list[str] = field(default_factory=list)
    arrays: tuple[ArrayInFile, ...] = ()
    rewrite: Callable[[npt.NDArray[Any]], list[Source]] | None = None


@dataclass(frozen=True)
class NamedArray:
    """An array in a file, described by its header and not read yet."""

    name: str
    shape: tuple[int, ...]
    load: Callable[[], npt.NDArray[Any]]
    sparse: bool = False

    @property
    def info(self) -> ArrayInFile:
        return ArrayInFile(self.name, self.shape)

    @property
    def long_axes(self) -> int:
        """How many axes are longer than 1."""
        return sum(size > 1 for size in self.shape)

    def vector(self) -> npt.NDArray[np.float64]:
        """A small array as one row of numbers."""
        with np.errstate(all="ignore"):
            return self.load().astype(np.float64).reshape(-1)
