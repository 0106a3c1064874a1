"""One picture restored by AT-NMF and by NMF, and how close each comes to the original."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ..datasets import Dataset
from ..model.adversary import at_wall, optimal_attack
from ..model.metrics import psnr, rmse, ssim
from ..model.problem import Array, InputError, Mask, Missing
from . import pictures
from .pictures import Values
from .unmixing import spectral_angles

# What can be restored and what cannot: a prediction needs something observed of its row of V and something
# of its column; in a cube, of its band and of its pixel.

ROWS = 16
"""How many bands of W H are computed at a time, so that the whole product is never in memory."""


@dataclass(frozen=True, eq=False)
class Reach:
    """Which bands (F) and pixels (N) have something observed, and how many bands are observed per pixel."""

    bands: Mask
    pixels: Mask
    counts: npt.NDArray[np.intp]

    def weak(self, K: int) -> int:
        """How many pixels have some observed bands, but fewer than K materials take to tell apart."""
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
    """The restored data; NaN where it cannot be restored. Kept as they were are all "measured" entries, the
    "observed" ones, which were not hidden, or "nothing", which leaves W H.
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


class PictureMeasures(NamedTuple):
    """RMSE over hidden and PSNR over all predicted pixels; SSIM if all are, of at least 3 x 3, else NaN."""

    rmse: float
    psnr: float
    ssim: float


@dataclass(frozen=True, eq=False)
class ComparedPicture:
    """One picture, what was observed of it, and both restorations, as rows x cols.

    at_hat, nmf_hat : the predictions, NaN where there was nothing to predict from.
    keep_observed : whether restorations show observed pixels unchanged, or the model W H alone.
    leash : the most that the adversary may add to a pixel, as a multiple of it; None for no limit.
    missing : "zero" if the solver took hidden pixels for measured zeros.
    """

    v: Values
    observed: Mask
    at_hat: Values
    nmf_hat: Values
    lam: float
    keep_observed: bool = True
    leash: float | None = None
    missing: Missing = "ignore"

    @cached_property
    def r(self) -> Values:
        """R*, zero on hidden pixels."""
        prediction = np.where(self.observed, np.asarray(self.at_hat, dtype=float), 0.0)
        return optimal_attack(self.v, prediction, self.lam, self.observed, self.leash)

    @cached_property
    def walls(self) -> Mask:
        """Where the adversary has given up: on observed pixels, and on hidden ones taken for zeros."""
        if self.missing == "ignore":
            return at_wall(self.v, self.at_hat, self.lam, self.observed, self.leash)
        return at_wall(np.where(self.observed, self.v, 0), self.at_hat, self.lam, leash=self.leash)

    @cached_property
    def at_restored(self) -> Values:
        return self._restored(self.at_hat)

    @cached_property
    def nmf_restored(self) -> Values:
        return self._restored(self.nmf_hat)

    @property
    def errors(self) -> tuple[Values, Values]:
        return np.abs(self.v - self.at_restored), np.abs(self.v - self.nmf_restored)

    def measures(self) -> tuple[PictureMeasures, PictureMeasures]:
        return self._measured(self.at_restored), self._measured(self.nmf_restored)

    def closer_shares(self) -> tuple[float, float]:
        """The shares of hidden pixels at which AT-NMF, and at which NMF, is closer to the original."""
        hidden = ~self.observed & ~np.isnan(self.v) & ~np.isnan(self.at_hat)
        if not hidden.any():
            return 0.0, 0.0
        at, nmf = (np.abs(self.v - hat)[hidden] for hat in (self.at_hat, self.nmf_hat))
        return float((at < nmf).mean()), float((nmf < at).mean())

    def _restored(self, prediction: Values) -> Values:
        return np.where(self.observed, self.v, prediction) if self.keep_observed else np.asarray(prediction)

    def _measured(self, restored: Values) -> PictureMeasures:
        top = pictures.white_level(self.v)
        predicted = ~np.isnan(restored)
        full = np.where(np.isnan(self.v), restored, self.v)
        whole = predicted.all() and min(full.shape) >= 3
        return PictureMeasures(
            rmse(self.v, restored, ~self.observed & predicted),
            psnr(self.v, restored, predicted, data_range=top),
            ssim(full, restored, data_range=top) if whole else float("nan"),
        )


def compare_picture(
    data: Dataset,
    observed: Mask,
    atnmf: tuple[Values, Values],
    nmf: tuple[Values, Values],
    index: int,
    *,
    lam: float,
    keep_observed: bool = True,
    leash: float | None = None,
    missing: Missing = "ignore",
    reach: Reach | None = None,
) -> ComparedPicture:
    """Picture number `index` (from 0) under both methods' factors; `reach` of `observed` saves a pass."""
    v, seen = (pictures.picture(data, matrix, index) for matrix in (data.V, observed))
    at_hat, nmf_hat = (pictures.predicted_picture(data, W, H, index) for W, H in (atnmf, nmf))
    reach = reach or reach_of(observed)
    known = pictures.outer_picture(data, reach.bands, reach.pixels, index)
    if not known.all():
        # The prediction for a row or column without any observation is just the solver's start.
        at_hat, nmf_hat = (np.where(known, hat, np.nan) for hat in (at_hat, nmf_hat))
    return ComparedPicture(v, seen, at_hat, nmf_hat, lam, keep_observed, leash, missing)
