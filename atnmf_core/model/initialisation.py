"""Where W and H start."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .problem import Array, Factors, Indices, InputError, Mask, Problem, Wide, check_seed, make_problem

# A start for unmixing: pixels that show a single material, found despite hidden entries.
#
# In a scene where every material appears alone somewhere, the spectra lie in a simplex whose corners are
# the materials. The corners are sought among the pixels, in the K-dimensional subspace that contains the
# scene; that subspace, and each pixel's position in it, are estimated from observed entries alone.


SAMPLE, SAMPLE_PER_PART, SAMPLE_WORK = 2500, 5, 1_000_000
"""Pixels that suffice to find the subspace; fewer for many parts, but at least this many per part, because
each pixel takes the inverse of a K x K matrix.
"""
PURE_PIXEL_ROUNDS = 25  # Iterations of expectation maximisation
EXCHANGES, EXCHANGES_BELOW_K = 3, 30
"""Rounds of exchanging corners, and the most corners for which that is fast enough."""
MIN_ABUNDANCE = 1e-3  # Multiplicative updates can never leave zero
PIECE = 4_000_000  # Numbers that the Gram matrices of one piece of the scene may take
LOOKS, CAUCHY = 5, 2.385
"""How often wrong entries are looked for, and the width of the weights by which that is done: they lose 5 %
where nothing is wrong.
"""
UNEQUAL, MAX_RATIO = 3.0, 5.0
"""Bands whose noise differs by less count the same; none counts as if it differed more from the usual."""
FAR, UNLIKE, QUARTILE, FEW, DEAD = 5.0, 1.3, 0.6745, 0.005, 2.0
"""An entry is wrong if it is this many standard deviations of its row's noise (the median deviation over that
of a normal distribution) and this factor from what is predicted. Fewer than this share of them do no harm.
An entry that is exactly 0 may be dead: for it, fewer standard deviations are enough.
"""
CLEAR = 10.0  # Times the noise: a pixel that is dimmer has no clear direction
RIDGE = 1e-9  # Avoids division by zero where nothing is determined


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
    problem = make_problem(V, observed, K=K, method="nmf", lam=None, missing="ignore", dtype=dtype)
    scene = _scene(problem, seed)
    corners = scene.places[:, scene.pixels[_corners(scene.places[:, scene.pixels], K)]]
    W = np.maximum(scene.subspace.basis @ corners, 0)
    H = np.maximum(_shares(corners, scene.places), MIN_ABUNDANCE)
    kind = problem.V.dtype
    return (W * problem.scale).astype(kind), H.astype(kind)


def pure_pixel_candidates(problem: Problem, seed: int = 0) -> tuple[list[Array], Mask | None, Wide | None]:
    """Spectra of K extreme pixels (F x K, in the problem's scale) by three measures of what is extreme,
    which entries are sound, and how much each band should count (F x 1), by its noise; None if nearly all
    entries are, and if bands are about equally noisy.

    The furthest from the affine hull of the others, as in `pure_pixel_start`, are right where the shares of
    every pixel sum to one. Where brightness varies, a bright and a dim pixel of one material would be two:
    then the furthest from their linear span are better (as in ATGP, Ren and Chang, IEEE Trans. Aerosp.
    Electron. Syst. 39(4), 2003) or, once all are equally bright, from the affine hull (as in VCA, Nascimento
    and Dias, IEEE Trans. Geosci. Remote Sens. 43(4), 2005), but for pixels hardly brighter than the noise.
    """
    scene = _scene(problem, seed)
    places = scene.places[:, scene.pixels]
    middle = places.mean(axis=1)
    size = float(middle @ middle)
    level = middle @ places / size
    bright = level * np.sqrt(size) > CLEAR * np.sqrt(problem.K * scene.subspace.noise)
    equal = np.where(bright, places / np.where(bright, level, 1.0), middle[:, None])
    picks = (_corners(places, problem.K), _corners(places, problem.K, cone=True), _corners(equal, problem.K))
    candidates = [np.maximum(scene.subspace.basis @ places[:, pick], 0) for pick in picks]
    return candidates, scene.sound, _by_noise(problem, scene)


def _by_noise(problem: Problem, scene: _Scene) -> Wide | None:
    which = scene.pixels[:: max(1, scene.pixels.size // SAMPLE)]
    weights = problem.entry_weights() if scene.sound is None else scene.sound
    seen = np.ones((len(problem.V), which.size), dtype=bool) if weights is None else weights[:, which] > 0
    scale = _away(scene.subspace, problem.V[:, which], seen, seen.astype(np.float64))[2]
    low, usual, high = np.nanquantile(scale, (0.1, 0.5, 0.9))
    if not high > UNEQUAL * low:
        return None
    weight: Wide = np.clip(np.nan_to_num(usual / scale, nan=1.0), 1 / MAX_RATIO, MAX_RATIO) ** 2
    return weight


@dataclass(frozen=True, eq=False)
class _Scene:
    """A scene's subspace, places in it, pixels with observed entries, sound entries (None: nearly all)."""

    subspace: _Subspace
    places: Wide
    pixels: Indices
    sound: Mask | None


def _scene(problem: Problem, seed: int) -> _Scene:
    rng, K = np.random.default_rng(check_seed(seed)), problem.K
    if not problem.V.any():
        raise InputError("V: every observed entry is 0, so no pixel shows a material; leave init out.")
    weights = problem.entry_weights()
    seen = np.ones(problem.V.shape, dtype=bool) if weights is None else weights > 0
    pixels = np.flatnonzero(seen.any(axis=0))
    if pixels.size < K:
        raise InputError(f"K={K}: only {pixels.size} pixels have an observed entry, too few for {K} corners.")
    enough = sample_size(K)
    sample = pixels if pixels.size <= enough else np.sort(rng.choice(pixels, enough, replace=False))
    V, known = (problem.V * seen)[:, sample].astype(np.float64), seen[:, sample]
    subspace = _subspace(V, known, K)
    robust = subspace
    for _ in range(LOOKS):
        trust = _trust(robust, V, known)
        for _ in range(PURE_PIXEL_ROUNDS // LOOKS):
            robust = _more_likely(robust, V, trust)
    if _wrong(robust, V, known, trust).sum() <= FEW * known.sum():
        return _Scene(subspace, subspace.places(problem.V, seen)[0], pixels, None)
    trust = _trust(robust, problem.V, seen)
    wrong = _wrong(robust, problem.V, seen, trust)
    # A pixel most of which is wrong is no mixture of the others, or was not understood.
    odd = wrong.sum(axis=0) > seen.sum(axis=0) / 2
    sound = seen & ~(wrong & ~odd)
    return _Scene(robust, robust.places(problem.V, sound)[0], pixels[~odd[pixels]], sound)


def _trust(subspace: _Subspace, V: Array, seen: Mask) -> Wide:
    """Weights of a Cauchy distribution: entries that disagree with the rest of their pixel hardly count."""
    trust: Wide = seen.astype(np.float64)
    for _ in range(LOOKS):
        away, scale = _away(subspace, V, seen, trust)[1:]
        trust = seen / (1 + (away / (CAUCHY * scale)) ** 2)
    return trust


def _away(subspace: _Subspace, V: Array, seen: Mask, trust: Wide) -> tuple[Wide, Wide, Wide]:
    """The prediction, how far from it entries are, and each row's standard deviation by the median."""
    P = subspace.basis @ subspace.places(V, trust)[0]
    away = np.abs(V - P)
    lost = ~seen.any(axis=1, keepdims=True)
    scale = np.nanmedian(np.where(seen | lost, away, np.nan), axis=1, keepdims=True) / QUARTILE
    return P, away, np.maximum(scale, RIDGE)


def _wrong(subspace: _Subspace, V: Array, seen: Mask, trust: Wide) -> Mask:
    P, away, scale = _away(subspace, V, seen, trust)
    far = (away > FAR * scale) | ((V == 0) & (away > DEAD * scale))
    wrong: Mask = seen & far & ((P > UNLIKE * V) | (V > UNLIKE * P))
    return wrong


def sample_size(K: int) -> int:
    return min(SAMPLE, max(SAMPLE_PER_PART * K, SAMPLE_WORK // K**2))


@dataclass(frozen=True, eq=False)
class _Subspace:
    """Gaussian noise around `basis` (F x K) times Gaussian places with `mean` (K) and `covariance`."""

    basis: Wide
    mean: Wide
    covariance: Wide
    noise: float

    def places(self, V: Array, seen: Mask | Wide) -> tuple[Wide, Wide]:
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
            right = (self.basis.T @ (V[:, piece] * seen[:, piece])).T + precision @ self.mean
            found[:, piece] = (inverse @ right[..., None])[..., 0].T
            left[:, piece] = self.noise * inverse[:, i, j].T
        return found, left


def _subspace(V: Wide, seen: Mask, K: int) -> _Subspace:
    """The most likely subspace, by expectation maximisation; it does not fit sparse pixels' noise."""
    together = np.maximum(seen.astype(np.float64) @ seen.T, 1)
    values, vectors = np.linalg.eigh(V @ V.T / together)
    basis: Wide = vectors[:, ::-1][:, :K]
    noise = float(np.abs(values[: max(1, len(values) - K)]).mean())
    found = _Subspace(basis, np.zeros(K), np.diag(np.maximum(values[::-1][:K], noise)), noise)
    for _ in range(PURE_PIXEL_ROUNDS):
        found = _more_likely(found, V, seen)
    return found


def _more_likely(subspace: _Subspace, V: Wide, seen: Mask | Wide) -> _Subspace:
    places, left = subspace.places(V, seen)
    K = len(places)
    i, j = np.triu_indices(K)
    moments = places[i] * places[j] + left
    gram = np.empty((len(V), K, K))
    gram[:, i, j] = gram[:, j, i] = (moments @ seen.T).T
    gram += RIDGE * np.trace(gram, axis1=1, axis2=2).max() * np.eye(K)
    right = (V * seen) @ places.T
    basis = np.asarray(np.linalg.solve(gram, right[..., None])[..., 0], dtype=np.float64)
    explained = np.einsum("fk,fk->", basis, right)
    noise = max((float(np.vdot(V, V * seen)) - explained) / float(seen.sum()), RIDGE)
    mean = places.mean(axis=1)
    covariance = np.empty((K, K))
    covariance[i, j] = covariance[j, i] = moments.mean(axis=1) - mean[i] * mean[j]
    return _Subspace(basis, mean, covariance, noise)


def _corners(places: Wide, K: int, cone: bool = False) -> Indices:
    """K columns that span a large simplex or, with the origin, a wide cone."""
    origin = np.zeros((len(places), 1 if cone else 0))

    def furthest(others: list[int]) -> int:
        return int(np.argmax(_distances(places, np.hstack([origin, places[:, others]]))))

    begin = origin if cone else places.mean(axis=1, keepdims=True)
    corners = [int(np.argmax(_distances(places, begin)))]
    while len(corners) < K:
        corners.append(furthest(corners))
    for _ in range(EXCHANGES if 1 < K < EXCHANGES_BELOW_K else 0):
        before = tuple(corners)
        for k in range(K):
            corners[k] = furthest(corners[:k] + corners[k + 1 :])
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


ROWS = 16  # W H is computed about this many rows at a time, so that it is never in memory as a whole


def half_normal(problem: Problem, rng: np.random.RandomState) -> Factors:
    """|N(0, 1)| entries, W before H; the legacy generator replays the authors' runs."""
    F, N = problem.V.shape
    W = np.abs(rng.standard_normal((F, problem.K)))
    H = np.abs(rng.standard_normal((problem.K, N)))
    return W.astype(problem.V.dtype), H.astype(problem.V.dtype)


def given_start(problem: Problem, init: tuple[npt.ArrayLike, npt.ArrayLike]) -> Factors:
    """Copies of the given W and H, in the problem's scale."""
    if not isinstance(init, tuple | list) or len(init) != 2:
        raise InputError("init: a pair (W, H) of start factors is needed.")
    F, N = problem.V.shape
    dtype = problem.V.dtype
    checked = []
    for name, factor, shape in (("W", init[0], (F, problem.K)), ("H", init[1], (problem.K, N))):
        start = np.asarray(factor)
        if start.shape != shape:
            raise InputError(f"init: {name} has shape {start.shape}, the problem needs {shape}.")
        if start.dtype.kind not in "fiub":
            raise InputError(f"init: {name} has entries of type {start.dtype}: real numbers are needed.")
        with np.errstate(over="ignore"):
            start = (start / (problem.scale if name == "W" else 1.0)).astype(dtype)
        if not np.isfinite(start).all() or (start < 0).any():
            raise InputError(f"init: {name} must hold finite numbers of at least 0 that {dtype} can hold.")
        checked.append(start)
    return checked[0], checked[1]


def rescaled(problem: Problem, W: Array, H: Array) -> Factors:
    """W and H, each times one number, so that W H has the scale that fits V best where the loss looks."""
    overlap = size = 0.0
    for rows in np.array_split(np.arange(len(W)), max(1, len(W) // ROWS)):
        product = W[rows] @ H
        counted = product if problem.mask is None else product * problem.mask[rows]
        if problem.weights is not None:
            counted = counted * problem.weights[rows]
        overlap += float(np.vdot(problem.V[rows], counted))
        size += float(np.vdot(product, counted))
    factor = overlap / size if size > 0 else 1.0
    root = W.dtype.type(np.sqrt(factor)) if factor > 0 else W.dtype.type(1)
    return W * root, H * root
