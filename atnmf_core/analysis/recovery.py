"""What can be restored and what cannot: a prediction needs something observed of its row of V and something
of its column; in a cube, of its band and of its pixel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..datasets import Dataset
from ..metrics import rmse
from ..problem import Array, InputError, Mask
from .pictures import Values
from .unmixing import spectral_angles

ROWS = 16
"""How many bands of W H are computed at a time, so that the whole product is never in memory."""


@dataclass(frozen=True, eq=False)
class Reach:
    """Which bands (F) and pixels (N) have something observed, and how many bands are observed per pixel."""

    bands: Mask
    pixels: Mask
    counts: npt.NDArray[np.intp]

    def weak(self, K: int) -> int:
        """How many pixels have something observed, but fewer bands than K materials take to tell apart."""
        return int(((self.counts > 0) & (self.counts < K)).sum())


def reach_of(observed: Mask) -> Reach:
    counts = observed.sum(axis=0)
    return Reach(np.asarray(observed.any(axis=1)), counts > 0, counts)


def known_factors(W: Array, H: Array, reach: Reach) -> tuple[Array, Array]:
    """The factors with NaN in rows of W and columns of H without any observation."""
    return np.where(reach.bands[:, None], W, np.nan), np.where(reach.pixels, H, np.nan)


def unreached_in_words(data: Dataset, reach: Reach) -> str:
    """What has no observation at all, such as "2 bands and 1 pixel"; empty if there is none."""
    nouns = {"cube": ("band", "pixel"), "faces": ("pixel", "face"), "matrix": ("row", "column")}
    row, column = nouns[data.kind]
    counts = ((int((~reach.pixels).sum()), column), (int((~reach.bands).sum()), row))
    return " and ".join(f"{count:,} {noun}{'' if count == 1 else 's'}" for count, noun in counts if count)


def restored_band(
    V: Array, observed: Mask, reach: Reach, W: Array, H: Array, f: int, *, keep_observed: bool = True
) -> Values:
    """Band f as restored by W H, a vector of N pixels: NaN where there was nothing to predict from."""
    predicted = W[f] @ H if reach.bands[f] else np.full(V.shape[1], np.nan, H.dtype)
    predicted[~reach.pixels] = np.nan
    return np.where(observed[f], V[f], predicted) if keep_observed else predicted


def band_error(
    V: Array, observed: Mask, reach: Reach, W: Array, H: Array, f: int, *, keep_observed: bool = True
) -> Values:
    """|V - restored| in band f, a vector of N pixels; NaN where there is nothing to compare."""
    return np.asarray(np.abs(V[f] - restored_band(V, observed, reach, W, H, f, keep_observed=keep_observed)))


def band_rmse(V: Array, observed: Mask, reach: Reach, W: Array, H: Array, f: int) -> float:
    """RMSE in band f over the hidden pixels that have a prediction."""
    predicted = restored_band(V, observed, reach, W, H, f, keep_observed=False)
    return rmse(V[f], predicted, ~observed[f] & ~np.isnan(predicted))


def restored_cube(
    data: Dataset,
    observed: Mask,
    W: Array,
    H: Array,
    *,
    method: str,
    keep: Literal["measured", "observed", "nothing"] = "observed",
) -> Dataset:
    """The restored data, in the precision of V; NaN where it cannot be restored.

    `keep` says which entries stay exactly as they were: every "measured" one, even if it was hidden from the
    learner; the "observed" ones alone; or "nothing", which leaves the model W H.
    """
    reach = reach_of(observed)
    kept = data.observed if keep == "measured" else observed
    V = np.empty(data.shape, data.V.dtype)
    for f in range(len(V)):
        V[f] = restored_band(data.V, kept, reach, W, H, f, keep_observed=keep != "nothing")
    title = f"{data.title}, restored by {method}"
    return replace(data, V=V, name=f"{data.name}-restored", title=title, notes=(), truth=None)


def hidden_error(V: Array, observed: Mask, W: Array, H: Array) -> Values:
    """Per pixel, the RMSE of W H over its hidden bands; NaN where it has none, or none with a truth."""
    total, count = np.zeros(V.shape[1]), np.zeros(V.shape[1], np.intp)
    for bands in np.array_split(np.arange(len(V)), max(1, len(V) // ROWS)):
        compared = ~observed[bands] & ~np.isnan(V[bands])
        error = np.where(compared, V[bands] - W[bands] @ H, 0.0)
        total += np.einsum("fn,fn->n", error, error)
        count += compared.sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.sqrt(total / np.where(count, count, np.nan)))


@dataclass(frozen=True, eq=False)
class PixelSpectrum:
    """Everything known about one pixel, band by band.

    Attributes
    ----------
    row, col : its position in the image, from 0.
    original : the true values, NaN where missing.
    observed : which of them the solvers were given.
    predicted : per method the values of W H; NaN where there was nothing to predict from.
    """

    row: int
    col: int
    original: Values
    observed: Mask
    predicted: dict[str, Values]

    def spectra(self) -> tuple[Values, ...]:
        """The original and every prediction."""
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
