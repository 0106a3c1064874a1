"""What a user knows about a cube's materials, from files: abundance maps, spectra, or both."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ..problem import InputError
from .dataset import Dataset, Truth

__all__ = ["truth_from"]

Array = npt.NDArray[np.floating]


def truth_from(data: Dataset, given: Iterable[Dataset]) -> Truth:
    """What the given arrays say about the materials of a cube, each recognised by its shape.

    Parameters
    ----------
    data : the cube, of F bands and N pixels.
    given : stacks of K abundance maps of the cube's image size, or K x N matrices of abundances in the cube's
        pixel order, or F x K matrices of spectra; matrices may be transposed.

    Raises
    ------
    InputError : a shape that fits none of these, or abundances and spectra of different K.
    """
    F, N = data.shape
    endmembers: Array = np.empty((F, 0))
    abundances: Array = np.empty((0, N))
    for one in given:
        found = _abundances(data, one)
        if found is not None:
            abundances = found
        elif F in one.shape and one.kind != "cube":
            endmembers = np.asarray(one.V if one.shape[0] == F else one.V.T)
        else:
            raise InputError(
                f"{one.title}: {_size(one)} fits neither abundance maps of {_side(data)} pixels nor "
                f"spectra of {F} bands."
            )
    if endmembers.size and abundances.size and endmembers.shape[1] != len(abundances):
        raise InputError(
            f"{endmembers.shape[1]} spectra and {len(abundances)} abundance maps: they must be as many."
        )
    if not (np.isfinite(endmembers).all() and np.isfinite(abundances).all()):
        raise InputError(
            "The true spectra and abundances must be known everywhere: some entries are missing."
        )
    return Truth(endmembers, abundances)


def _abundances(data: Dataset, one: Dataset) -> Array | None:
    if one.kind == "cube":
        if one.image_shape != data.image_shape:
            return None
        return np.stack([data.vector(image) for image in one.images()])
    N = data.shape[1]
    if N not in one.shape or min(one.shape) > data.shape[0]:
        return None
    return np.asarray(one.V if one.shape[1] == N else one.V.T)


def _size(one: Dataset) -> str:
    return f"{_side(one)} x {one.shape[0]}" if one.kind == "cube" else f"{one.shape[0]} x {one.shape[1]}"


def _side(one: Dataset) -> str:
    rows, cols = one.image_shape or (0, 0)
    return f"{rows} x {cols}"
