"""A start for unmixing: pixels that show a single material, found despite hidden entries.

In a scene where every material appears alone somewhere, the spectra lie in a simplex whose corners are the
materials. The corners are sought among the pixels, in the K-dimensional subspace that contains the scene;
that subspace, and each pixel's position in it, are estimated from observed entries alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .problem import Array, InputError, Mask, check_seed, pose

Wide = npt.NDArray[np.float64]

SAMPLE, SAMPLE_PER_PART, SAMPLE_WORK = 2500, 5, 1_000_000
"""Pixels that suffice to find the subspace; fewer for many parts, but at least this many per part, because
each pixel takes the inverse of a K x K matrix.
"""
ROUNDS = 25
"""Iterations of expectation maximisation."""
EXCHANGES, EXCHANGES_BELOW_K = 3, 30
"""Rounds of exchanging corners, and the most corners for which that is fast enough."""
MIN_ABUNDANCE = 1e-3
"""Multiplicative updates can never leave zero."""
PIECE = 4_000_000
"""Numbers that the Gram matrices of one piece of the scene may take."""
RIDGE = 1e-9
"""Avoids division by zero where nothing is determined."""


def pure_pixel_start(
    V: npt.ArrayLike,
    observed: npt.ArrayLike | None = None,
    *,
    K: int,
    seed: int = 0,
    dtype: npt.DTypeLike = "float32",
) -> tuple[Array, Array]:
    """Start factors for a cube: W (F x K) holds the spectra of K extreme pixels, H (K x N) each pixel's
    shares of them, which sum to about one.

    Parameters
    ----------
    V : F x N, nonnegative, one pixel's spectrum per column. NaN is "not observed".
    observed : bool F x N, True where observed; all by default. Hidden values are never looked at.
    K : number of materials.
    seed : for the sample of pixels from which the subspace is estimated, 2500 for up to 20 materials.
    dtype : "float32" or "float64", for the computation and the factors.

    Returns
    -------
    W, H : for `factorize(..., init=(W, H))`; ``init="pure-pixels"`` does the same.

    Notes
    -----
    Corners are taken greedily, each the pixel furthest from the affine hull of those before (as in the
    successive projection algorithm, Araujo et al. 2001), then exchanged while that enlarges the simplex (as
    in N-FINDR, Winter 1999). A pixel with few observed entries is shrunk towards the scene's mean in
    proportion to its uncertainty, so that it is not mistaken for a corner.

    Examples
    --------
    >>> spectra = np.array([[1.0, 0.1], [0.5, 0.9], [0.2, 0.4]])
    >>> shares = np.array([[1.0, 0.7, 0.4, 0.0], [0.0, 0.3, 0.6, 1.0]])
    >>> W, H = pure_pixel_start(spectra @ shares, K=2)
    >>> bool(np.allclose(sorted(W[0]), [0.1, 1.0], atol=1e-3))
    True
    """
    rng = np.random.default_rng(check_seed(seed))
    problem = pose(V, observed, K=K, method="nmf", lam=None, missing="ignore", dtype=dtype)
    if not problem.V.any():
        raise InputError("V: every observed entry is 0, so no pixel shows a material; leave init out.")
    seen = np.ones(problem.V.shape, dtype=bool) if problem.observed is None else problem.observed
    pixels = np.flatnonzero(seen.any(axis=0))
    if pixels.size < K:
        raise InputError(f"K={K}: only {pixels.size} pixels have an observed entry, too few for {K} corners.")
    enough = sample_size(K)
    sample = pixels if pixels.size <= enough else np.sort(rng.choice(pixels, enough, replace=False))
    subspace = _subspace(problem.V[:, sample].astype(np.float64), seen[:, sample], K)
    places, _ = subspace.places(problem.V, seen)
    corners = places[:, pixels[_corners(places[:, pixels], K)]]
    W = np.maximum(subspace.basis @ corners, 0)
    H = np.maximum(_shares(corners, places), MIN_ABUNDANCE)
    kind = problem.V.dtype
    return (W * problem.scale).astype(kind), H.astype(kind)


def sample_size(K: int) -> int:
    """How many pixels to estimate the subspace from."""
    return min(SAMPLE, max(SAMPLE_PER_PART * K, SAMPLE_WORK // K**2))


@dataclass(frozen=True, eq=False)
class _Subspace:
    """A Gaussian model of the scene's spectra: noise around `basis` (F x K) times positions that are normally
    distributed with a mean (K) and a covariance (K x K).
    """

    basis: Wide
    mean: Wide
    covariance: Wide
    noise: float

    def places(self, V: Array, seen: Mask) -> tuple[Wide, Wide]:
        """Each pixel's position (K x N) given its observed entries, and its K x K posterior covariance as an
        upper triangle (K(K+1)/2 x N). The less is observed of a pixel, the closer it is to the mean.
        """
        K = self.mean.size
        i, j = np.triu_indices(K)
        pairs = (self.basis[:, i] * self.basis[:, j]).T
        precision = self.noise * np.linalg.pinv(self.covariance, hermitian=True)
        found, left = np.empty((K, V.shape[1])), np.empty((i.size, V.shape[1]))
        for piece in np.array_split(np.arange(V.shape[1]), -(-V.shape[1] * K * K // PIECE)):
            gram = np.empty((piece.size, K, K))
            gram[:, i, j] = gram[:, j, i] = (pairs @ seen[:, piece]).T
            inverse = np.linalg.inv(gram + precision + RIDGE * np.eye(K))
            right = (self.basis.T @ V[:, piece]).T + precision @ self.mean
            found[:, piece] = (inverse @ right[..., None])[..., 0].T
            left[:, piece] = self.noise * inverse[:, i, j].T
        return found, left


def _subspace(V: Wide, seen: Mask, K: int) -> _Subspace:
    """The most likely subspace, by expectation maximisation (probabilistic principal components with missing
    entries): unlike alternating least squares it does not fit the noise of sparsely observed pixels.
    """
    together = np.maximum(seen.astype(np.float64) @ seen.T, 1)
    values, vectors = np.linalg.eigh(V @ V.T / together)
    basis: Wide = vectors[:, ::-1][:, :K]
    noise = float(np.abs(values[: max(1, len(values) - K)]).mean())
    found = _Subspace(basis, np.zeros(K), np.diag(np.maximum(values[::-1][:K], noise)), noise)
    for _ in range(ROUNDS):
        found = _more_likely(found, V, seen)
    return found


def _more_likely(subspace: _Subspace, V: Wide, seen: Mask) -> _Subspace:
    places, left = subspace.places(V, seen)
    K = len(places)
    i, j = np.triu_indices(K)
    moments = places[i] * places[j] + left
    gram = np.empty((len(V), K, K))
    gram[:, i, j] = gram[:, j, i] = (moments @ seen.T).T
    gram += RIDGE * np.trace(gram, axis1=1, axis2=2).max() * np.eye(K)
    right = V @ places.T
    basis = np.asarray(np.linalg.solve(gram, right[..., None])[..., 0], dtype=np.float64)
    explained = np.einsum("fk,fk->", basis, right)
    noise = max((float(np.vdot(V, V)) - explained) / int(seen.sum()), RIDGE)
    mean = places.mean(axis=1)
    covariance = np.empty((K, K))
    covariance[i, j] = covariance[j, i] = moments.mean(axis=1) - mean[i] * mean[j]
    return _Subspace(basis, mean, covariance, noise)


def _corners(places: Wide, K: int) -> npt.NDArray[np.intp]:
    """K columns that span a large simplex."""
    corners = [int(np.argmax(_distances(places, places.mean(axis=1, keepdims=True))))]
    while len(corners) < K:
        corners.append(int(np.argmax(_distances(places, places[:, corners]))))
    for _ in range(EXCHANGES if 1 < K < EXCHANGES_BELOW_K else 0):
        before = tuple(corners)
        for k in range(K):
            others = places[:, corners[:k] + corners[k + 1 :]]
            corners[k] = int(np.argmax(_distances(places, others)))
        if tuple(corners) == before:
            break
    return np.array(corners, dtype=np.intp)


def _distances(places: Wide, corners: Wide) -> Wide:
    """Squared distance of every column from the affine hull of the corners."""
    first = corners[:, :1]
    edges = np.linalg.qr(corners[:, 1:] - first)[0]
    away = places - first
    away -= edges @ (edges.T @ away)
    squared: Wide = np.einsum("kn,kn->n", away, away)
    return squared


def _shares(corners: Wide, places: Wide) -> Wide:
    """Each position as a combination of the corners, with weights that should sum to one."""
    weight = np.sqrt(np.mean(places**2))
    left = np.vstack([corners, np.full((1, corners.shape[1]), weight)])
    right = np.vstack([places, np.full((1, places.shape[1]), weight)])
    shares: Wide = np.linalg.lstsq(left, right, rcond=None)[0]
    return shares
