"""Learned factors of a cube as materials: columns of W are their spectra, rows of H say how much of each is
where; and how far both are from the truth, where that is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment, nnls

from .datasets import Truth
from .metrics import rmse
from .parts import order_by_use
from .problem import InputError

__all__ = ["Materials", "Score", "materials_of", "score", "spectral_angles", "with_unit_sums"]

Array = npt.NDArray[np.floating]
Wide = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

LEAST_SCALE = 1e-3
"""A material that is hardly there gets no scale of zero, which could not be undone."""


def spectral_angles(W: npt.ArrayLike, other: npt.ArrayLike) -> Wide:
    """Angles in degrees between the columns of two matrices of as many rows: K x M for F x K and F x M.

    It is what unmixing measures spectra by, since brightness does not matter to it. A column of zeros points
    nowhere and is at 90 degrees to everything.

    Examples
    --------
    >>> spectral_angles([[1.0], [0.0]], [[2.0, 1.0], [0.0, 1.0]]).round(3)
    array([[ 0., 45.]])
    """
    first, second = np.asarray(W, dtype=np.float64), np.asarray(other, dtype=np.float64)
    if first.ndim != 2 or second.ndim != 2 or len(first) != len(second):
        raise InputError(
            f"spectra of shapes {first.shape} and {second.shape}: matrices with one row per band are needed."
        )
    # The cosine of a small angle has lost its digits; the chord between unit vectors has not.
    one, two = _unit(first), _unit(second)
    chords = np.linalg.norm(one[:, :, None] - two[:, None, :], axis=0)
    angles: Wide = np.degrees(2 * np.arcsin(np.clip(chords / 2, 0, 1)))
    angles[np.ix_(~first.any(axis=0), np.ones(second.shape[1], dtype=bool))] = 90.0
    angles[:, ~second.any(axis=0)] = 90.0
    return angles


def with_unit_sums(W: Array, H: Array) -> tuple[Wide, Wide]:
    """The same product, scaled so that the abundances of a pixel sum to one as nearly as one number per
    material allows: then maps of different materials and methods can be compared.
    """
    wide = H.astype(np.float64)
    gram, total = wide @ wide.T, wide.sum(axis=1)
    # Normal equations through a square root: as small as K x K, and still nonnegative least squares.
    values, vectors = np.linalg.eigh(gram)
    root = np.sqrt(np.maximum(values, values.max(initial=0.0) * 1e-12))
    if not root.all():
        return W.astype(np.float64), wide
    scale = nnls((vectors * root).T, vectors.T @ total / root)[0]
    scale = np.maximum(scale, LEAST_SCALE * scale.max(initial=0.0) or 1.0)
    return W.astype(np.float64) / scale, wide * scale[:, None]


@dataclass(frozen=True, eq=False)
class Materials:
    """What one method found, in the places shared with others: spectra F x K and abundances K x N."""

    spectra: Wide
    abundances: Wide


@dataclass(frozen=True, eq=False)
class Score:
    """How far found materials are from the true ones at the same places.

    Attributes
    ----------
    angles : per place, degrees between found and true spectrum; NaN where the truth has no spectrum for it.
    errors : per place, RMSE of the abundance map; NaN where the truth has none.
    """

    angles: Wide
    errors: Wide

    @property
    def mean_angle(self) -> float:
        return _mean(self.angles)

    @property
    def mean_error(self) -> float:
        return _mean(self.errors)


def materials_of(factors: Sequence[tuple[Array, Array]], truth: Truth | None = None) -> tuple[Materials, ...]:
    """The materials of several fits of one cube with as many parts, matched: those at one place belong
    together.

    Places follow the truth where there is one, else the use that the first fit makes of its materials.
    Partners are found so that the sum of their spectral angles is smallest; against a truth that has
    abundances only, so that the squared error of the maps is.
    """
    scaled = [with_unit_sums(W, H) for W, H in factors]
    if truth is None:
        lead = order_by_use(*scaled[0])
        orders = [lead, *(lead_partner(scaled[0][0][:, lead], W) for W, _ in scaled[1:])]
    else:
        orders = [_order_by_truth(W, H, truth) for W, H in scaled]
    return tuple(Materials(W[:, order], H[order]) for (W, H), order in zip(scaled, orders, strict=True))


def lead_partner(lead: Wide, W: Wide) -> Indices:
    """For each column of `lead` the column of W that stands for it."""
    return np.asarray(linear_sum_assignment(spectral_angles(lead, W))[1], dtype=np.intp)


def score(found: Materials, truth: Truth) -> Score:
    """How far materials that were matched to the truth are from it."""
    K = found.spectra.shape[1]
    angles, errors = np.full(K, np.nan), np.full(K, np.nan)
    for place in range(min(K, truth.count)):
        if truth.endmembers.size:
            pair = (found.spectra[:, [place]], truth.endmembers[:, [place]])
            angles[place] = spectral_angles(*pair)[0, 0]
        if truth.abundances.size:
            errors[place] = rmse(truth.abundances[place], found.abundances[place])
    return Score(angles, errors)


def _order_by_truth(W: Wide, H: Wide, truth: Truth) -> Indices:
    """Columns of W in the order of the true materials, those that none is left for at the end."""
    if truth.endmembers.size:
        cost = spectral_angles(truth.endmembers, W)
    else:
        A = truth.abundances
        cost = (A**2).sum(axis=1)[:, None] - 2 * A @ H.T + (H**2).sum(axis=1)
    true, mine = linear_sum_assignment(cost)
    places = np.asarray(mine[np.argsort(true)], dtype=np.intp)
    return np.concatenate([places, np.setdiff1d(np.arange(W.shape[1]), places)])


def _unit(spectra: Wide) -> Wide:
    length = np.linalg.norm(spectra, axis=0)
    unit: Wide = spectra / np.where(length > 0, length, 1.0)
    return unit


def _mean(values: Wide) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")
