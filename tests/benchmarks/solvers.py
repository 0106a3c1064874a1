"""The solvers that are compared, each with the treatments of hidden entries that it offers.

A solver works until `stop(point)` is true and returns all its points. A point is (seconds of the solver's own
work, value of the objective): evaluating the objective is not timed. Stopping rules of the solvers are off.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any, NamedTuple

import numpy as np

from atnmf_core import Progress, factorize

from .objective import THREADS, Array, Objective, now

Start = tuple[Array, Array]
Point = tuple[float, float]
Stop = Callable[[Point], bool]
Run = Callable[[Objective, Start, Stop], list[Point]]
Advance = Callable[[Array, Array, int], Start]

EPS = 2.2e-16
BOTH = ("ignore", "zero")


class Solver(NamedTuple):
    """`name` as it stands in the tables."""

    name: str
    missing: tuple[str, ...]
    run: Run


SOLVERS: dict[str, Solver] = {}


def solver(name: str, *missing: str) -> Callable[[Run], Run]:
    def register(run: Run) -> Run:
        SOLVERS[run.__name__] = Solver(name, missing, run)
        return run

    return register


def in_chunks(objective: Objective, start: Start, stop: Stop, advance: Advance) -> list[Point]:
    """Points of a solver that can go on from given factors: `advance(W, H, iterations)` is what is timed.

    Chunks grow, so that what a solver does once per call weighs little.
    """
    (W, H), seconds, iterations = start, 0.0, 1
    points = [(0.0, objective(W, H))]
    while not stop(points[-1]):
        began = now()
        W, H = advance(W, H, iterations)
        seconds += now() - began
        points.append((seconds, objective(W, H)))
        iterations = min(20, iterations + 1)
    return points


def of_factorize(objective: Objective, start: Start, stop: Stop, **options: Any) -> list[Point]:
    points: list[Point] = []
    began = now()

    def ends(progress: Progress) -> bool:
        points.append((now() - began, progress.loss))
        return stop(points[-1])

    problem = {"K": objective.K, "missing": objective.missing, "init": start}
    factorize(objective.V, objective.observed, callback=ends, **problem, **options)
    return points


@solver("this project, fast", *BOTH)
def this_fast(objective: Objective, start: Start, stop: Stop) -> list[Point]:
    return of_factorize(objective, start, stop, tol_outer=0, max_inner=10**6)


@solver("this project, paper", *BOTH)
def this_paper(objective: Objective, start: Start, stop: Stop) -> list[Point]:
    """Multiplicative updates in single precision."""
    limits = {"tol_inner": 0, "tol_outer": 0, "max_inner": 20, "max_outer": 10**6}
    return of_factorize(objective, start, stop, solver="paper", **limits)


def zero_filled_step(V: Array, W: Array, H: Array) -> Start:
    W = W * (V @ H.T) / (W @ (H @ H.T) + EPS)
    return W, H * (W.T @ V) / ((W.T @ W) @ H + EPS)


def relative_change(before: Array, after: Array) -> float:
    """The paper's stopping norm, which its algorithm evaluates at every step."""
    with np.errstate(invalid="ignore"):
        return float(np.linalg.norm((after - before) / before))


@solver("plain NumPy formulas", *BOTH)
def plain_numpy(objective: Objective, start: Start, stop: Stop) -> list[Point]:
    """The update formulas in double precision: what a reader of the paper would write."""
    V, mask = objective.V, objective.observed.astype(float)

    def masked_step(V: Array, W: Array, H: Array) -> Start:
        W = W * (V @ H.T) / ((mask * (W @ H)) @ H.T + EPS)
        return W, H * (W.T @ V) / (W.T @ (mask * (W @ H)) + EPS)

    step = masked_step if objective.missing == "ignore" else zero_filled_step

    def advance(W: Array, H: Array, iterations: int) -> Start:
        for _ in range(iterations):
            W, H = step(V, W, H)
        return W, H

    return in_chunks(objective, start, stop, advance)


def after_cmfrec(objective: Objective, iterations: int) -> Start:
    """Its factors after so many iterations; it draws its own start."""
    from cmfrec import CMF
    from scipy.sparse import coo_matrix

    rows, columns = np.nonzero(objective.observed)
    values = objective.V[rows, columns].astype(np.float32)
    plain = dict.fromkeys(("center", "user_bias", "item_bias", "use_cg", "precompute_for_predictions"), False)
    model = CMF(
        k=objective.K, niter=iterations, random_state=1, lambda_=0.0, method="als", nonneg=True,
        use_float=True, verbose=False, nthreads=THREADS, **plain,
    )  # fmt: skip
    fitted = model.fit(coo_matrix((values, (rows, columns)), shape=objective.V.shape))
    return fitted.A_, fitted.B_.T


@solver("cmfrec", "ignore")
def cmfrec_als(objective: Objective, start: Start, stop: Stop) -> list[Point]:
    """Nonnegative alternating least squares in C, single precision. It cannot go on: a new run each time."""
    points: list[Point] = []
    for iterations in (1, 2, 5, 10, 20, 50, 100, 200):
        began = now()
        factors = after_cmfrec(objective, iterations)
        points.append((now() - began, objective(*factors)))
        if stop(points[-1]):
            break
    return points


@solver("wNMF", "ignore")
def wnmf(objective: Objective, start: Start, stop: Stop) -> list[Point]:
    """Weighted multiplicative updates in NumPy."""
    from wNMF import wNMF

    def advance(W: Array, H: Array, iterations: int) -> Start:
        # The smallest tolerance above the zero that it refuses.
        model = wNMF(n_components=objective.K, max_iter=iterations, tol=1e-300, verbose=0)
        model.initialize_u_v = lambda *_: (W.copy(), H.copy())
        model.fit(objective.V, objective.observed.astype(float), n_run=1)
        return model.U, model.V

    return in_chunks(objective, start, stop, advance)


@solver("NonnegMFPy", "ignore")
def nonnegmfpy(objective: Objective, start: Start, stop: Stop) -> list[Point]:
    """Weighted multiplicative updates in NumPy."""
    from NonnegMFPy import nmf

    def advance(W: Array, H: Array, iterations: int) -> Start:
        with redirect_stdout(io.StringIO()):
            model = nmf.NMF(objective.V, W=W, H=H, M=objective.observed, n_components=objective.K)
            model.SolveNMF(maxiters=iterations, tol=-np.inf)
        return model.W, model.H

    return in_chunks(objective, start, stop, advance)


@solver("TensorLy", "ignore")
def tensorly_parafac(objective: Objective, start: Start, stop: Stop) -> list[Point]:
    """Nonnegative parafac of a matrix with a mask, multiplicative updates on filled data."""
    from tensorly.cp_tensor import CPTensor
    from tensorly.decomposition import non_negative_parafac

    def advance(W: Array, H: Array, iterations: int) -> Start:
        given = {"init": CPTensor((None, [W, H.T])), "mask": objective.observed.astype(float)}
        weights, (left, right) = non_negative_parafac(
            objective.V, objective.K, n_iter_max=iterations, tol=0, **given
        )
        return left * weights, right.T

    return in_chunks(objective, start, stop, advance)


@solver("scikit-learn", "zero")
def sklearn_nmf(objective: Objective, start: Start, stop: Stop) -> list[Point]:
    """Coordinate descent in Cython; it knows no mask, so hidden entries are zeros."""
    from sklearn.decomposition import non_negative_factorization

    def advance(W: Array, H: Array, iterations: int) -> Start:
        V, W, H = (part.astype(np.float32) for part in (objective.V, W, H))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            W, H, _ = non_negative_factorization(
                V, W=W, H=H, n_components=objective.K, init="custom", max_iter=iterations, tol=0
            )
        return W, H

    return in_chunks(objective, start, stop, advance)
