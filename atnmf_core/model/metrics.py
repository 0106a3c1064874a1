"""How good a restoration is: RMSE on chosen entries, PSNR and SSIM of images."""

import numpy as np
import numpy.typing as npt

from .problem import InputError, Wide


def rmse(V: npt.ArrayLike, V_hat: npt.ArrayLike, where: npt.ArrayLike | None = None) -> float:
    """Root mean squared error over the entries chosen by `where` (all by default), the paper's measure.

    Entries that are NaN in V are left out; the result is NaN where nothing is left to compare.

    Examples
    --------
    >>> rmse([[1.0, 2.0]], [[1.0, 4.0]], where=[[False, True]])
    2.0
    """
    V, V_hat = np.asarray(V), np.asarray(V_hat)
    if V.shape != V_hat.shape:
        raise InputError(f"V_hat has shape {V_hat.shape}, V has {V.shape}: they must be alike.")
    if where is not None:
        where = np.asarray(where, dtype=bool)
        if where.shape != V.shape:
            raise InputError(f"where has shape {where.shape}, V has {V.shape}: they must be alike.")
        V, V_hat = np.asarray(V[where]), np.asarray(V_hat[where])
    known = ~np.isnan(V)
    error = np.subtract(V[known], V_hat[known], dtype=float)
    # Errors of 1e-200 or 1e200 cannot be squared; their ratios to the largest can.
    largest = float(np.abs(error).max(initial=0.0))
    if error.size == 0:
        return float("nan")
    if largest == 0 or not np.isfinite(largest):
        return largest
    error /= largest
    return float(largest * np.sqrt(np.mean(error**2)))


def psnr(
    V: npt.ArrayLike, V_hat: npt.ArrayLike, where: npt.ArrayLike | None = None, data_range: float = 1.0
) -> float:
    """Peak signal-to-noise ratio in decibels, 20 log10(data_range / RMSE); infinite where the two agree."""
    _check_range(data_range)
    error = rmse(V, V_hat, where)
    return float("inf") if error == 0 else float(20 * np.log10(data_range / error))


def ssim(image: npt.ArrayLike, restored: npt.ArrayLike, data_range: float = 1.0) -> float:
    """Structural similarity (Wang et al. 2004, as in scikit-image): mean over windows of at most 7 x 7."""
    _check_range(data_range)
    image, restored = np.asarray(image, dtype=float), np.asarray(restored, dtype=float)
    if image.ndim != 2 or image.shape != restored.shape or min(image.shape) < 3:
        raise InputError(
            f"ssim compares two images of one shape, at least 3 x 3; got {image.shape} and {restored.shape}."
        )
    side = min(7, *image.shape)
    side -= 1 - side % 2
    m, n = _window_means(image, side), _window_means(restored, side)
    unbiased = side**2 / (side**2 - 1)
    covariance = unbiased * (_window_means(image * restored, side) - m * n)
    variances = unbiased * (_window_means(image**2 + restored**2, side) - m**2 - n**2)
    c, d = (0.01 * data_range) ** 2, (0.03 * data_range) ** 2
    return float(np.mean((2 * m * n + c) * (2 * covariance + d) / ((m**2 + n**2 + c) * (variances + d))))


def _window_means(image: Wide, side: int) -> Wide:
    sums = np.pad(image.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    rows = sums[side:] - sums[:-side]
    return np.asarray((rows[:, side:] - rows[:, :-side]) / side**2)


def _check_range(data_range: float) -> None:
    if not (np.isfinite(data_range) and data_range > 0):
        raise InputError(
            f"data_range={data_range!r}: a positive number is needed, the spread of possible values."
        )
