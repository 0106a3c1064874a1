"""Pictures of a data set, as arrays (columns of V for faces, rows for a cube, a matrix as it stands): its
parts and their use, what of it can be restored, and one picture as restored by AT-NMF and by NMF.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from ..datasets import Dataset
from ..model.adversary import at_wall, optimal_attack
from ..model.metrics import psnr, rmse, ssim
from ..model.problem import Array, Indices, InputError, Mask, Missing, Values, Wide
from ..model.result import HasFactors

LONGEST_STRIP = 512


def count(data: Dataset) -> int:
    return {"faces": data.shape[1], "cube": data.shape[0], "matrix": 1}[data.kind]


def picture(data: Dataset, matrix: Values, index: int) -> Values:
    """Picture number `index` (from 0) of a matrix of V's shape."""
    if not 0 <= index < count(data):
        raise InputError(f"index={index}: {data.name} has pictures 0 to {count(data) - 1}.")
    if data.kind == "matrix":
        return np.asarray(matrix)
    return data.image(matrix[:, index] if data.kind == "faces" else matrix[index])


def predicted_picture(data: Dataset, W: Values, H: Values, index: int) -> Values:
    """Picture number `index` of W H, without computing the others."""
    if data.kind == "faces":
        return data.image(W @ H[:, index])
    return data.image(W[index] @ H) if data.kind == "cube" else W @ H


def outer_picture(data: Dataset, rows: Mask, columns: Mask, index: int) -> Mask:
    """Picture number `index` of the mask that is True where both its row and its column of V are."""
    if data.kind == "faces":
        return data.image(rows & columns[index])
    return data.image(columns & rows[index]) if data.kind == "cube" else np.logical_and.outer(rows, columns)


def picture_name(data: Dataset, index: int) -> str:
    if data.kind == "cube":
        return data.wavelength_label(index)
    return f"face {index + 1}" if data.kind == "faces" else "the matrix"


def sample_name(data: Dataset, n: int) -> str:
    if data.kind == "faces":
        return f"face {n + 1}"
    if data.image_shape is None:
        return f"column {n + 1}"
    row, col = np.argwhere(data.image(np.arange(data.shape[1])) == n)[0]
    return f"row {row + 1}, column {col + 1}"


def white_level(v: Values) -> float:
    """The value shown as white, and the range for PSNR and SSIM: the picture's maximum, or 1 if that is 0."""
    top = float(np.nanmax(v)) if np.isfinite(v).any() else 0.0
    return top if top > 0 else 1.0


def part_pictures(data: Dataset, W: Values, H: Values) -> Values:
    """One picture per part, K x rows x cols: W of faces, H of a cube, thinned upright strips of a matrix."""
    if data.kind == "faces":
        return data.images(W)
    if data.kind == "cube":
        return data.images(H)
    strips = W.T[:, :: -(-W.shape[0] // LONGEST_STRIP), None]
    return np.repeat(strips, max(1, strips.shape[1] // 4), axis=2)


def usage_shares(W: Array, H: Array) -> Wide:
    """The share of W H's total of each part, however its size is split between W and H."""
    weight = W.sum(axis=0, dtype=np.float64) * H.sum(axis=1, dtype=np.float64)
    total = weight.sum()
    return np.asarray(weight / total if total > 0 else weight)


def order_by_usage(W: Array, H: Array) -> Indices:
    return np.argsort(-usage_shares(W, H), kind="stable")


def match(W: Array, other: Array) -> Indices:
    """The part of `other` for each of W: one to one, with the greatest sum of cosines."""
    # Slow to import, and pages that only draw pictures need none of it.
    from scipy.optimize import linear_sum_assignment

    _, partner = linear_sum_assignment(_unit(W).T @ _unit(other), maximize=True)
    return np.asarray(partner, dtype=np.intp)


@dataclass(frozen=True)
class PartOrder:
    """The parts of two fits, paired: pair i shows parts first[i] and second[i]."""

    first: Indices
    second: Indices
    similarity: Wide  # Cosine of the two parts of each pair


def side_by_side(first: HasFactors, second: HasFactors) -> PartOrder:
    """The first fit's parts by use, and beside each its counterpart in the second."""
    order = order_by_usage(first.W, first.H)
    partner = match(first.W, second.W)[order]
    similarity = np.einsum("fk,fk->k", _unit(first.W)[:, order], _unit(second.W)[:, partner])
    return PartOrder(order, partner, similarity)


def top_users(H: Array, part: int, count: int = 6) -> Indices:
    """The samples (columns of V) with the largest coefficient for one part, largest first."""
    row = H[part]
    return np.argsort(-row, kind="stable")[: min(count, int((row > 0).sum()))]


def share_in_sample(W: Array, H: Array, part: int, sample: int) -> float:
    weights = W.sum(axis=0, dtype=np.float64) * H[:, sample]
    total = float(weights.sum())
    return float(weights[part]) / total if total > 0 else 0.0


def _unit(W: Array) -> Wide:
    wide = W.astype(np.float64)
    length = np.sqrt((wide**2).sum(axis=0))
    return np.asarray(wide / np.where(length > 0, length, 1.0))


# What can be restored and what cannot: a prediction needs something observed of its row of V and something
# of its column; in a cube, of its band and of its pixel.

ROWS = 16  # How many bands of W H are computed at a time, so that the whole product is never in memory


@dataclass(frozen=True, eq=False)
class Reach:
    """Which bands (F) and pixels (N) have something observed, and how many bands are observed per pixel."""

    bands: Mask
    pixels: Mask
    counts: Indices

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


class PictureMeasures(NamedTuple):
    """RMSE over hidden and PSNR over all predicted pixels; SSIM where every pixel is predicted, else NaN."""

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
        top = white_level(self.v)
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
    """Picture number `index` (from 0) under both methods' factors; `reach`, if known, is of `observed`."""
    v, seen = (picture(data, matrix, index) for matrix in (data.V, observed))
    at_hat, nmf_hat = (predicted_picture(data, W, H, index) for W, H in (atnmf, nmf))
    reach = reach or reach_of(observed)
    known = outer_picture(data, reach.bands, reach.pixels, index)
    if not known.all():
        # The prediction for a row or column without any observation is just the solver's start.
        at_hat, nmf_hat = (np.where(known, hat, np.nan) for hat in (at_hat, nmf_hat))
    return ComparedPicture(v, seen, at_hat, nmf_hat, lam, keep_observed, leash, missing)
