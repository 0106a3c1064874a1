"""Wavelengths in whatever unit, brought to nanometres."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["in_nanometres"]

_PER_UNIT = {
    "nm": 1.0,
    "nanometer": 1.0,
    "nanometers": 1.0,
    "nanometre": 1.0,
    "nanometres": 1.0,
    "um": 1e3,
    "µm": 1e3,
    "micron": 1e3,
    "microns": 1e3,
    "micrometer": 1e3,
    "micrometers": 1e3,
    "micrometre": 1e3,
    "micrometres": 1e3,
}
# No optical sensor has bands at 100 nm, and few beyond 100 µm: smaller numbers are micrometres.
LARGEST_IN_MICROMETRES = 100.0


def in_nanometres(
    values: npt.ArrayLike, unit: str = ""
) -> tuple[npt.NDArray[np.float64] | None, tuple[str, ...]]:
    """Wavelengths in nanometres, or None where they make no sense, with sentences about what was decided.

    Without a known unit, values that are all below 100 are taken for micrometres and others for nanometres.
    """
    given = np.asarray(values, dtype=np.float64).reshape(-1)
    if given.size == 0 or not np.all(np.isfinite(given)) or given.min() <= 0 or given.max() > 1e7:
        return None, ("The wavelengths in the file are not all positive numbers and were left out.",)
    factor = _PER_UNIT.get(unit.strip().lower())
    if factor is not None:
        return given * factor, ()
    if given.max() < LARGEST_IN_MICROMETRES:
        return given * 1e3, (
            "The file states no unit for its wavelengths; being small, they were taken as micrometres.",
        )
    return given, ()
