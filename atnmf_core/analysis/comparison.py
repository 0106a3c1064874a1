"""One picture restored by AT-NMF and by NMF, and how close each comes to the original."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..adversary import at_wall, optimal_attack
from ..datasets import Dataset
from ..metrics import psnr, rmse, ssim
from ..problem import Mask, Missing
from . import pictures
from .pictures import Values
from .recovery import Reach, reach_of


class PictureMeasures(NamedTuple):
    """RMSE over the predicted hidden pixels whose true value is known, PSNR over all predicted pixels, and
    SSIM of the whole picture, NaN where not all of it is predicted or it has fewer than three rows or
    columns.
    """

    rmse: float
    psnr: float
    ssim: float


@dataclass(frozen=True, eq=False)
class ComparedPicture:
    """One picture, what was observed of it, and both restorations, as rows x cols.

    Attributes
    ----------
    v : the original, NaN where it is missing.
    observed : the pixels that the solvers were given.
    at_hat, nmf_hat : the predictions of AT-NMF and NMF, NaN where there was nothing to predict from.
    lam : the adversary's price.
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
        """|V - restored| of AT-NMF and of NMF."""
        return np.abs(self.v - self.at_restored), np.abs(self.v - self.nmf_restored)

    def measures(self) -> tuple[PictureMeasures, PictureMeasures]:
        """Of AT-NMF and of NMF."""
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
    """Picture number `index` (from 0) under the factors (W, H) of both methods.

    `reach` is that of `observed`, for callers that have it already.
    """
    v, seen = (pictures.picture(data, matrix, index) for matrix in (data.V, observed))
    at_hat, nmf_hat = (pictures.predicted_picture(data, W, H, index) for W, H in (atnmf, nmf))
    reach = reach or reach_of(observed)
    known = pictures.outer_picture(data, reach.bands, reach.pixels, index)
    if not known.all():
        # The prediction for a row or column without any observation is just the solver's start.
        at_hat, nmf_hat = (np.where(known, hat, np.nan) for hat in (at_hat, nmf_hat))
    return ComparedPicture(v, seen, at_hat, nmf_hat, lam, keep_observed, leash, missing)
