"""The front door: one call for every method, treatment of hidden entries and solver."""

import math
import time
import warnings
from dataclasses import replace
from numbers import Real
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..model.initialisation import given_start, half_normal, pure_pixel_candidates, pure_pixel_start
from ..model.problem import (
    Array,
    Factors,
    InputError,
    Mask,
    Method,
    Missing,
    Problem,
    Shape,
    Solver,
    Wide,
    check_count,
    check_one_of,
    check_seed,
    check_tolerance,
    make_problem,
    observed_entries,
)
from ..model.result import Fit, FitCallback, Recorder, Solution, SolverFunction, StoppingRules
from . import anmf, fast, paper
from . import unit_sum as unit_sum_solver
from .columns import solve_columns


def transform(
    V: npt.ArrayLike,
    W: npt.ArrayLike,
    observed: npt.ArrayLike | None = None,
    *,
    lam: float | None = None,
    leash: float | None = None,
    missing: Missing = "ignore",
    start: Array | None = None,
    weights: npt.ArrayLike | None = None,
) -> Array:
    """How much of each part of W is in each column of V: H for a fixed W.

    Each column h minimises the loss of `factorize` over h >= 0, given W: the squared error over the column's
    observed entries or, with `lam`, what an attacker leaves of it. That problem is convex; it is solved to
    convergence, in double precision, and no column depends on the others.

    Parameters
    ----------
    V : F x N, nonnegative; any number of columns. NaN is "not observed".
    W : F x K, the parts, nonnegative; usually `fit.W`.
    observed : bool F x N, True where observed; all by default.
    lam, leash, missing : as in the fit; see `factorize`. Without lam there is no adversary.
    start : K x N, nonnegative: an H to begin with, such as that of nearly the same V, which
        saves time. Where several H are equally good, one near it is found.
    weights : how much each entry counts, as in `factorize`.

    Returns
    -------
    H : K x N, nonnegative, in the precision of W; NaN in columns of which nothing is observed. Where the
        observed entries of a column are too few to determine h, the best h of least norm (with parts scaled
        to equal norm); a part of which next to nothing is observed gets 0.

    Examples
    --------
    >>> W = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    >>> transform([[3.0], [np.nan], [2.0]], W)
    array([[3.],
           [1.]])
    """
    parts = _checked_parts(W)
    data, seen = observed_entries(V, observed)
    if len(parts) != len(data):
        raise InputError(f"W has {len(parts)} rows, V has {len(data)}: they must be alike.")
    check_one_of("missing", missing, ("ignore", "zero"))
    begin = None if start is None else _checked_start(start, (parts.shape[1], data.shape[1]))
    unknown = np.zeros(data.shape[1], dtype=bool)
    if seen is not None:
        data = np.where(seen, data, 0)
        seen = None if missing == "zero" else seen
    counted = _checked_column_weights(weights, data, seen) if weights is not None else seen
    if counted is not None:
        unknown = np.logical_not(counted.any(axis=0))
        # Columns in which nothing counts are solved as zeros.
        counted = counted | unknown if counted.dtype == bool else np.where(unknown, 1, counted)
        seen = None if seen is None else seen | unknown
    method = "nmf" if lam is None else "atnmf"
    # Here K may exceed the number of columns: it plays no role in V and its loss.
    problem = make_problem(
        data, seen, K=1, method=method, lam=lam, leash=leash, missing=missing, dtype="float64"
    )
    scale = 2.0 ** np.ceil(np.log2(parts.max(initial=0.0) or 1.0))
    wide = parts.astype(np.float64) / scale
    near = None if begin is None else begin * (scale / problem.scale)
    H, converged = solve_columns(problem.V, counted, wide, problem.lam, problem.leash, near)
    if not converged.all():
        warnings.warn(f"{(~converged).sum()} columns of H did not converge.", RuntimeWarning, stacklevel=2)
    H *= problem.scale / scale
    H[:, unknown] = np.nan
    return H.astype(parts.dtype, copy=False)


def _checked_parts(W: npt.ArrayLike) -> Array:
    parts = np.asarray(W)
    if parts.ndim != 2 or parts.size == 0 or parts.dtype.kind not in "fiub":
        raise InputError(
            f"W has shape {parts.shape} and type {parts.dtype}: a matrix of real numbers, F x K, is needed."
        )
    if not (np.isfinite(parts).all() and parts.min() >= 0):
        raise InputError("W: an entry is negative, infinite or NaN; nonnegative parts are needed.")
    return parts if parts.dtype == np.float32 else parts.astype(np.float64, copy=False)


def _checked_column_weights(weights: npt.ArrayLike, V: Array, seen: Mask | None) -> Array:
    """The weights as shares of the largest of their column: they matter only within a column."""
    problem = make_problem(
        V, None, K=1, method="nmf", lam=None, missing="ignore", dtype="float64", weights=weights
    )
    assert problem.weights is not None
    whole = problem.weights if seen is None else problem.weights * seen
    largest = whole.max(axis=0, keepdims=True)
    return np.asarray(np.divide(whole, largest, out=np.zeros_like(whole), where=largest > 0))


def _checked_start(start: npt.ArrayLike, shape: Shape) -> Array:
    H = np.asarray(start, dtype=np.float64)
    if H.shape != shape:
        raise InputError(f"start has shape {H.shape}: H of W and V has {shape}.")
    if not (np.isfinite(H).all() and H.min(initial=0) >= 0):
        raise InputError("start: an entry is negative, infinite or NaN; a nonnegative H is needed.")
    return H


SOLVER_VERSIONS = {"fast": "6", "paper": "6"}
"""A version changes with its solver's numbers: older stored results are not mistaken for new ones."""

SOLVERS: dict[str, SolverFunction] = {"fast": fast.solve, "paper": paper.solve}


def factorize(
    V: npt.ArrayLike,
    observed: npt.ArrayLike | None = None,
    *,
    K: int,
    method: Method = "nmf",
    lam: float | None = None,
    missing: Missing = "ignore",
    solver: Solver = "fast",
    seed: int = 0,
    n_init: int = 1,
    init: tuple[npt.ArrayLike, npt.ArrayLike] | Literal["random", "pure-pixels"] | None = None,
    max_outer: int = 100,
    max_inner: int = 1000,
    tol_inner: float = 1e-2,
    tol_outer: float = 1e-2,
    dtype: npt.DTypeLike = "float32",
    callback: FitCallback | None = None,
    leash: float | None = None,
    weights: npt.ArrayLike | None = None,
    unit_sum: bool = False,
    volume: float | None = None,
    Z: npt.ArrayLike | None = None,
    mu: float | None = None,
    gamma: float | None = None,
) -> Fit:
    r"""Factorize V into nonnegative W (F x K) and H (K x N), with or without an adversary.

    Standard NMF minimises the squared error over the observed entries; AT-NMF minimises what is left of it
    after an attacker has added its best R to V at the price lam:

    .. math:: \min_{W, H \ge 0} \max_{R : V + R \ge 0} \|V + R - WH\|_F^2 - \lambda \|R\|_F^2

    A leash g bounds the attacker from above as well, R <= g V: entries that are far too bright then weigh
    as little as those that are far too dark.

    ANMF, reconstructed from its descriptions (`solvers.anmf`), attacks the dictionary instead: with W~ the
    minimiser of \|Z - W~ H\|_F^2 + \mu \|W~ - W\|_F^2, the rows of H at unit length,

    .. math:: \min_{W, H \ge 0} \gamma \|V - \tilde W H\|_F^2 + (1 - \gamma) \|V - WH\|_F^2

    Parameters
    ----------
    V : F x N, nonnegative. NaN is "not observed".
    observed : bool F x N, True where observed; all by default. Hidden values are never looked at.
    K : number of parts, from 1 to min(F, N).
    method : "nmf", "atnmf" or "anmf".
    lam : the adversary's price, above 1; for "atnmf" only. Near 1 the attacker is strong, at infinity there
        is none.
    missing : "ignore" leaves hidden entries out of the loss; "zero" fits them as zeros, as the paper's
        released code does.
    solver : "fast" descends on the exact adversarial loss and never raises it; "paper" is Algorithm 1 of
        the paper, as released. ANMF has one algorithm, called "fast" too.
    seed : of the start factors, half-normal by default.
    n_init : number of starts; the fit with the lowest loss is returned. All starts are drawn, in order, from
        one random stream.
    init : (W, H) to start from; "random" for the default; or "pure-pixels", for unmixing a cube: see
        `pure_pixel_start`.
    max_outer, max_inner : for "paper", the limits of the paper's two loops; "fast" makes at most max_inner
        sweeps.
    tol_inner, tol_outer : for "paper", the thresholds of the paper's two stopping rules; "fast" stops when
        five sweeps lower the loss by less than the share tol_outer/10 of it or, where hidden entries are
        ignored, tol_outer; 10 tol_outer where fewer than four entries are observed per entry of W and H,
        because more sweeps would overfit.
    dtype : "float32" or "float64", for the computation and the factors.
    callback : called with a `Progress` after every outer iteration or sweep; returning True ends the fit
        there.
    leash : the most that AT-NMF's adversary may add to an entry, as a multiple of it; None, as in the
        paper, for no limit. For solver "fast" only.
    weights : how much each entry counts in the loss, at least 0: F x N or anything that broadcasts to it,
        such as one over the squared noise of each row (F x 1). Only their proportions matter for W and H. For
        "nmf" and "atnmf".
    unit_sum : whether to look for materials: columns of H sum to one, W spans a small volume, `init` is
        "pure-pixels" by default, and entries that those pixels show to be wrong are left out; without
        weights, bands count by their noise where that differs much. A pixel's brightness may vary
        (`Fit.brightness`). See `solvers.unit_sum`; for "nmf" and "atnmf" with "fast".
    volume : with `unit_sum`, the weight of log det(W'W) in the loss, at least 0; by default it follows from
        the data.
    Z : what the attacker would like the predictions to be, for "anmf" only: F x N, or a number, a column
        (F x 1) or a row (1 x N) that stands for one; by default V/2, where hidden entries count
        as 0 or, if they are ignored, as the mean of their row.
    mu : its price of changing the dictionary, from 1e-6 to 1e9, for "anmf" only; 10 by default.
    gamma : the weight of the attacked error, from 0 to 1, for "anmf" only; 0.5 by default, 0 is NMF.

    Returns
    -------
    fit : Fit

    References
    ----------
    T. Cai, V. Y. F. Tan, C. Fevotte, "Adversarially-Trained Nonnegative Matrix Factorization", IEEE Signal
    Processing Letters 28, 2021.
    L. Luo, Y. Zhang, H. Huang, "Adversarial Nonnegative Matrix Factorization", ICML 2020, PMLR 119.

    Examples
    --------
    >>> V = np.outer([1.0, 2.0, 3.0], [1.0, 0.5, 2.0, 1.5])
    >>> observed = np.ones(V.shape, dtype=bool)
    >>> observed[1, 2] = False
    >>> fit = factorize(V, observed, K=1)
    >>> round(float(fit.V_hat[1, 2]), 3)
    4.0
    """
    began = time.perf_counter()
    _check_solver(solver, method, leash)
    limits = StoppingRules(
        max_outer=check_count("max_outer", max_outer),
        max_inner=check_count("max_inner", max_inner),
        tol_inner=check_tolerance("tol_inner", tol_inner),
        tol_outer=check_tolerance("tol_outer", tol_outer),
    )
    starts = check_count("n_init", n_init)
    rng = np.random.RandomState(check_seed(seed))
    problem = make_problem(
        V, observed, K=K, method=method, lam=lam, missing=missing, dtype=dtype, Z=Z, mu=mu,
        gamma=gamma, leash=leash, weights=weights,
    )  # fmt: skip
    weight = _checked_volume(volume, unit_sum, method, solver, problem.loss_unit)
    solve = anmf.solve if method == "anmf" else SOLVERS[solver]
    init = _checked_init("pure-pixels" if unit_sum and init is None else init, starts)

    def run(recorder: Recorder) -> Solution:
        if unit_sum:
            return _find_materials(problem, init, rng, seed, limits, recorder, weight)
        factors = (
            pure_pixel_start(V, observed, K=K, seed=seed, dtype=dtype) if isinstance(init, str) else init
        )
        return solve(problem, *_start(problem, factors, rng), limits, recorder)

    best: Solution | None = None
    best_history: dict[str, Wide] = {}
    for number in range(starts):
        recorder = Recorder(problem, callback, began, done=number / starts, share=1 / starts)
        outcome = run(recorder)
        history = recorder.history()
        if best is None or _loss(history) < _loss(best_history):
            best, best_history = outcome, history
        if recorder.stopped:
            break
    assert best is not None
    brightness = best.H.sum(axis=0) if unit_sum else None
    return Fit(
        W=best.W * problem.scale, H=best.H if brightness is None else best.H / brightness,
        brightness=brightness, history=best_history, converged=best.converged, n_iter=best.n_iter,
        seconds=time.perf_counter() - began, method=method, lam=None if lam is None else float(lam),
        missing=missing, solver=solver, seed=int(seed), V=np.asarray(V), observed=problem.observed,
        leash=problem.leash,
    )  # fmt: skip


def _check_solver(solver: str, method: str, leash: float | None) -> None:
    check_one_of("method", method, ("nmf", "atnmf", "anmf"))
    check_one_of("solver", solver, tuple(SOLVERS))
    if method == "anmf" and solver == "paper":
        raise InputError(
            "solver='paper': the code of ANMF is not public, so there is none to follow; leave solver out."
        )
    if leash is not None and solver == "paper":
        raise InputError(
            f"leash={leash!r}: the attacker of solver 'paper' is the published one, which has no leash;"
            " use solver 'fast' or leave it out."
        )


def _checked_init(init: Any, starts: int) -> Any:
    """None for random starts."""
    if isinstance(init, str):
        check_one_of("init", init, ("random", "pure-pixels"))
        init = None if init == "random" else init
    if init is not None and starts > 1:
        raise InputError(f"n_init={starts}: given start factors allow one start only.")
    return init


def _start(problem: Problem, init: Any, rng: np.random.RandomState) -> Factors:
    return half_normal(problem, rng) if init is None else given_start(problem, init)


def _find_materials(
    problem: Problem,
    init: Any,
    rng: np.random.RandomState,
    seed: int,
    limits: StoppingRules,
    recorder: Recorder,
    volume: float | None,
) -> Solution:
    """The `unit_sum` fit from given spectra or from pure pixels, without what these show to be wrong."""
    if not isinstance(init, str):
        candidates = [_start(problem, init, rng)[0]]
        return unit_sum_solver.solve(problem, candidates, limits, recorder, rng, volume)
    candidates, sound, by_noise = pure_pixel_candidates(problem, seed)
    weights = [one for one in (problem.weights, sound) if one is not None]
    if problem.weights is None and by_noise is not None:
        weights.append(by_noise)
    if weights:
        weight = np.broadcast_to(math.prod(weights), problem.V.shape)
        problem = replace(problem, weights=weight.astype(problem.V.dtype))
    return unit_sum_solver.solve(problem, candidates, limits, recorder, rng, volume)


def _checked_volume(
    volume: float | None, unit_sum: bool, method: str, solver: str, loss_unit: float
) -> float | None:
    """The weight of the volume in the units of the scaled problem."""
    if unit_sum and (method == "anmf" or solver == "paper"):
        raise InputError("unit_sum: for methods 'nmf' and 'atnmf' with solver 'fast' only; leave it out.")
    if volume is None:
        return None
    if not unit_sum:
        raise InputError(f"volume={volume!r}: only abundances with unit_sum have one; leave it out.")
    if not isinstance(volume, Real) or isinstance(volume, bool) or not 0 <= float(volume) < np.inf:
        raise InputError(f"volume={volume!r}: a finite number of at least 0 is needed, or None to choose it.")
    return float(volume) / loss_unit


def _loss(history: dict[str, Wide]) -> float:
    """The final loss of a run; infinite where it is NaN, so that any other run is better."""
    return float(np.nan_to_num(history["adversarial_loss"][-1], nan=np.inf))
