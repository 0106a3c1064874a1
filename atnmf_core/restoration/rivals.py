"""What other methods make of the same damaged data.

Each is a plain function of V (F x N; what is not observed is not looked at), observed (bool F x N) and the
layout of the images, and returns its prediction of all entries, NaN where it has none. `RIVALS` lists them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.ndimage import median_filter

from ..datasets import Dataset
from ..datasets.dataset import Layout
from ..model.problem import Array, Mask, check_one_of
from ..solvers.factorization import factorize
from .choice import Losses

Loss = Literal["L1", "Cauchy", "L2,1"]

SWEEPS = 200
"""Steps of robust NMF."""
EPS = 1e-9
USUAL_K = 8
"""Parts of a factorization for which nobody has chosen any."""
HELD_OUT = 0.1
"""Share of the entries that a method sets its own parameter by."""


def pcp(V: Array, observed: Mask, layout: Layout) -> Array:
    """Principal component pursuit: V is a matrix of low rank plus a sparse one of any size.

    Minimises |L|_* + |S|_1 / sqrt(max(F, N)) with L + S = V at observed entries (Candes, Li, Ma and Wright
    2011) by the inexact augmented Lagrangian with the settings of its authors (Lin, Chen and Ma 2010).
    """
    D = np.where(observed, V, 0).astype(np.float64)
    size = float(np.linalg.norm(D))
    if size == 0:
        return D
    weight = 1 / np.sqrt(max(D.shape))
    spectral = float(np.linalg.norm(_short(D) @ _short(D).T, 2)) ** 0.5
    mu, largest = 1.25 / spectral, 1.25e7 / spectral
    dual = D / max(spectral, float(np.abs(D).max()) / weight)
    L: Array = np.zeros_like(D)
    for _ in range(1000):
        rest = D - L + dual / mu
        S = np.where(observed, np.sign(rest) * np.maximum(np.abs(rest) - weight / mu, 0), rest)
        L = shrink_singular_values(D - S + dual / mu, 1 / mu)
        off = D - L - S
        dual += mu * off
        mu = min(1.5 * mu, largest)
        if np.linalg.norm(off) < 1e-7 * size:
            break
    return L


def soft_impute(V: Array, observed: Mask, layout: Layout) -> Array:
    """The matrix with the least nuclear norm near what is observed (Mazumder, Hastie and Tibshirani 2010).

    The price of the norm falls by half from step to step, each starting where the last ended, for as long as
    a tenth of the entries, held out, is predicted better; then the same with all entries.
    """
    known = np.where(observed, V, 0).astype(np.float64)
    held = observed & (np.random.default_rng(0).random(V.shape) < HELD_OUT)
    if not held.any() or not known.any():
        return known
    best, price = np.inf, 0.0
    for tried, Z in _soft_impute_path(known, observed & ~held):
        error = float(np.square(Z - known)[held].sum())
        if error > best:
            break
        best, price = error, tried
    for tried, Z in _soft_impute_path(known, observed):
        if tried <= price * 1.5:
            return Z
    raise AssertionError("the path ends at the last price")


PRICES = 18
SOFT_STEPS = 100


def _soft_impute_path(V: Array, observed: Mask) -> Iterator[tuple[float, Array]]:
    """Prices from half of the one above which the answer is zero, and the answers."""
    V = np.where(observed, V, 0)
    price = float(np.linalg.norm(_short(V) @ _short(V).T, 2)) ** 0.5
    Z = np.zeros_like(V)
    for _ in range(PRICES):
        price /= 2
        Z = soft_impute_at(V, observed, price, Z)
        yield price, Z


def soft_impute_at(V: Array, observed: Mask, price: float, start: Array) -> Array:
    """min_Z sum over observed of (V - Z)^2 / 2 + price |Z|_*, by filling in and shrinking in turn."""
    Z = start
    for _ in range(SOFT_STEPS):
        last, Z = Z, shrink_singular_values(np.where(observed, V, Z), price)
        if np.square(Z - last).sum() <= 1e-9 * np.square(Z).sum():
            break
    return Z


def median(V: Array, observed: Mask, layout: Layout) -> Array:
    """The median of the observed entries among the 3 x 3 around each pixel, each band or image by itself."""
    images = layout.unfold(np.where(observed, V, np.nan))
    if observed.all():
        return np.asarray(layout.fold(median_filter(images, (1, 3, 3))))
    wide = np.pad(images, ((0, 0), (1, 1), (1, 1)), mode="symmetric")
    around = np.lib.stride_tricks.sliding_window_view(wide, (3, 3), axis=(1, 2)).reshape(*images.shape, 9)
    some = ~np.isnan(around).all(axis=-1)
    medians = np.full(images.shape, np.nan)
    medians[some] = np.nanmedian(around[some], axis=-1)
    return np.asarray(layout.fold(medians))


LADDER = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)


def complete_subspace(V: Array, observed: Mask, layout: Layout) -> Array:
    """The span of the complete columns, to which the others are fitted by least squares.

    Its dimension is the one that predicts a third of the complete columns best, with gaps like those of the
    incomplete ones. NaN where fewer than ten columns are complete.
    """
    complete = observed.all(axis=0)
    if complete.sum() < 10 or complete.all():
        return np.where(observed, V, np.nan)
    V, rng = np.where(observed, V, 0), np.random.default_rng(0)
    whole = rng.permutation(np.flatnonzero(complete))
    trial, learned = np.split(whole, [len(whole) // 3])
    gaps = observed[:, rng.choice(np.flatnonzero(~complete), len(trial))]
    errors = {}
    for K in LADDER:
        if min(len(learned), len(V)) > K:
            guess = _from_span(V[:, learned], K, V[:, trial], gaps)
            errors[K] = float(np.square(guess - V[:, trial])[~gaps].sum())
    return _from_span(V[:, whole], min(errors, key=lambda K: errors[K]), V, observed)


def _from_span(complete: Array, K: int, V: Array, observed: Mask) -> Array:
    """V predicted from the mean and the K main directions of the complete columns."""
    mean = complete.mean(axis=1, keepdims=True)
    basis = np.linalg.eigh((complete - mean) @ (complete - mean).T)[1][:, -K:]
    return np.asarray(mean + basis @ fit_to_basis(basis, V - mean, observed))


def fit_to_basis(basis: Array, V: Array, observed: Mask) -> Array:
    """K x N, least squares of each column over its observed entries; the shortest where several fit."""
    K, seen = basis.shape[1], observed.astype(np.float64)
    pairs = (basis[:, :, None] * basis[:, None, :]).reshape(len(basis), -1)
    gram = (seen.T @ pairs).reshape(-1, K, K) + 1e-9 * np.eye(K)
    return np.asarray(np.linalg.solve(gram, ((seen * V).T @ basis)[..., None])[..., 0].T)


def inpaint(V: Array, observed: Mask, layout: Layout) -> Array:
    """V with what is not observed filled in by biharmonic inpainting, each band or image by itself.

    A band or image of which nothing is observed stays NaN.
    """
    # Takes long to import, and few ask for it.
    from skimage.restoration import inpaint_biharmonic

    images, seen = layout.unfold(np.where(observed, V, 0)), layout.unfold(observed)
    filled = np.full(images.shape, np.nan)
    for number, (image, known) in enumerate(zip(images, seen, strict=True)):
        if known.any():
            filled[number] = image if known.all() else inpaint_biharmonic(image, ~known)
    return np.asarray(layout.fold(filled))


def nmf(V: Array, observed: Mask, layout: Layout, *, K: int = USUAL_K, seed: int = 0) -> Array:
    """Nonnegative factorization of what is observed; negative entries count as zero."""
    return factorize(np.maximum(np.where(observed, V, 0), 0), observed, K=K, seed=seed).V_hat


def l1_nmf(V: Array, observed: Mask, layout: Layout, *, K: int = USUAL_K, seed: int = 0) -> Array:
    """Nonnegative factorization with the sum of absolute residuals as its loss; see `robust_nmf`."""
    return np.asarray(np.matmul(*robust_nmf(np.maximum(V, 0), observed, K=K, seed=seed)))


def shrink_singular_values(M: Array, threshold: float) -> Array:
    """M with all singular values smaller by the threshold, and none below zero."""
    short = _short(M)
    squares, U = np.linalg.eigh(short @ short.T)
    values = np.sqrt(np.maximum(squares, 0))
    kept = values > threshold
    shrunk = (U[:, kept] * (1 - threshold / values[kept])) @ (U[:, kept].T @ short)
    return np.asarray(shrunk if short is M else shrunk.T)


def _short(M: Array) -> Array:
    """M, or its transpose where that has fewer rows."""
    return M if M.shape[0] <= M.shape[1] else M.T


def robust_nmf(
    V: Array,
    observed: Mask | None = None,
    *,
    K: int,
    loss: Loss = "L1",
    seed: int = 0,
) -> tuple[Array, Array]:
    """NMF with a loss in which large residuals weigh little: the usual remedy for unknown wrong entries.

    Each loss is majorised by weighted least squares, and each step is a multiplicative update with the
    weights of the current residuals: L1 (Ke and Kanade 2005), Cauchy (Guan et al. 2017) and L2,1 (Kong, Ding
    and Huang 2011). W and H after `SWEEPS` of them on the observed entries, from where standard NMF ends.

    Examples
    --------
    >>> sound = np.outer(np.arange(1.0, 21), np.ones(30))
    >>> damaged = sound.copy()
    >>> damaged[4, 7] = 0
    >>> W, H = robust_nmf(damaged, K=1)
    >>> bool(abs((W @ H)[4, 7] - sound[4, 7]) < 0.1)
    True
    """
    check_one_of("loss", loss, tuple(LOSSES))
    seen = np.ones(V.shape, dtype=bool) if observed is None else observed
    V = np.where(seen, V, 0).astype(np.float32)
    start = factorize(V, seen, K=K, seed=seed)
    W, H = start.W + np.float32(EPS), start.H + np.float32(EPS)
    for _ in range(SWEEPS):
        weights = LOSSES[loss](V - W @ H, seen).astype(np.float32)
        weights /= weights.max()
        target = weights * V
        W *= (target @ H.T) / ((weights * (W @ H)) @ H.T + EPS)
        H *= (W.T @ target) / (W.T @ (weights * (W @ H)) + EPS)
    return W, H


def _l1(E: Array, seen: Mask) -> Array:
    size = np.abs(E)
    return np.asarray(seen / np.maximum(size, 0.1 * np.median(size[seen]) + EPS))


def _cauchy(E: Array, seen: Mask) -> Array:
    scale = 1.4826 * np.median(np.abs(E[seen])) + EPS
    return np.asarray(seen / (1 + (E / scale) ** 2))


def _l21(E: Array, seen: Mask) -> Array:
    return np.asarray(seen / (np.sqrt((seen * E**2).sum(axis=0)) + EPS))


LOSSES: dict[Loss, Callable[[Array, Mask], Array]] = {"L1": _l1, "Cauchy": _cauchy, "L2,1": _l21}
"""The weights of the entries, from their residuals."""


@dataclass(frozen=True)
class Rival:
    """A method to compare with.

    Attributes
    ----------
    losses : those that it is meant for.
    run : (V, observed, layout) -> V_hat.
    source : whose method it is, and whose program.
    has_K : whether `run` takes a number of parts, K, and a seed.
    needs_images : whether it says nothing of a plain matrix.
    """

    losses: tuple[Losses, ...]
    run: Callable[..., Array]
    source: str
    has_K: bool = False
    needs_images: bool = False


NMF, L1, INPAINTING = "NMF", "L1-NMF", "Biharmonic inpainting"
RIVALS = {
    "PCP": Rival(("unmarked",), pcp, "Candes et al. 2011; Lin, Chen and Ma 2010; own code"),
    "Soft-impute": Rival(("marked", "unmarked"), soft_impute, "Mazumder et al. 2010; own code"),
    "3 x 3 median": Rival(("unmarked",), median, "SciPy", needs_images=True),
    "Span of complete pixels": Rival(("marked",), complete_subspace, "least squares; own code"),
    INPAINTING: Rival(("marked",), inpaint, "Damelin and Hoang 2018; scikit-image", needs_images=True),
    L1: Rival(("marked", "unmarked"), l1_nmf, "Ke and Kanade 2005; own code", has_K=True),
    NMF: Rival(("marked", "unmarked"), nmf, "this program's solver", has_K=True),
}


@dataclass(frozen=True)
class RivalsProgress:
    """The current method, how many are done, and how many there are."""

    name: str
    done: int
    total: int


@dataclass(frozen=True, eq=False)
class Rivals:
    """What other methods make of the data.

    Attributes
    ----------
    made : F x N, the data as each of them returns it: with marked losses only what is missing differs.
    seconds : that each of them took.
    """

    made: dict[str, Array]
    seconds: dict[str, float]

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.made.values())


def run_rivals(
    report: Callable[[RivalsProgress], None], data: Dataset, losses: Losses, K: int, seed: int = 0
) -> Rivals:
    """Let all methods for these losses restore the data; a task for another process.

    Parameters
    ----------
    data : the damaged data, NaN where missing.
    losses : as in `restore`.
    K, seed : of the factorizations.
    """
    rivals = {
        name: rival
        for name, rival in RIVALS.items()
        if losses in rival.losses and not (rival.needs_images and data.image_shape is None)
    }
    made, seconds = {}, {}
    for number, (name, rival) in enumerate(rivals.items()):
        report(RivalsProgress(name, number, len(rivals)))
        began = time.perf_counter()
        options = {"K": K, "seed": seed} if rival.has_K else {}
        V_hat = rival.run(data.V, data.observed, data.layout, **options)
        seconds[name] = time.perf_counter() - began
        made[name] = np.where(data.observed & (losses == "marked"), data.V, V_hat).astype(np.float32)
    return Rivals(made, seconds)
