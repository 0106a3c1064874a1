"""Wavelengths in any unit, converted to nanometres."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_NANOMETRES = {
    "nm": 1.0,
    "nanometer": 1.0,
    "nanometre": 1.0,
    "um": 1e3,
    "µm": 1e3,
    "μm": 1e3,
    "micron": 1e3,
    "micrometer": 1e3,
    "micrometre": 1e3,
    "mm": 1e6,
    "millimeter": 1e6,
    "millimetre": 1e6,
    "m": 1e9,
    "meter": 1e9,
    "metre": 1e9,
    "angstrom": 0.1,
    "å": 0.1,
}
_WAVENUMBERS = {"cm-1", "cm^-1", "1/cm", "wavenumber"}
_NO_UNIT = {"", "unknown", "none", "null", "n/a", "-", "1", "unitless"}
# No optical sensor has bands at 100 nm, and few beyond 100 µm: smaller numbers are micrometres.
LARGEST_IN_MICROMETRES = 100.0


def in_nanometres(
    values: npt.ArrayLike, unit: str = ""
) -> tuple[npt.NDArray[np.float64] | None, tuple[str, ...]]:
    """Wavelengths in nanometres, None if they are not wavelengths, with notes on what was decided.

    Without a unit, values that are all below 100 are taken for micrometres and others for nanometres.

    Examples
    --------
    >>> in_nanometres([0.45, 2.5], "Micrometers")[0].tolist()
    [450.0, 2500.0]
    >>> in_nanometres([1984.2, 1985.1], "decimal year")[0] is None
    True
    """
    given = np.asarray(values, dtype=np.float64).reshape(-1)
    if given.size == 0 or not np.all(np.isfinite(given)) or given.min() <= 0 or given.max() > 1e7:
        return None, ("The wavelengths in the file are not all positive numbers and were left out.",)
    word = unit.strip().strip("[]()").lower()
    factor = _NANOMETRES.get(word) or _NANOMETRES.get(word.removesuffix("s"))
    if factor is not None:
        return given * factor, ()
    if word.removesuffix("s") in _WAVENUMBERS:
        return 1e7 / given, ()
    if word not in _NO_UNIT:
        return None, (f"The file's band positions are in {unit.strip()[:30]!r}, which is not a wavelength.",)
    if given.max() < LARGEST_IN_MICROMETRES:
        return given * 1e3, (
            "The file states no unit for its wavelengths; being small, they were taken as micrometres.",
        )
    return given, ()
