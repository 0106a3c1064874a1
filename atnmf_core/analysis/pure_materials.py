"""Pure pixels as the materials of a scene, without a fit: where they are good, a fit can be worse."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..problem import Array
from ..pure_pixels import pure_pixel_start
from ..solvers.nonnegative import nonnegative_minimum
from ..solvers.steps import gram_matrices

Wide = npt.NDArray[np.float64]
WEIGHT, ROUNDS, ENOUGH = 100.0, 50, 1e-10
"""Of the deviation from a sum of one, in units of the mean square of a spectrum's observed values; how often
the demand is corrected, and the deviation at which that ends.
"""
BLOCK = 4_000_000
"""Numbers that the Gram matrices of one block of pixels may take."""


def unit_sum_abundances(V: npt.ArrayLike, W: npt.ArrayLike, observed: npt.ArrayLike | None = None) -> Wide:
    """Abundances H >= 0 (K x N) that sum to one in each pixel and minimise the squared error of W H over its
    observed entries: fully constrained least squares.

    Solved by the method of multipliers: the sum is one more, weighted, band (as in Heinz and Chang, IEEE
    Trans. Geosci. Remote Sens. 39(3), 2001), whose demanded value is corrected until the sum is one. NaN in
    pixels of which nothing is observed.

    Parameters
    ----------
    V : F x N, nonnegative; NaN is "not observed".
    W : F x K, one material's spectrum per column.
    observed : bool F x N, True where observed; all by default.

    Examples
    --------
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
        H[:, block] = _summing_to_one(grams, (spectra.T @ np.where(D, values[:, block], 0)).T).T
    return H


def _summing_to_one(grams: Array, right: Wide) -> Wide:
    """The minimisers of x'Gx/2 - b'x over x >= 0 with sum 1: G is n x K x K, b and the result n x K."""
    n, K = right.shape
    weight = WEIGHT * np.einsum("nkk->n", grams)[:, None] / K
    weight[weight == 0] = 1.0
    heavy = grams + weight[:, :, None]
    x, asked = np.full((n, K), 1 / K), np.ones((n, 1))
    for _ in range(ROUNDS):
        x = nonnegative_minimum(heavy, right + weight * asked, x)
        lacking = 1 - x.sum(axis=1, keepdims=True)
        if np.abs(lacking).max(initial=0.0) < ENOUGH:
            break
        asked += lacking
    shares: Wide = x / x.sum(axis=1, keepdims=True)
    return shares


def pure_materials(
    V: npt.ArrayLike, observed: npt.ArrayLike | None = None, *, K: int, seed: int = 0
) -> tuple[Array, Wide]:
    """The spectra of K pixels that show one material each (F x K, see `pure_pixel_start`), and every pixel's
    shares of them (K x N).
    """
    W, _ = pure_pixel_start(V, observed, K=K, seed=seed)
    return W, unit_sum_abundances(V, W, observed)
