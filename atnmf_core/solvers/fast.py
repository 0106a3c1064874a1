"""The solver that cannot oscillate: monotone descent on the exact adversarial loss.

A sweep takes a least-squares step on each factor against the current surrogate, which lies above the loss
and touches it, so the loss cannot rise; then it extrapolates a little in the direction of the last move. The
extrapolated point is accepted only where its loss is no higher than before the sweep; otherwise the plain
step stands. Descent is guaranteed either way.
"""

from typing import Protocol

import numpy as np

from ..model.adversary import curvature, descent_target, entry_loss, lower_bend
from ..model.initialisation import rescaled
from ..model.problem import Array, Factors, Problem
from ..model.result import Recorder, Solution, StoppingRules
from .steps import Matrix, improve

# What the fast solver fits next: the target and its weights.
#
# Both methods and both treatments of hidden entries are, at a point (W0, H0), majorised by one weighted
# least-squares problem
#
#     ||sqrt(D) * (T - W H)||^2,    T the `descent_target` at W0 H0,   D = 1 where the loss looks, 0
# elsewhere
#
# (T = V without an adversary; hidden entries fitted as zeros are observed zeros, so there D is 1
# everywhere). Where D is not needed as such, hidden entries can instead be filled with W0 H0, which
# majorises once more and leaves equal weights. Where almost everything is hidden, `ObservedSurrogate` holds
# the observed entries alone. `steps` takes the step on such a problem.

BLOCK_BYTES, MIN_ROWS = 1 << 18, 8
"""F x N arrays are processed in blocks of rows of about this size, so that a few of them fit in a core's
cache.
"""


class Surrogate(Protocol):
    """The problem that majorises the loss at the last `refresh`: T times D, and D, None if all one."""

    T: Matrix
    D: Matrix | None

    def refresh(self, W: Array, H: Array) -> tuple[float, float]:
        """Move the target to (W, H); returns the squared error over observed entries, and the loss."""
        ...


class DenseSurrogate:
    """The surrogate with T, and where needed D, as whole arrays."""

    def __init__(self, problem: Problem, *, filled: bool) -> None:
        self._problem = problem
        self._V = problem.V
        self._observed = None if problem.observed is None else problem.observed.astype(problem.V.dtype)
        masked = problem.mask is not None
        self.D: Matrix | None = self._observed if masked and not filled else None
        self._fills = masked and filled
        self._moves = problem.adversarial or self._fills
        self._target: Array = problem.V.copy() if self._moves else problem.V
        self.T: Matrix = self._target
        F, N = problem.V.shape
        tall = min(F, max(MIN_ROWS, BLOCK_BYTES // (N * problem.V.itemsize)))
        self._blocks = [slice(f, min(f + tall, F)) for f in range(0, F, tall)]
        self._product, self._scratch = (np.empty((tall, N), problem.V.dtype) for _ in range(2))

    def refresh(self, W: Array, H: Array) -> tuple[float, float]:
        squared_error = loss = 0.0
        for rows in self._blocks:
            error, value = self._refresh_block(W[rows], H, rows)
            squared_error += error
            loss += value
        return squared_error, loss

    def _refresh_block(self, W: Array, H: Array, rows: slice) -> tuple[float, float]:
        P, E = self._product[: len(W)], self._scratch[: len(W)]
        np.matmul(W, H, out=P)
        np.subtract(P, self._V[rows], out=E)
        hidden_error = 0.0
        if self._observed is not None:
            everywhere = _inner(E, E) if self._problem.missing == "zero" else 0.0
            E *= self._observed[rows]
            hidden_error = max(everywhere - _inner(E, E), 0.0) if everywhere else 0.0
        squared_error = _inner(E, E)
        if self._fills:
            np.subtract(P, E, out=self._target[rows])
        if not self._problem.adversarial:
            return squared_error, squared_error + hidden_error
        return squared_error, self._move_target(P, E, rows) + hidden_error

    def _move_target(self, P: Array, E: Array, rows: slice) -> float:
        """Write T for the prediction P with error E (both overwritten); the observed loss."""
        lam, V, T = self._problem.lam, self._V[rows], self._target[rows]
        excess = descent_target(V, P, lam, out=P, leash=self._problem.leash)
        excess -= V
        if self._problem.mask is not None and self._observed is not None:
            excess *= self._observed[rows]
        if self._fills:
            T += excess
        else:
            np.add(V, excess, out=T)
        if self._problem.missing == "zero" and self._observed is not None:
            excess *= self._observed[rows]
        return _loss(V, E, excess, lam, self._problem.leash)


class ObservedSurrogate:
    """The surrogate of a problem with ignored hidden entries, T and D sparse."""

    def __init__(self, problem: Problem) -> None:
        assert problem.mask is not None
        self._lam, self._leash, self._adversarial = problem.lam, problem.leash, problem.adversarial
        columns, rows = np.nonzero(problem.mask.T)
        self._V = problem.V[rows, columns]
        size = max(1, BLOCK_BYTES // (problem.K * problem.V.itemsize))
        self._rows, self._columns = rows, columns
        self._blocks = [slice(start, start + size) for start in range(0, rows.size, size)]
        starts = np.concatenate(([0], np.cumsum(problem.mask.sum(axis=0))))
        # Not at the top: whatever needs no sparse matrix, such as a page of tables, starts without SciPy.
        from scipy.sparse import csc_array

        self.D: Matrix = csc_array((np.ones_like(self._V), rows, starts), shape=problem.V.shape)
        self.T: Matrix = csc_array((self._V.copy(), rows, starts), shape=problem.V.shape)

    def refresh(self, W: Array, H: Array) -> tuple[float, float]:
        by_row, by_column = np.ascontiguousarray(W), np.ascontiguousarray(H.T)
        squared_error = loss = 0.0
        for block in self._blocks:
            V = self._V[block]
            P = np.einsum("ik,ik->i", by_row[self._rows[block]], by_column[self._columns[block]])
            E = P - V
            error = _inner(E, E)
            squared_error += error
            if self._adversarial:
                target = descent_target(V, P, self._lam, out=P, leash=self._leash)
                self.T.data[block] = target
                error = _loss(V, E, target - V, self._lam, self._leash)
            loss += error
        return squared_error, loss


class WeightedSurrogate:
    """For weights of at most 1; if `filled`, the prediction takes the share 1 - w of each entry."""

    def __init__(self, problem: Problem, *, filled: bool) -> None:
        weights = problem.entry_weights()
        assert weights is not None
        self._problem, self._weights, self._filled = problem, weights, filled
        self.D: Matrix | None = None if filled else weights
        self.T: Matrix = problem.V * weights
        F, N = problem.V.shape
        tall = min(F, max(MIN_ROWS, BLOCK_BYTES // (N * problem.V.itemsize)))
        self._blocks = [slice(f, min(f + tall, F)) for f in range(0, F, tall)]

    def refresh(self, W: Array, H: Array) -> tuple[float, float]:
        problem, squared_error, loss = self._problem, 0.0, 0.0
        for rows in self._blocks:
            V, D, P = problem.V[rows], self._weights[rows], W[rows] @ H
            losses = entry_loss(V, P, problem.lam, problem.leash)
            loss += _inner(losses, D.astype(losses.dtype))
            E = V - P
            observed = D if problem.observed is None else D * problem.observed[rows]
            squared_error += _inner(observed, E * E)
            target = descent_target(V, P, problem.lam, leash=problem.leash) if problem.adversarial else V
            np.multiply(D, target - P if self._filled else target, out=self.T[rows])
            if self._filled:
                self.T[rows] += P
        return squared_error, loss


def _loss(V: Array, E: Array, excess: Array, lam: float, leash: float | None) -> float:
    """The surrogate's value where it touches the loss, without cancellation; E = p - v is overwritten."""
    E -= excess
    near = curvature(lam) * _inner(E, E)
    if leash is None or lower_bend(lam, leash) == 0:
        return near + lam * (_inner(excess, excess) + 2 * _inner(excess, V))
    raised = np.maximum(excess, 0, out=E)
    walls = _inner(raised, V)
    lowered = np.subtract(raised, excess, out=E)
    walls += leash * _inner(lowered, V)
    return near + lam * (_inner(excess, excess) + 2 * walls)


def _inner(A: Array, B: Array) -> float:
    return float(np.vdot(A, B))


WINDOW = 5  # The stopping rule looks at the decrease of the loss over this many sweeps
STOP_BELOW = {"held": 0.1, "determined": 1.0, "open": 10.0}
"""The fit ends when that decrease, relative to the loss, is below this multiple of tol_outer.

Where every entry counts, more sweeps do no harm. Where hidden entries are ignored they overfit the observed
ones, and sooner if these are few.
"""
DETERMINED_FROM = 4
"""With this many observed entries per entry of W and H, there is little danger of overfitting."""
DESCENT_ROUNDS = 3
"""Rounds of coordinate descent per step: more fit faster, fewer predict hidden entries better."""
FILL_FROM_K = 12
"""From this many parts on, filling in hidden entries beats a Gram matrix per column in time and in
prediction.
"""
FILL_BELOW_COUNT = 2
"""With fewer than this times K observed entries per row or column, least squares leaves much undetermined,
and predictions drift far from anything sensible; filling in holds them where they are.
"""
SPARSE_BELOW_DENSITY = 0.05
"""Below this observed share, sums over the observed entries alone beat dense products."""
REACH, REACH_GROWTH, REACH_CUT, MAX_REACH = 0.5, 1.1, 0.5, 0.8
"""Extrapolation: how far at first, how that grows after a success and shrinks after a failure, and its
maximum. At 1 nothing damps what the observed entries leave undetermined: predictions drift while the loss
falls.
"""


def solve(problem: Problem, W: Array, H: Array, limits: StoppingRules, recorder: Recorder) -> Solution:
    surrogate = _surrogate(problem)
    # From factors of the wrong scale the filled surrogate would converge slowly.
    point = min((W, H), rescaled(problem, W, H), key=lambda factors: surrogate.refresh(*factors)[1])
    squared_error, loss = surrogate.refresh(*point)
    losses = [loss]
    recorder.record(squared_error, loss, *point, share=0.0)
    tolerance = stopping_share(problem, limits)
    previous, reach, sweep, converged = point, 0.0, 0, False
    while not (converged or recorder.stopped or sweep == limits.max_inner):
        sweep += 1
        step = _step(surrogate, *point)
        beyond = _beyond(step, previous, reach)
        squared_error, loss = surrogate.refresh(*beyond)
        if reach and not loss <= losses[-1]:
            beyond, reach = step, reach * REACH_CUT
            squared_error, loss = surrogate.refresh(*step)
        else:
            reach = min(MAX_REACH, reach * REACH_GROWTH) or REACH
        point, previous = beyond, step
        losses.append(loss)
        converged = has_converged(losses, tolerance)
        recorder.record(squared_error, loss, *point, share=sweep / limits.max_inner)
    return Solution(*point, converged=converged, n_iter=sweep)


def _surrogate(problem: Problem) -> Surrogate:
    if problem.mask is None and problem.weights is None:
        return DenseSurrogate(problem, filled=False)
    density = _counted(problem) / problem.V.size
    undetermined = density * min(problem.V.shape) < FILL_BELOW_COUNT * problem.K
    if problem.weights is not None:
        # Filling approaches entries of little weight slowly.
        return WeightedSurrogate(problem, filled=undetermined)
    if density < SPARSE_BELOW_DENSITY and not undetermined:
        return ObservedSurrogate(problem)
    return DenseSurrogate(problem, filled=undetermined or problem.K >= FILL_FROM_K)


def _step(surrogate: Surrogate, W: Array, H: Array) -> Factors:
    """One step on each factor, the longer one first, so that the transposed problem takes the same path."""
    # W is stored column by column throughout, so that both factors are read contiguously.
    W, H, T, D = W.copy(order="F"), H.copy(), surrogate.T, surrogate.D

    def on_H() -> None:
        improve(W, H, T, D, DESCENT_ROUNDS)

    def on_W() -> None:
        improve(H.T, W.T, T.T, None if D is None else D.T, DESCENT_ROUNDS)

    for update in (on_H, on_W) if W.shape[0] <= H.shape[1] else (on_W, on_H):
        update()
    return W, H


def _beyond(step: Factors, previous: Factors, reach: float) -> Factors:
    if reach == 0:
        return step
    W, H = (np.maximum(now + reach * (now - before), 0) for now, before in zip(step, previous, strict=True))
    return W, H


def stopping_share(problem: Problem, limits: StoppingRules) -> float:
    """The relative decrease of the loss below which a fit ends."""
    counted, unknowns = _counted(problem), problem.K * sum(problem.V.shape)
    if counted == problem.V.size:
        case = "held"
    else:
        case = "determined" if counted >= DETERMINED_FROM * unknowns else "open"
    return STOP_BELOW[case] * limits.tol_outer


def _counted(problem: Problem) -> int:
    if problem.weights is None:
        return problem.V.size if problem.mask is None else int(problem.mask.sum())
    return int(np.count_nonzero(problem.weights if problem.mask is None else problem.weights * problem.mask))


def has_converged(losses: list[float], tolerance: float) -> bool:
    """Whether the last `WINDOW` sweeps lowered the loss by less than the share `tolerance`."""
    if losses[-1] == 0:
        return True
    if len(losses) <= WINDOW:
        return False
    return losses[-1 - WINDOW] - losses[-1] < tolerance * losses[-1]
