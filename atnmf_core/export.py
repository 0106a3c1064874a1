"""Results as files: factors as NPZ, measures as CSV."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from .analysis import pictures
from .analysis.comparison import compare_picture
from .analysis.recovery import PixelSpectrum, reach_of
from .datasets import Dataset
from .metrics import rmse
from .result import HasFactors
from .sweep.measurements import csv_table


def factors_npz(fits: Mapping[str, HasFactors], observed: npt.NDArray[np.bool_]) -> bytes:
    """W and H of each fit, as W_<name> and H_<name>, and the mask; `numpy.load` reads it."""
    arrays: dict[str, npt.NDArray[np.generic]] = {"observed": observed}
    for name, fit in fits.items():
        arrays |= {f"W_{name}": fit.W, f"H_{name}": fit.H}
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def measures_csv(
    data: Dataset,
    observed: npt.NDArray[np.bool_],
    atnmf: HasFactors,
    nmf: HasFactors,
    *,
    lam: float,
    keep_observed: bool,
) -> str:
    """Two lines for the whole data set, then one per picture and method: RMSE over hidden entries, and PSNR
    and SSIM of the restored picture.
    """
    lines: list[tuple[object, ...]] = [
        ("all", method, _fixed(rmse(data.V, fit.W @ fit.H, ~observed)), "", "")
        for method, fit in (("AT-NMF", atnmf), ("NMF", nmf))
    ]
    factors = (atnmf.W, atnmf.H), (nmf.W, nmf.H)
    reach = reach_of(observed)
    for index in range(pictures.count(data)):
        compared = compare_picture(
            data, observed, *factors, index, lam=lam, keep_observed=keep_observed, reach=reach
        )
        for method, measures in zip(("AT-NMF", "NMF"), compared.measures(), strict=True):
            lines.append((index + 1, method, *(_fixed(value) for value in measures)))
    return csv_table(("picture", "method", "RMSE", "PSNR", "SSIM"), lines)


def spectra_csv(data: Dataset, spectra: Sequence[PixelSpectrum]) -> str:
    """One line per pixel and band: its true value, whether it was observed, and each method's prediction."""
    methods = list(spectra[0].predicted) if spectra else []
    lines: list[tuple[object, ...]] = []
    for one in spectra:
        for f, value in enumerate(one.original):
            nm = "" if data.wavelengths is None else f"{data.wavelengths[f]:.7g}"
            predicted = (_number(one.predicted[method][f]) for method in methods)
            seen = int(one.observed[f])
            lines.append((one.row + 1, one.col + 1, f + 1, nm, _number(value), seen, *predicted))
    return csv_table(("row", "column", "band", "nm", "original", "observed", *methods), lines)


def _fixed(value: float) -> str:
    """Six digits; empty where it could not be measured."""
    return "" if np.isnan(value) else f"{value:.6f}"


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.7g}"
