"""The front door: one call for every method, treatment of hidden entries and solver."""

from __future__ import annotations

import time
from typing import Literal

import numpy as np
import numpy.typing as npt

from .initialisation import given_start, half_normal
from .problem import (
    Factors,
    InputError,
    Method,
    Missing,
    Solver,
    check_count,
    check_one_of,
    check_seed,
    check_tolerance,
    pose,
)
from .pure_pixels import pure_pixel_start
from .result import Fit, FitCallback
from .solvers import Recorder, Solution, SolverFunction, StoppingRules, anmf, fast, paper

SOLVER_VERSIONS = {"fast": "6", "paper": "6"}
"""A solver's version changes whenever its numbers do, so that older stored results are not mistaken for new
ones.
"""

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
        `pure_pixels`.
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
    problem = pose(
        V,
        observed,
        K=K,
        method=method,
        lam=lam,
        missing=missing,
        dtype=dtype,
        Z=Z,
        mu=mu,
        gamma=gamma,
        leash=leash,
    )
    solve = anmf.solve if method == "anmf" else SOLVERS[solver]
    if isinstance(init, str):
        check_one_of("init", init, ("random", "pure-pixels"))
        init = None if init == "random" else init
    if init is not None and starts > 1:
        raise InputError(f"n_init={n_init}: given start factors allow one start only.")

    def start() -> Factors:
        if init is None:
            return half_normal(problem, rng)
        if isinstance(init, str):
            return given_start(problem, pure_pixel_start(V, observed, K=K, seed=seed, dtype=dtype))
        return given_start(problem, init)

    best: Solution | None = None
    best_history: dict[str, npt.NDArray[np.float64]] = {}
    for number in range(starts):
        recorder = Recorder(problem, callback, began, done=number / starts, share=1 / starts)
        outcome = solve(problem, *start(), limits, recorder)
        history = recorder.history()
        if best is None or _loss(history) < _loss(best_history):
            best, best_history = outcome, history
        if recorder.stopped:
            break
    assert best is not None
    return Fit(
        W=best.W * problem.scale,
        H=best.H,
        history=best_history,
        converged=best.converged,
        n_iter=best.n_iter,
        seconds=time.perf_counter() - began,
        method=method,
        lam=None if lam is None else float(lam),
        missing=missing,
        solver=solver,
        seed=int(seed),
        V=np.asarray(V),
        observed=problem.observed,
        leash=problem.leash,
    )


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


def _loss(history: dict[str, npt.NDArray[np.float64]]) -> float:
    """The final loss of a run; infinite where it is NaN, so that any other run is better."""
    return float(np.nan_to_num(history["adversarial_loss"][-1], nan=np.inf))
