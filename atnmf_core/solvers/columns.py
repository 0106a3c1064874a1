"""The columns of H for a given W, each solved on its own to convergence.

For a fixed W, the loss of a column is the sum of l(v_f, [W h]_f) over its observed entries: convex in h >= 0,
continuously differentiable, and quadratic between the bends of l. A step finds the exact nonnegative
minimiser of the quadratic that the loss is at the current h, and goes there or, where bends make that too
far, to the lowest point on the way. A step on which no entry crosses a bend is the last; without an
adversary, that is the first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..model.adversary import descent_target, local_curvature
from ..model.problem import Array, Indices, Mask
from .steps import gram_matrices, nonnegative_minimum

BLOCK_BYTES = 1 << 22
"""Columns are solved in blocks whose data, or whose Gram matrices, take about this much memory."""
TOLERANCE = 1e-10
"""A column is done when setting any one coefficient to its best value would move the prediction by less than
this share of the column's norm.
"""
FAINT = 1e-6
"""A part of which less than this share of its norm is observed in a column gets 0 there: the coefficient that
fits those few entries could be out of all proportion elsewhere.
"""
MAX_STEPS = 100  # A handful is usual
LEVEL = 1e-4  # A slope at the end of a step below this share of the slope at its start counts as zero
SHORTER, MAX_TRIALS = (0.1, 0.7), 60
"""A step that is too long is shortened by a factor in this range, at most this many times."""


def solve_columns(
    V: Array,
    weights: Array | Mask | None,
    W: Array,
    lam: float = np.inf,
    leash: float | None = None,
    start: Array | None = None,
) -> tuple[Array, Mask]:
    """H >= 0 (K x N) that minimises the loss of every column of V, and which columns converged.

    The weights (F x N), such as True where an entry is observed, lie between 0 and 1, with a 1 in every
    column; None where all are 1. V (F x N, finite everywhere) and W (F x K) are nonnegative, in double
    precision, and of a size whose squares stay in range. Where the entries that count leave several h equally
    good, one of small norm is returned or, with a `start` (K x N, nonnegative), one close to that.
    """
    (F, K), N = W.shape, V.shape[1]
    norms = np.sqrt((W**2).sum(axis=0))
    W = np.divide(W, norms, out=np.zeros_like(W), where=norms > 0)
    H, converged = np.zeros((K, N)), np.zeros(N, dtype=bool)
    width = max(1, BLOCK_BYTES // (max(F, K * K) * V.itemsize))
    for first in range(0, N, width):
        block = slice(first, first + width)
        D = None if weights is None else np.ascontiguousarray(weights[:, block].T, dtype=V.dtype)
        data = _Columns(np.ascontiguousarray(V[:, block].T), D, lam, leash)
        begin = None if start is None else np.ascontiguousarray((start[:, block] * norms[:, None]).T)
        H.T[block], converged[block] = _solve_block(W, data, begin)
    return np.divide(H, norms[:, None], out=H, where=norms[:, None] > 0), converged


@dataclass(frozen=True)
class _Columns:
    """Columns of V and their loss; here and below they are stored as rows, contiguous in memory."""

    V: Array
    D: Array | None
    lam: float
    leash: float | None

    def __getitem__(self, which: Mask | Indices) -> _Columns:
        return replace(self, V=self.V[which], D=None if self.D is None else self.D[which])

    def slope(self, P: Array) -> Array:
        """Half the derivative of the loss, in units of its largest curvature."""
        slope = P - (self.V if np.isinf(self.lam) else descent_target(self.V, P, self.lam, leash=self.leash))
        if self.D is not None:
            slope *= self.D
        return slope

    def curvature(self, P: Array) -> Array | None:
        """The derivative of the slope; None where it is one everywhere."""
        if np.isinf(self.lam):
            return self.D
        curvature = local_curvature(self.V, P, self.lam, self.leash)
        if self.D is not None:
            curvature *= self.D
        return curvature


def _solve_block(W: Array, data: _Columns, start: Array | None) -> tuple[Array, Mask]:
    N = len(data.V)
    H, converged = np.zeros((N, W.shape[1])), np.zeros(N, dtype=bool)
    visible = np.ones(H.shape, dtype=bool) if data.D is None else data.D @ W**2 > FAINT**2
    if start is None:
        plain = replace(data, lam=np.inf)
        H += _newton_step(W, H, plain.slope(H @ W.T) @ W, plain.D, visible)
    else:
        H += np.where(visible, start, 0)
    left, P = np.arange(N), H @ W.T
    slope = data.slope(P)
    for _ in range(MAX_STEPS):
        gradient, curvature = slope @ W, data.curvature(P)
        moving = ~_at_minimum(W, H[left], gradient, curvature, visible[left], data.V)
        if not moving.all():
            converged[left[~moving]] = True
            left, data = left[moving], data[moving]
            P, slope, gradient = P[moving], slope[moving], gradient[moving]
            curvature = None if curvature is None else curvature[moving]
        if left.size == 0:
            break
        step = _newton_step(W, H[left], gradient, curvature, visible[left])
        change = step @ W.T
        length, slope = _step_length(P, change, slope, data)
        H[left] += length * step
        P += length * change
    return H, converged


def _newton_step(W: Array, H: Array, gradient: Array, curvature: Array | None, visible: Mask) -> Array:
    """The step from H to the nonnegative minimiser of the quadratic with this gradient and curvature at H."""
    K = W.shape[1]
    if curvature is None:
        grams = np.broadcast_to(W.T @ W, (len(H), K, K))
    else:
        grams = np.ascontiguousarray(np.moveaxis(gram_matrices(W, curvature.T), -1, 0))
    right = np.matmul(grams, H[..., None])[..., 0] - gradient
    # At least -H despite rounding, so that H stays nonnegative.
    return np.maximum(nonnegative_minimum(grams, right, H, visible) - H, -H)


def _at_minimum(
    W: Array, H: Array, gradient: Array, curvature: Array | None, visible: Mask, V: Array
) -> Mask:
    """Which columns no change of one coefficient improves: the loss is convex and smooth."""
    squares = W**2
    scale = np.sqrt(squares.sum(axis=0) if curvature is None else curvature @ squares)
    best = np.divide(gradient, scale, out=np.zeros_like(H), where=visible & (scale > 0))
    move = np.abs(np.minimum(best, H * scale)).max(axis=1)
    done: Mask = move <= TOLERANCE * np.sqrt(np.einsum("nf,nf->n", V, V))
    return done


def _step_length(P: Array, change: Array, slope: Array, data: _Columns) -> tuple[Array, Array]:
    """What share of each column's step to take (n x 1), and the slope there: all of it unless the loss rises
    again before the end. Along the step the loss is convex: as long as its slope is negative, it falls.
    """
    length = np.ones((len(P), 1))
    first = np.einsum("nf,nf->n", slope, change)
    ahead = data.slope(P + change)
    last = np.einsum("nf,nf->n", ahead, change)
    rising = np.flatnonzero(last > LEVEL * np.abs(first))
    last = last[rising]
    for _ in range(MAX_TRIALS):
        if rising.size == 0:
            break
        # To the zero of the straight line between the two slopes.
        length[rising, 0] *= np.clip(first[rising] / (first[rising] - last), *SHORTER)
        ahead[rising] = data[rising].slope(P[rising] + length[rising] * change[rising])
        last = np.einsum("nf,nf->n", ahead[rising], change[rising])
        beyond = last > LEVEL * np.abs(first[rising])
        rising, last = rising[beyond], last[beyond]
    return length, ahead
