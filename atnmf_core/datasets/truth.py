"""What is known about a cube's materials: abundance maps, spectra, or both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..problem import Array, InputError
from .dataset import Dataset, Truth

# Spectra that differ from the data by more than this factor are in other units, not of other materials.
OTHER_UNITS = 3.0
MAX_SAMPLE = 2000


def truth_from_arrays(data: Dataset, arrays: Sequence[npt.NDArray[Any]]) -> Truth:
    """The truth about the materials of a cube from arrays, each recognised by its shape.

    Spectra in other units than the data, such as 0 to 1 beside 0 to 5000, are scaled to the data's.

    Parameters
    ----------
    data : the cube, of F bands and N pixels.
    arrays : K abundance maps of the cube's image size, as rows x cols x K or K x rows x cols; or a K x N
        matrix of abundances in the cube's pixel order; or an F x K matrix of spectra; matrices may be
        transposed.

    Raises
    ------
    InputError : a shape that fits none of these, or abundances and spectra of different K.
    """
    F, N = data.shape
    endmembers: Array = np.empty((F, 0))
    abundances: Array = np.empty((0, N))
    for array in arrays:
        values = np.asarray(array, dtype=np.float64)
        found = _abundances(data, values)
        if found is not None:
            abundances = found
        elif values.ndim == 2 and F in values.shape:
            endmembers = values if values.shape[0] == F else values.T
        else:
            shape, size = (" x ".join(map(str, one)) for one in (values.shape, data.image_shape or ()))
            raise InputError(
                f"{shape} fits neither abundance maps of {size} pixels nor spectra of {F} bands."
            )
    if endmembers.size and abundances.size and endmembers.shape[1] != len(abundances):
        raise InputError(
            f"{endmembers.shape[1]} spectra and {len(abundances)} abundance maps: there must be as many of "
            "one as of the other."
        )
    if not (np.isfinite(endmembers).all() and np.isfinite(abundances).all()):
        raise InputError(
            "The true spectra and abundances must be known everywhere: some entries are missing."
        )
    with np.errstate(all="ignore"):  # squares of numbers in a damaged file can leave the range of a float
        scale = _scale(data.V, endmembers, abundances)
    notes = (
        (f"The true spectra were multiplied by {scale:.4g} to the units of the data.",) if scale != 1 else ()
    )
    return Truth(endmembers * scale, abundances, notes=notes)


def could_be_truth(data: Dataset, shape: tuple[int, ...]) -> bool:
    """Whether an array of this shape fits the cube as abundances or as spectra."""
    F, N = data.shape
    if len(shape) == 3:
        return data.image_shape in (shape[:2], shape[1:])
    return len(shape) == 2 and (N in shape or F in shape) and min(shape) < F


def _abundances(data: Dataset, values: Array) -> Array | None:
    if values.ndim == 3:
        if values.shape[:2] == data.image_shape:
            values = values.transpose(2, 0, 1)
        elif values.shape[1:] != data.image_shape:
            return None
        return np.stack([data.vector(image) for image in values])
    F, N = data.shape
    if values.ndim != 2 or N not in values.shape or min(values.shape) > F:
        return None
    return values if values.shape[1] == N else values.T


def _scale(V: Array, endmembers: Array, abundances: Array) -> float:
    """The factor that converts the spectra to the units of V; 1 if they are in about these units already."""
    if not endmembers.size or endmembers.max() <= 0:
        return 1.0
    if abundances.size:
        pixels = np.linspace(0, V.shape[1] - 1, min(V.shape[1], MAX_SAMPLE)).astype(int)
        seen = np.nan_to_num(V[:, pixels].astype(np.float64))
        model = np.where(np.isnan(V[:, pixels]), 0, endmembers @ abundances[:, pixels])
        scale = float(np.vdot(model, seen) / max(float(np.vdot(model, model)), 1e-300))
    else:
        scale = float(np.nanpercentile(V, 99.9) / endmembers.max())
    return scale if scale > OTHER_UNITS or 0 < scale < 1 / OTHER_UNITS else 1.0
