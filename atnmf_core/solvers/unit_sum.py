r"""Materials of a scene: abundances that are nonnegative and sum to one, spectra that span a small volume.

With the loss of `factorize`, an adversary's or the squared error, over the entries that count, this minimises

.. math:: \text{loss}(V, W H) + c\,\omega \sum_n (1 - \sum_k h_{kn})^2 + c\,\mu \log\det(W^T W)

over W, H >= 0, where c is the curvature of the loss. Without the last term any larger simplex around the
pixels would do as well; it asks for the smallest one that the noise allows (Fu, Huang, Yang, Ma and
Sidiropoulos, IEEE Trans. Signal Process. 64(23), 2016; Leplat, Ang, Gillis, ICASSP 2019).

Both weights follow from the data. If pixels fill the simplex evenly, their likelihood falls with its volume
to the power N, while a facet moved into the cloud costs the squares of what it cuts off: it stays where it is
at mu = N s^2 / 4 for noise of variance s^2, because at the true facet the noise sticks out by s^2/4 times the
density of pixels, in the mean. omega is s^2 over the variance of the sums: brightness may vary from pixel to
pixel, and by how much is estimated along with H. Where it does not vary, or by so much that dim pixels cannot
be told from those with a dark material in them, the sums are exactly one.

The adversary trains W. The abundances that are returned are without its attack, which would bias them where
the data is no brighter than its noise: what it has given up on, beyond noise, is left out instead.
"""

from dataclasses import dataclass

import numpy as np

from ..model.adversary import curvature, descent_target, entry_loss
from ..model.initialisation import QUARTILE, sample_size
from ..model.problem import Array, Indices, Problem, Wide
from ..model.result import Recorder, Solution, StoppingRules
from .steps import descend, descend_each, gram_matrices, nonnegative_minimum

STAYS = 0.25  # mu in units of N s^2: see above
FIRST_SPREAD, MAX_SPREAD = 0.1, 0.25
"""Of the sums. At the most, dark materials explain as much as brightness, and sums are held to one."""
WEIGHT, CORRECTIONS, ENOUGH = 100.0, 50, 1e-10
"""Of the deviation from a sum of one, in units of the mean square of a spectrum's observed values; how often
the demand is corrected, and the deviation at which that ends.
"""
DESCENT_ROUNDS, MAX_REACH, GROWTH, MAX_SWEEPS, LOOKS, ATTACKS = 10, 0.6, 0.2, 150, 5, 4
"""Rounds of coordinate descent on W per sweep; how far to extrapolate, and how fast that grows; sweeps;
rounds of estimating how sums vary at the start, and of leaving out what the adversary gave up on at the end.
"""
BEYOND_NOISE = 8.0
"""Standard deviations: spectra that vary and light that scatters are further off than noise."""
STRANGE = 10.0
"""If sums of exactly one cost this many times the noise, which alone costs once, pure pixels stay."""
STEADY = 1e-3
"""The fit ends when a sweep changes W by less: what is left to gain lies where pixels tell little."""
RIDGE = 1e-6  # Of the mean square of the spectra: the volume of equal spectra stays above zero
BLOCK = 4_000_000  # Numbers that the Gram matrices of one block of pixels may take
FREEDOM = 1.4
MIN_PIXELS = 5  # A material is most abundant in a thousandth of the pixels, but at least in this many


def summing_to_one(grams: Array, right: Wide, near: Wide) -> Wide:
    """The minimisers of x'Gx/2 - b'x over x >= 0 with sum 1: G is n x K x K; b, x and a guess are n x K.

    By the method of multipliers: the sum is one more, weighted, band (as in Heinz and Chang, IEEE Trans.
    Geosci. Remote Sens. 39(3), 2001), whose demanded value is corrected until the sum is one.
    """
    n, K = right.shape
    weight = WEIGHT * np.einsum("nkk->n", grams)[:, None] / K
    weight[weight == 0] = 1.0
    heavy = grams + weight[:, :, None]
    x, asked = near, np.ones((n, 1))
    for _ in range(CORRECTIONS):
        x = np.asarray(nonnegative_minimum(heavy, right + weight * asked, x), dtype=np.float64)
        lacking = 1 - x.sum(axis=1, keepdims=True)
        if np.abs(lacking).max(initial=0.0) < ENOUGH:
            break
        asked += lacking
    shares: Wide = x / x.sum(axis=1, keepdims=True)
    return shares


def with_unit_sums(W: Array, H: Array) -> tuple[Wide, Wide]:
    """The same product, scaled so that the abundances of a pixel sum to one as nearly as one number per
    material allows: then maps of different materials and methods can be compared.

    With shade, or a material that is nearly black, that alone would leave scales undetermined. So a
    material's highest abundance stays within a factor of `FREEDOM` of one.
    """
    from scipy.optimize import lsq_linear

    wide = H.astype(np.float64)
    count = min(wide.shape[1], max(MIN_PIXELS, wide.shape[1] // 1000))
    most = np.median(np.partition(wide, -count, axis=1)[:, -count:], axis=1)
    whole = np.where(most > 0, 1 / np.where(most > 0, most, 1.0), 1.0)
    level = wide * whole[:, None]
    # The normal equations through a square root: K x K instead of N x K.
    values, vectors = np.linalg.eigh(level @ level.T)
    root = np.sqrt(np.maximum(values, values.max(initial=0.0) * 1e-9 + 1e-300))
    right = vectors.T @ level.sum(axis=1) / root
    scale = whole * lsq_linear((vectors * root).T, right, bounds=(1 / FREEDOM, FREEDOM)).x
    return W.astype(np.float64) / scale, wide * scale[:, None]


@dataclass
class _Sums:
    """How far sums of abundances may be from one: `spread` is their standard deviation, 0 for not at all."""

    spread: float
    noise: float = 0.0

    def minimum(self, grams: Wide, right: Wide, near: Wide) -> Wide:
        if self.spread == 0:
            return summing_to_one(grams, right, near)
        weight = self.noise / self.spread**2
        return np.asarray(nonnegative_minimum(grams + weight, right + weight, near))

    def follow(self, H: Wide, W: Wide) -> None:
        """Estimate the spread from H, n x K; it is 0 from where it makes no difference any more."""
        if self.spread:
            self.spread = min(MAX_SPREAD, float(np.sqrt(np.mean((H.sum(axis=1) - 1) ** 2))))
            if self.noise >= WEIGHT * float(np.mean((W**2).sum(axis=0))) * self.spread**2:
                self.spread = 0.0


class _Pixels:
    """Some columns of the problem, and the quadratics that stand for their loss."""

    def __init__(self, problem: Problem, which: Indices) -> None:
        weights = problem.entry_weights()
        self.V = problem.V[:, which].astype(np.float64)
        self.weights = None if weights is None else weights[:, which].astype(np.float64)
        self.D = self.weights
        self.problem = problem
        self.count = self.V.size if self.D is None else int(np.count_nonzero(self.D))
        self.observed = None if problem.observed is None else problem.observed[:, which]

    def losses(self, W: Wide, H: Wide) -> tuple[float, float]:
        P, D = W @ H.T, 1.0 if self.D is None else self.D
        errors = D * (self.V - P) ** 2
        loss = float((D * entry_loss(self.V, P, self.problem.lam, self.problem.leash)).sum())
        return float(errors.sum(where=True if self.observed is None else self.observed)), loss

    def target(self, W: Wide, H: Wide) -> Wide:
        """The data that the surrogate of the loss at W H fits."""
        if not self.problem.adversarial:
            return self.V
        return np.asarray(descent_target(self.V, W @ H.T, self.problem.lam, leash=self.problem.leash))

    def leave_out(self, W: Wide, H: Wide) -> None:
        """Count no entry on which the adversary has given up, unless noise explains how far it is off."""
        off = np.abs(self.V - W @ H.T)
        noise = np.median(off if self.weights is None else off[self.weights > 0]) / QUARTILE
        gone = (self.target(W, H) != self.V) & (off > BEYOND_NOISE * noise)
        self.D = np.where(gone, 0, 1.0 if self.weights is None else self.weights)

    def forms(self, W: Wide, T: Wide) -> tuple[Wide, Wide]:
        """Each pixel's squared distance from T as a quadratic form of its h: Gram matrix and right side."""
        if self.D is None:
            K = W.shape[1]
            return np.broadcast_to(W.T @ W, (T.shape[1], K, K)), (W.T @ T).T
        return np.ascontiguousarray(gram_matrices(W, self.D).transpose(2, 0, 1)), (W.T @ (self.D * T)).T

    def error(self, W: Wide, H: Wide, T: Wide) -> float:
        E = T - W @ H.T
        return float(np.vdot(E, E if self.D is None else self.D * E))

    def noise(self, W: Wide, H: Wide, T: Wide, exact: bool) -> tuple[float, float]:
        """The noise's variance: by distances from W's span, and by H's constraints' cost per dimension."""
        (n, K), (grams, right) = H.shape, self.forms(W, T)
        ridge = RIDGE * np.einsum("nkk->n", grams) / K
        ridge[ridge == 0] = 1.0
        away = H - np.linalg.solve(grams + ridge[:, None, None] * np.eye(K), right[..., None])[..., 0]
        cost = float(np.einsum("nk,nkj,nj->", away, grams, away, optimize=True))
        taken = int((H <= 0).sum()) + (n if exact else 0)
        off = max(self.error(W, H, T) - cost, 0.0) / max(1, self.count - n * K)
        return max(off, TINY), cost / max(1, taken)


TINY = 1e-14  # Of V, whose largest entry is about one: rounding


def _volume(W: Wide, exact: bool) -> tuple[float, Wide]:
    """log det of W'W, and its derivative by that; for sums of exactly one, of the simplex's edges."""
    K = W.shape[1]
    frame = np.linalg.qr(np.ones((K, 1)), mode="complete")[0][:, 1:] if exact else np.eye(K)
    gram = frame.T @ (W.T @ W) @ frame
    if not gram.size:
        return 0.0, np.zeros((K, K))
    gram += RIDGE * np.trace(gram) / len(gram) * np.eye(len(gram))
    return float(np.linalg.slogdet(gram)[1]), frame @ np.linalg.inv(gram) @ frame.T


@dataclass
class _Look:
    W: Wide
    H: Wide
    sums: _Sums
    cost: float


def _look(pixels: _Pixels, W: Wide, spread: float, noise: float | None) -> _Look:
    """A candidate for W: how much sums vary with it, and how unlikely it makes the data, up to a constant."""
    n, T, sums = pixels.V.shape[1], pixels.V, _Sums(spread)
    H = np.full((n, W.shape[1]), 1 / W.shape[1])
    sums.noise = noise or TINY
    for _ in range(LOOKS):
        H = sums.minimum(*pixels.forms(W, T), H)
        sums.noise = noise or pixels.noise(W, H, T, spread == 0)[0]
        sums.follow(H, W)
    cost = pixels.error(W, H, T) / sums.noise + STAYS * n * _volume(W, sums.spread == 0)[0]
    if sums.spread:
        cost += float(np.sum((H.sum(axis=1) - 1) ** 2)) / sums.spread**2 + 2 * n * np.log(sums.spread)
    return _Look(W, H, sums, cost)


def _first(pixels: _Pixels, candidates: list[Array]) -> _Look:
    """The likeliest candidate, as given or with rescaled sums; if brightness does not vary, the first."""
    wide = [W.astype(np.float64) for W in candidates]
    for W in wide[: len(candidates)]:
        grams, right = pixels.forms(W, pixels.V)
        wide.append(with_unit_sums(W, nonnegative_minimum(grams, right, np.ones(right.shape)).T)[0])
    noise = _look(pixels, wide[0], FIRST_SPREAD, None).sums.noise
    free = min((_look(pixels, W, FIRST_SPREAD, noise) for W in wide), key=lambda look: look.cost)
    if 0 < free.sums.spread < MAX_SPREAD:
        return free
    return min((_look(pixels, W, 0.0, noise) for W in wide[:: len(candidates)]), key=lambda look: look.cost)


def _step(pixels: _Pixels, W: Wide, H: Wide, T: Wide, Y: Wide) -> Wide:
    """Lower the squared distance from T plus tr(Y W'W), which touches the volume term at W and lies above."""
    B = W.T.copy()
    if pixels.D is None:
        descend(H.T @ H + Y, H.T @ T.T, B, DESCENT_ROUNDS)
    else:
        grams = gram_matrices(H, pixels.D.T) + Y[:, :, None]
        descend_each(grams, H.T @ (pixels.D * T).T, B, DESCENT_ROUNDS)
    return B.T


def solve(
    problem: Problem,
    candidates: list[Array],
    limits: StoppingRules,
    recorder: Recorder,
    rng: np.random.RandomState,
    volume: float | None = None,
) -> Solution:
    """Sweep over sampled pixels until W is steady, then find H; `volume` is c mu, None to choose it."""
    counts = problem.entry_weights()
    known = np.arange(problem.V.shape[1]) if counts is None else np.flatnonzero(counts.any(axis=0))
    most = sample_size(problem.K)
    which = known if known.size <= most else np.sort(rng.choice(known, most, replace=False))
    pixels = _Pixels(problem, which)
    first = _first(pixels, candidates)
    W, H, sums = np.asfortranarray(first.W), first.H, first.sums
    whole = np.full((problem.K, problem.V.shape[1]), 1 / problem.K)
    share, steady, sweep, before = known.size / which.size, False, 0, W

    def record(W: Wide, H: Wide) -> None:
        whole[:, which] = H.T
        error, loss = pixels.losses(W, H)
        recorder.record(error * share, loss * share, W, whole, min(1.0, sweep / MAX_SWEEPS))

    record(W, H)
    noise, cost = pixels.noise(W, H, pixels.target(W, H), sums.spread == 0)
    # No simplex fits this scene: moving W would serve what the model does not know.
    steady = volume is None and sums.spread == 0 and cost > STRANGE * noise
    most, reach, last = min(MAX_SWEEPS, limits.max_inner), 0.0, np.inf
    while not (steady or recorder.stopped or sweep == most):
        sweep += 1
        T = pixels.target(W, H)
        H = sums.minimum(*pixels.forms(W, T), H)
        level = float(H.sum(axis=1).mean())
        W, before, H = W * level, before * level, H / level
        sums.noise, cost = pixels.noise(W, H, T, sums.spread == 0)
        sums.follow(H, W)
        # In a scene that is no simplex the second is larger, and W follows the bulk of the pixels.
        mu = STAYS * len(H) * max(sums.noise, cost)
        if volume is not None:
            mu = volume / share / curvature(problem.lam)
        volumes, form = _volume(W, sums.spread == 0)
        now = pixels.error(W, H, T) + mu * volumes
        reach, last = (0.0 if now > last else reach + GROWTH * (MAX_REACH - reach)), now
        step = _step(pixels, W, H, T, mu * form)
        steady = bool(np.linalg.norm(step - before) <= STEADY * np.linalg.norm(step))
        W, before = np.asfortranarray(np.maximum(step + reach * (step - before), 0)), step
        record(step, H)
    W = before
    for block in np.array_split(known, max(1, -(-known.size * problem.K**2 // BLOCK))):
        part = _Pixels(problem, block)
        near = whole[:, block].T
        near = sums.minimum(*part.forms(W, part.V), near)
        for _ in range(ATTACKS if problem.adversarial else 0):
            part.leave_out(W, near)
            near = sums.minimum(*part.forms(W, part.V), near)
        whole[:, block] = near.T
    return Solution(W.astype(problem.V.dtype), whole, converged=steady, n_iter=sweep)
