"""Learned factors of a cube as materials (spectra in W, maps in H), and how far they are from the truth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..datasets import Dataset, SpectralLibrary, Truth
from ..model.initialisation import pure_pixel_start
from ..model.metrics import rmse
from ..model.problem import Array, Indices, InputError, Mask, Values, Wide
from ..solvers.steps import gram_matrices
from ..solvers.unit_sum import BLOCK, summing_to_one, with_unit_sums
from .pictures import Reach, order_by_usage

# Pure pixels as the materials of a scene, without a fit: where they are good, a fit can be worse.


def unit_sum_abundances(V: npt.ArrayLike, W: npt.ArrayLike, observed: npt.ArrayLike | None = None) -> Wide:
    """Abundances H >= 0 (K x N) that sum to one in each pixel and minimise the squared error of W H over its
    observed entries: fully constrained least squares.

    By multipliers: the sum is one more, weighted, band (as in Heinz and Chang, IEEE Trans. Geosci. Remote
    Sens. 39(3), 2001), whose demanded value is corrected until the sum is one. NaN in pixels without
    observation.

    >>> unit_sum_abundances([[0.5], [1.0]], [[1.0, 0.0], [0.0, 1.0]]).round(6)
    array([[0.25],
           [0.75]])
    """
    spectra, values = np.asarray(W, dtype=np.float64), np.asarray(V)
    seen = ~np.isnan(values) if observed is None else np.asarray(observed) & ~np.isnan(values)
    K, N = spectra.shape[1], values.shape[1]
    H = np.full((K, N), np.nan)
    pixels = np.flatnonzero(seen.any(axis=0))
    for block in np.array_split(pixels, max(1, -(-pixels.size * K * K // BLOCK))):
        D = seen[:, block]
        grams = gram_matrices(spectra, D.astype(np.float64)).transpose(2, 0, 1)
        right = (spectra.T @ np.where(D, values[:, block], 0)).T
        H[:, block] = summing_to_one(grams, right, np.full(right.shape, 1 / K)).T
    return H


def pure_materials(
    V: npt.ArrayLike, observed: npt.ArrayLike | None = None, *, K: int, seed: int = 0
) -> tuple[Array, Wide]:
    """Spectra of K pixels of one material each (see `pure_pixel_start`), and all pixels' shares of them."""
    W, _ = pure_pixel_start(V, observed, K=K, seed=seed)
    return W, unit_sum_abundances(V, W, observed)


def spectral_angles(W: npt.ArrayLike, other: npt.ArrayLike) -> Wide:
    """Angles in degrees (K x M) between the columns of F x K and F x M matrices, which no brightness changes.

    Only bands in which both are known (not NaN) count; NaN if there are none. Zeros are at 90 degrees.

    >>> spectral_angles([[1.0], [0.0]], [[2.0, 1.0], [0.0, 1.0]]).round(3)
    array([[ 0., 45.]])
    """
    first, second = np.asarray(W, dtype=np.float64), np.asarray(other, dtype=np.float64)
    if first.ndim != 2 or second.ndim != 2 or len(first) != len(second):
        raise InputError(f"spectra of shapes {first.shape} and {second.shape}: one row per band is needed.")
    known = ~np.isnan(first), ~np.isnan(second)
    if all(one.all() for one in known):
        return _angles(first, second)
    angles = np.full((first.shape[1], second.shape[1]), np.nan)
    for k, spectrum in enumerate(first.T):
        # Columns of the other matrix with the same known bands are compared together.
        both = known[0][:, [k]] & known[1]
        patterns, alike = np.unique(both, axis=1, return_inverse=True)
        for number, bands in enumerate(patterns.T):
            if bands.any():
                columns = np.flatnonzero(alike.reshape(-1) == number)
                angles[k, columns] = _angles(spectrum[bands, None], second[np.ix_(bands, columns)])[0]
    return angles


def _angles(first: Wide, second: Wide) -> Wide:
    # The cosine of a small angle loses digits; the chord between unit vectors does not.
    one, two = _unit(first), _unit(second)
    chords = np.linalg.norm(one[:, :, None] - two[:, None, :], axis=0)
    angles: Wide = np.degrees(2 * np.arcsin(np.clip(chords / 2, 0, 1)))
    angles[np.ix_(~first.any(axis=0), np.ones(second.shape[1], dtype=bool))] = 90.0
    angles[:, ~second.any(axis=0)] = 90.0
    return angles


@dataclass(frozen=True, eq=False)
class Materials:
    """What one method found: spectra F x K, abundances K x N; NaN in bands and pixels without observation."""

    spectra: Wide
    abundances: Wide

    def share(self, place: int) -> float:
        return float(np.nanmean(self.abundances[place]))


@dataclass(frozen=True, eq=False)
class MaterialErrors:
    """Degrees between found and true spectra, and RMSE of the maps; NaN where the truth has none."""

    angles: Wide
    errors: Wide

    @property
    def mean_angle(self) -> float:
        return _mean(self.angles)

    @property
    def mean_error(self) -> float:
        return _mean(self.errors)


def materials_of(
    factors: Sequence[tuple[Array, Array]],
    truth: Truth | None = None,
    *,
    summing: Sequence[tuple[Array, Array]] = (),
    unit_sum: bool = False,
    bands: Mask | None = None,
    pixels: Mask | None = None,
) -> tuple[tuple[Materials, ...], Truth | None]:
    """The materials of several fits of one cube, of the same K, and the truth about them, in matching order.

    summing : further factors whose abundances already sum to one; they come after the fits.
    unit_sum : whether the fits were made with it: their abundances are a pixel's brightness times shares.
    bands, pixels : those with an observation; all by default. Others play no role.

    The order is the truth's, else that of use in the first fit. Of more true materials than parts, those stay
    that the first fit found. Matches minimise the sum of spectral angles or, without true spectra, the maps'
    squared error.
    """
    F, N = len(factors[0][0]), factors[0][1].shape[1]
    seen = np.ones(F, dtype=bool) if bands is None else bands
    known_pixels = np.ones(N, dtype=bool) if pixels is None else pixels
    scaled = [(_shares if unit_sum else with_unit_sums)(W[seen], H[:, known_pixels]) for W, H in factors]
    scaled += [(W[seen].astype(np.float64), H[:, known_pixels].astype(np.float64)) for W, H in summing]
    if truth is not None:
        truth = _found_by(truth, *scaled[0], seen, known_pixels)
    known = None if truth is None else _part_of(truth, seen, known_pixels)
    matched = [_matched(W, H, known) for W, H in scaled]
    lead = _rest(matched[0], order_by_usage(*scaled[0]))
    orders = [
        np.concatenate([mine, _partners(scaled[0][0][:, lead], W, _rest(mine, np.arange(W.shape[1])))])
        for mine, (W, _) in zip(matched, scaled, strict=True)
    ]
    found = []
    for (W, H), order in zip(scaled, orders, strict=True):
        spectra, abundances = np.full((F, len(order)), np.nan), np.full((len(order), N), np.nan)
        spectra[seen], abundances[:, known_pixels] = W[:, order], H[order]
        found.append(Materials(spectra, abundances))
    return tuple(found), truth


def _shares(W: Array, H: Array) -> tuple[Wide, Wide]:
    wide = H.astype(np.float64)
    return W.astype(np.float64), wide / wide.sum(axis=0)


def _cost(W: Wide, H: Wide, truth: Truth) -> Wide:
    """How unlike each true material (rows) and each found one (columns) are."""
    if truth.endmembers.size:
        return spectral_angles(truth.endmembers, W)
    A = truth.abundances
    cost: Wide = (A**2).sum(axis=1)[:, None] - 2 * A @ H.T + (H**2).sum(axis=1)
    return cost


def _part_of(truth: Truth, bands: Mask, pixels: Mask) -> Truth:
    spectra = truth.endmembers[bands] if truth.endmembers.size else truth.endmembers
    return Truth(spectra, truth.abundances[:, pixels] if truth.abundances.size else truth.abundances)


def _found_by(truth: Truth, W: Wide, H: Wide, bands: Mask, pixels: Mask) -> Truth:
    kept = np.sort(_assignment(_cost(W, H, _part_of(truth, bands, pixels)))[0])
    if kept.size == truth.count:
        return truth
    names = tuple(truth.names[k] for k in kept) if truth.names else ()
    spectra = truth.endmembers[:, kept] if truth.endmembers.size else truth.endmembers
    return Truth(spectra, truth.abundances[kept] if truth.abundances.size else truth.abundances, names)


def _assignment(cost: Wide) -> tuple[Indices, Indices]:
    # Slow to import, and pages that only draw pictures need none of it.
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(cost)
    return rows, columns


def _matched(W: Wide, H: Wide, truth: Truth | None) -> Indices:
    if truth is None:
        return np.empty(0, dtype=np.intp)
    true, mine = _assignment(_cost(W, H, truth))
    return np.asarray(mine[np.argsort(true)], dtype=np.intp)


def _rest(taken: Indices, order: Indices) -> Indices:
    return order[~np.isin(order, taken)]


def _partners(lead: Wide, W: Wide, rest: Indices) -> Indices:
    return np.asarray(rest[_assignment(spectral_angles(lead, W[:, rest]))[1]], dtype=np.intp)


def score(found: Materials, truth: Truth) -> MaterialErrors:
    K = found.spectra.shape[1]
    angles, errors = np.full(K, np.nan), np.full(K, np.nan)
    for place in range(min(K, truth.count)):
        if truth.endmembers.size:
            pair = (found.spectra[:, [place]], truth.endmembers[:, [place]])
            angles[place] = spectral_angles(*pair)[0, 0]
        if truth.abundances.size:
            mine = found.abundances[place]
            errors[place] = rmse(truth.abundances[place], mine, ~np.isnan(mine))
    return MaterialErrors(angles, errors)


def _unit(spectra: Wide) -> Wide:
    length = np.linalg.norm(spectra, axis=0)
    unit: Wide = spectra / np.where(length > 0, length, 1.0)
    return unit


def _mean(values: Wide) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else float("nan")


LEAST_SHARE = 0.5
"""A library spectrum must be known in this share of a material's bands: a few bands can agree by chance."""


class Match(NamedTuple):
    name: str
    angle: float


def nearest_spectra(
    spectra: npt.ArrayLike, wavelengths: npt.ArrayLike, library: SpectralLibrary, count: int = 3
) -> tuple[tuple[Match, ...], ...]:
    """For each material (column of `spectra`, NaN where unknown) at most `count` of the library's spectra,
    interpolated to `wavelengths` (in nm), at the smallest angles over shared bands; none where these are few.
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


@dataclass(frozen=True, eq=False)
class PixelSpectrum:
    """Everything known about the pixel at `row`, `col` (from 0), band by band: the original (NaN: missing),
    what of it was observed, and per method the values of W H (NaN: nothing to predict from).
    """

    row: int
    col: int
    original: Values
    observed: Mask
    predicted: dict[str, Values]

    def spectra(self) -> tuple[Values, ...]:
        return self.original, *self.predicted.values()

    def error(self, method: str) -> float:
        """RMSE over the hidden bands; NaN where none has a truth and a prediction."""
        hat = self.predicted[method]
        return rmse(np.where(np.isnan(hat), np.nan, self.original), hat, ~self.observed)

    def angle(self, method: str) -> float:
        """Degrees between the original and the predicted spectrum, over the bands that have both."""
        hat = self.predicted[method]
        both = ~(np.isnan(self.original) | np.isnan(hat))
        if not both.any():
            return float("nan")
        return float(spectral_angles(self.original[both][:, None], hat[both][:, None])[0, 0])


def pixel_spectrum(
    data: Dataset,
    observed: Mask,
    reach: Reach,
    factors: Mapping[str, tuple[Array, Array]],
    row: int,
    col: int,
) -> PixelSpectrum:
    """The spectrum of the pixel at (row, col), counted from 0, and each method's prediction of it."""
    shape = data.image_shape or (0, 0)
    if not (0 <= row < shape[0] and 0 <= col < shape[1]):
        raise InputError(f"row={row}, col={col}: {data.name} has {shape[0]} x {shape[1]} pixels.")
    n = int(data.vector_positions(np.array([row]), np.array([col]))[0])
    known = reach.bands & reach.pixels[n]
    predicted = {method: np.where(known, W @ H[:, n], np.nan) for method, (W, H) in factors.items()}
    return PixelSpectrum(row, col, np.asarray(data.V[:, n]), observed[:, n], predicted)
